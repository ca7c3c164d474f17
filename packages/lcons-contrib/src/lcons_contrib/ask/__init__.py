"""Questions that settle a constraint (`questions`), and the command `lcons ask`."""
