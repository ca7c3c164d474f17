"""Where a run came from: corpus and its hash, seeds, options, versions; no times, no places."""

from __future__ import annotations

import json
from typing import Any

from lcons_tasks.report._figures import View
from lcons_tasks.report._html import Html, element, joined
from lcons_tasks.report._run import Run
from lcons_tasks.report._tables import fact_table

DIGITS = 4


def provenance_view(run: Run) -> Html:
    """Two tables: what was run, and with which versions."""
    results = run.results
    corpus = results.get("corpus")
    facts: list[tuple[str, object]] = [("task", run.task)]
    if isinstance(corpus, dict):
        facts += [(f"corpus {key}", _said(value)) for key, value in corpus.items()]
    options = results.get("options")
    if isinstance(options, dict):
        facts += [(f"option {key}", _said(value)) for key, value in options.items()]
    facts.append((f"{'file' if run.is_file else 'results.json'} sha256", element("code", run.sha256)))
    versions = results.get("versions")
    made = (
        [(str(name), _said(value)) for name, value in versions.items()] if isinstance(versions, dict) else []
    )
    return element(
        "div",
        fact_table("What was run", facts),
        fact_table("Versions", made) if made else None,
        class_="pair",
    )


def corpus_name(run: Run) -> str:
    """The name of a run's corpus, where it has one."""
    corpus = run.results.get("corpus")
    return str(corpus.get("name", "")) if isinstance(corpus, dict) else ""


def headed(run: Run, view: View) -> str:
    """What a run is about, in a line."""
    corpus = corpus_name(run)
    return f"{view.title}, corpus {corpus}" if corpus else view.title


def _said(value: Any) -> Html:
    """A value in words: lists with commas, others as JSON has them; fractions with a few digits."""
    value = _rounded(value)
    if isinstance(value, str):
        return element("code", value) if len(value) == 64 else joined(value)
    if isinstance(value, list) and not any(isinstance(one, list | dict) for one in value):
        return joined(", ".join(str(one) for one in value) or "none")
    if isinstance(value, dict) and not any(isinstance(one, list | dict) for one in value.values()):
        return joined(", ".join(f"{key} {one}" for key, one in value.items()))
    return joined(json.dumps(value, ensure_ascii=False))


def _rounded(value: Any) -> Any:
    """Plain data whose fractions have few digits.

    >>> _rounded({"penalty": 0.012345678, "shares": [0.1 + 0.2, 1e-9], "seed": 123456789})
    {'penalty': 0.01235, 'shares': [0.3, 1e-09], 'seed': 123456789}
    """
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
