"""Differential tests of lcons without end, against an oracle that is written from the definitions alone.

| module | holds |
|---|---|
| `oracle` | the definitions, in rationals and by enumeration; imports nothing of lcons |
| `draws` | cases as plain data, with many ties and boundaries |
| `chains`, `programs`, `graphs`, `forms`, `sets`, `files` | families: what is drawn and compared |
| `families` | all families by name, and how often each is drawn |
| `tally` | comparisons |
| `run` | the turns of hypothesis, and the command `tools/soak` |
"""
