"""Language models under constraints: grammars for their engines, and a logits processor.

| module | holds |
|---|---|
| `_grammar`, `_regex`, `_json_schema` | `write_grammar`: lark, regex, JSON schema |
| `_automaton` | the label sequences that satisfy constraints, as an automaton |
| `_logits_processor`, `_lattice` | `LabelLogitsProcessor` for `model.generate` of `transformers` |
| `command` | `lcons grammar` |
"""

from lcons_contrib.llm._grammar import FORMS, write_grammar
from lcons_contrib.llm._logits_processor import LabelLogitsProcessor

__all__ = ["FORMS", "LabelLogitsProcessor", "write_grammar"]
