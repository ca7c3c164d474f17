"""Write the rules of spaCy's English tokenizer and sentencizer, which lcons-tasks reads without spaCy.

./tools/venv python tools/english.py
"""

import json
from importlib.metadata import distribution
from typing import Any

import spacy
from spacy.pipeline import Sentencizer

from lcons_tasks.data.text._english import RULES


def english_rules() -> dict[str, object]:
    """The content of english.json."""
    nlp = spacy.blank("en")
    tokenizer: Any = nlp.tokenizer
    assert tokenizer.token_match is None
    orth = nlp.vocab.strings["ORTH"]
    cases = {
        case: [token[orth] for token in tokens] for case, tokens in tokenizer.rules.items() if case.strip()
    }
    # What the affixes alone would split; a special case that they leave whole is found as a chunk.
    alone: Any = spacy.blank("en").tokenizer
    alone.rules = {}
    split = {
        case: [token.text for token in alone(case)]
        for case in sorted(cases)
        if tokenizer.find_prefix(case) or tokenizer.find_infix(case) or tokenizer.find_suffix(case)
    }
    files = [file for file in distribution("spacy").files or () if file.name == "LICENSE"]
    return {
        "origin": "the English rules of spaCy (https://spacy.io)",
        "licence": files[0].read_text(),
        "prefix": tokenizer.prefix_search.__self__.pattern,
        "suffix": tokenizer.suffix_search.__self__.pattern,
        "infix": tokenizer.infix_finditer.__self__.pattern,
        "url": tokenizer.url_match.__self__.pattern,
        "cases": dict(sorted(cases.items())),
        "split": split,
        "stops": Sentencizer.default_punct_chars,
    }


if __name__ == "__main__":
    lines = [f'"{name}": {json.dumps(value, ensure_ascii=False)}' for name, value in english_rules().items()]
    RULES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
