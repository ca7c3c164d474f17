"""Edits of one combination that change nothing else (`edits`), and the command `lcons repair`."""
