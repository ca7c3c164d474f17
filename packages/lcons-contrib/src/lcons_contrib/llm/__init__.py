"""Language models under constraints: grammars for their engines, and a logits processor.

| module | holds |
|---|---|
| `grammars`, `_regex`, `_json_schema` | `write_grammar`: lark, regex, JSON schema |
| `_automaton` | the label sequences that satisfy constraints, as an automaton |
| `logits`, `_lattice` | `LabelLogitsProcessor` for `model.generate` of `transformers` |
| `command` | `lcons grammar` |
"""
