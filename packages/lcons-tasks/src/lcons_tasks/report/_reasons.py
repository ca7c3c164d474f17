"""Why sentences changed, as the run found out for some of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lcons_tasks.report._sentences import Reason


def reasons(results: Mapping[str, Any]) -> dict[tuple[str, ...], Reason]:
    """The rule and the sum that changed a sentence, by its words; examples of another form are left out."""
    found: dict[tuple[str, ...], Reason] = {}
    examples = results.get("examples")
    for one in examples if isinstance(examples, list) else ():
        if not isinstance(one, dict):
            continue
        words = one.get("words")
        key = tuple(map(str, words)) if isinstance(words, list) else unbracketed(str(one.get("before", "")))
        found[key] = Reason(str(one.get("rule", "")), str(one.get("why", "")))
    return found


def unbracketed(shown: str) -> tuple[str, ...]:
    """The words of a sentence that is written with its labels in brackets, and relations after it.

    >>> unbracketed("[Person Ann Lee] lives in [Location Oslo] | Ann Lee LiveIn Oslo")
    ('Ann', 'Lee', 'lives', 'in', 'Oslo')
    """
    sentence, _, _ = shown.rpartition(" | ")
    words = re.sub(r"(?:(?<=\s)|^)\[\S+ ", "", sentence).split(" ")
    return tuple(word[:-1] if word.endswith("]") and len(word) > 1 else word for word in words)
