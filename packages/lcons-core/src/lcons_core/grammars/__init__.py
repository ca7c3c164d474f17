"""Constraints as grammars for language models: `write_grammar(constraint, "lark")`.

| module | holds |
|---|---|
| `_grammar` | `write_grammar`, its check, and what constraints it accepts |
| `_automaton` | deterministic automata: explored, made minimal |
| `_label_machines` | n-grams, existence and counts as machines that read labels |
| `_registers` | the same with registers in place of states, for llguidance's parameters |
| `_records` | tuples and records as a diagram of accepted points |
| `_texts` | sets of texts, and the shortest text that two of them disagree on |
| `_lark`, `_ebnf`, `_regex`, `_json_schema` | one form each: its writer, and the reader of what it writes |
"""

from lcons_core._lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
