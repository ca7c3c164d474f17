"""The card of a constraint file: what it reads and forbids, what it was learned from, how sure that is.

A card is a `Document`. Everything in it is read from the file or computed from it by `explain` and `verify`;
where the file has no record of something, a sentence states that.

Not in the paper.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core import (
    Block,
    Explanation,
    Kind,
    LearnedConstraint,
    Verification,
    explain,
    load,
    many,
    verify,
)
from lcons_core.learn import UNSEEN
from lcons_tasks.own_data import Split, recorded_split
from lcons_tasks.report._document import Block as ShownBlock
from lcons_tasks.report._document import Document, Facts, Listing, Section, Table, Text
from lcons_tasks.report._old_run import said_facts
from lcons_tasks.report._rules import bound_note, in_its_data
from lcons_tasks.report._run import digest

# What is named one by one: values of a block, edits and blocks.
NAMED = 24
SHOWN = 20
LONGEST = 300
MANY_ROWS = 2**12
_MARKUP = str.maketrans({"`": "'", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True)
class Card:
    """A constraint file, with its rules in words and the verdict on its forms."""

    path: Path
    sha256: str
    constraint: LearnedConstraint
    explanation: Explanation
    verification: Verification

    @property
    def ok(self) -> bool:
        """Whether all forms are the same set."""
        return self.verification.ok

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        feature = self.constraint.feature
        return {
            "file": self.path.name,
            "sha256": self.sha256,
            "ok": self.ok,
            "feature": None if feature is None else feature.to_dict(),
            "space": [
                {"block": block.name, "kind": str(block.kind), "values": list(block.values)}
                for block in self.constraint.space.blocks
            ],
            "hidden": self.constraint.network.K,
            "explanation": self.explanation.to_dict(),
            "verification": self.verification.to_dict(),
            "provenance": dict(self.constraint.provenance),
        }


def read_card(path: Path, *, rules: int = 20, samples: int = 10_000, seed: int = 0) -> Card:
    """The card of a constraint file; `samples` points are checked if the domain is too large for all."""
    constraint = load(path)
    return Card(
        path,
        digest(path),
        constraint,
        explain(constraint, limit=rules, seed=seed),
        verify(constraint, samples=samples, seed=seed),
    )


def card_document(card: Card) -> Document:
    """The card as a document."""
    sections: dict[str, Iterable[ShownBlock]] = {
        "What it reads": _reads(card.constraint),
        "What it forbids": _forbids(card),
        "Origin": _origin(card),
        "How often it rejects what is valid": [_judged(card.constraint.provenance)],
        "Exactness": [Text(f"`lcons verify`: {_plain(str(card.verification))}.")],
        "Use": [Listing(tuple(_commands(card)))],
        "Limits": [Listing(tuple(_limits(card)))],
    }
    return Document(
        f"Constraint card: {_plain(card.path.name)}",
        "card",
        "",
        _summary(card),
        sections=tuple(Section(title, tuple(blocks)) for title, blocks in sections.items()),
    )


def _summary(card: Card) -> str:
    """What the constraint is and how much it forbids, in two sentences."""
    network, space, found = card.constraint.network, card.constraint.space, card.verification
    blocks = ", ".join(f"`{_plain(block.name)}`" for block in space.blocks[:6])
    more = ", ..." if len(space.blocks) > 6 else ""
    members = len(network.alternatives())
    what = f"a union of {members} networks" if members > 1 else "a network"
    units = f"{network.K} hidden unit{'s' * (network.K > 1)}"
    rows = f"{many(found.total_rows)} linear inequalit{'y' if found.total_rows == 1 else 'ies'}"
    same = f"{rows} of its members" if members > 1 else rows
    forbids = f"Its domain ({space.extent}) is too large to count what it forbids."
    if found.exhausted:
        share = 100 * found.rejected / max(1, found.points)
        forbids = f"It forbids {found.rejected:,} of {found.points:,} combinations ({share:.1f} %)."
    return f"A constraint over {blocks}{more}: {what} with {units}, exactly the set of {same}. {forbids}"


def _reads(constraint: LearnedConstraint) -> Iterator[ShownBlock]:
    feature, blocks = constraint.feature, constraint.space.blocks
    if feature is None:
        yield Text("It reads psi vectors: it has no feature that computes them from structures.")
    else:
        every = "every part of a structure" if constraint.scope == "local" else "a structure as a whole"
        n = f", n = {feature.n}{' with padding' * feature.pad}" if feature.n is not None else ""
        context = feature.context_column
        column = f", with the column `{_plain(context)}`" if context else ""
        yield Text(f"Feature `{_plain(feature.kind)}`{n}{column}: it checks {every}.")
    facts = [
        (f"`{_plain(block.name)}`", f"{_kind(block)} {_listed(block.values)}") for block in blocks[:SHOWN]
    ]
    facts += [("and", f"{len(blocks) - SHOWN:,} more blocks")] if len(blocks) > SHOWN else []
    yield Facts(f"Columns of psi ({constraint.space.d:,})", tuple(facts))


def _kind(block: Block) -> str:
    if block.kind is Kind.ONE_HOT:
        return "one of these, or none of them:" if block.other else "one of"
    return (
        "any of"
        if block.kind is Kind.BINARY
        else f"{block.kind} numbers from {block.low:g} to {block.high:g}:"
    )


def _forbids(card: Card) -> Iterator[ShownBlock]:
    """The rules in words, with the evidence in the file."""
    said = card.explanation
    shown = said.rules[: said.limit]
    if said.types:
        yield Text("For all types X and Y:")
        yield Listing(tuple(_plain(rule.words) for rule in said.types))
        yield Text("Rule by rule:")
    counted = in_its_data(card.constraint, shown)
    if shown and counted is not None:
        rows = [(_plain(rule.words), *own) for rule, own in zip(shown, counted.cells, strict=True)]
        yield Table("Rules, strongest first", ("rule", *counted.head), tuple(rows), f"Here, {counted.where}.")
    elif shown:
        yield Listing(tuple(_plain(rule.words) for rule in shown))
    yield Text(said.summary())


def _origin(card: Card) -> Iterator[ShownBlock]:
    """The file, and what its provenance records."""
    facts = [("file sha256", card.sha256), *_recorded(card.constraint.provenance)]
    yield Facts(
        "From the file",
        tuple((name, textwrap.shorten(_plain(what), LONGEST, placeholder=" ...")) for name, what in facts),
    )
    if len(facts) == 1:
        yield Text("The file has no record of what the constraint was learned from.")
    edits = card.constraint.provenance.get("edits")
    if isinstance(edits, list) and edits:
        yield Text(f"Edited after it was learned ({len(edits):,}):")
        yield Listing(tuple(_edit(one) for one in edits[:SHOWN]))


def _recorded(provenance: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(name, what) of the origin of a constraint; of each constraint that it is composed of."""
    for verb in ("all_of", "any_of"):
        several = provenance.get(verb)
        for number, one in enumerate(several if isinstance(several, list) else (), start=1):
            own = dict(_recorded(one)) if isinstance(one, Mapping) else {}
            of = f"{verb.replace('_', ' ')} {len(several or ())}, number {number}"
            yield of, "; ".join(f"{name} {what}" for name, what in own.items()) or "not recorded"
    words, split = recorded_split(provenance)
    if words:
        yield "learned from", _source(words, split)
    counted = {"training_accuracy": _right(provenance)}
    for member in ("examples", "training_accuracy", "seed", "designed", "note", "versions"):
        for name, what in said_facts(_only(provenance, member)):
            yield name.replace("_", " "), counted.get(name) or what
    recipe = provenance.get("recipe")
    if isinstance(recipe, Mapping):
        chosen = {name: value for name, value in recipe.items() if value not in (None, False, "", [])}
        yield "recipe", ", ".join(f"{name} {what}" for name, what in said_facts(_only(chosen, *_RECIPE)))
    if isinstance(provenance.get("data"), str):
        yield "sha256 of the examples", provenance["data"]


_RECIPE = (
    "feature",
    "n",
    "pad",
    "column",
    "negatives",
    "many",
    "min_support",
    "evidence",
    "hidden",
    "robust",
)


def _right(provenance: Mapping[str, Any]) -> str:
    """How many of the training examples the network judges right, where share and counts agree; else ''.

    >>> _right({"training_accuracy": 0.975, "examples": {"positives": 30, "negatives": 10}})
    '39 of 40 examples'
    """
    share, counts = provenance.get("training_accuracy"), provenance.get("examples")
    if not isinstance(share, float) or not isinstance(counts, Mapping):
        return ""
    numbers = [number for number in counts.values() if isinstance(number, int)]
    total, right = sum(numbers), round(share * sum(numbers))
    agree = len(numbers) == len(counts) and total > 0 and abs(share * total - right) < 1e-6
    return f"{right:,} of {total:,} examples" if agree else ""


def _only(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: data[name] for name in names if name in data}


def _source(words: str, split: Split | None) -> str:
    files = dict.fromkeys(part.file for part in (split.learned_from if split else ()) if part.file)
    return f"{words} of {', '.join(files)}" if files else words


def _edit(edit: Any) -> str:
    for verb in ("allow", "forbid"):
        box = edit.get(verb) if isinstance(edit, Mapping) else None
        if isinstance(box, Mapping) and all(isinstance(values, list) for values in box.values()):
            what = ", ".join(f"{_plain(str(name))} {_listed(values)}" for name, values in box.items())
            return f"{verb} {what}"
    return "an edit that this version cannot read"


def _judged(provenance: Mapping[str, Any]) -> Text:
    bound = provenance.get("bound")
    nobody = isinstance(bound, Mapping) and not bound.get("parts")
    judged = "" if nobody else bound_note(provenance)
    return Text(judged or "Not known: the file has no judgement on held-out data.")


def _commands(card: Card) -> Iterator[str]:
    """Commands that run with the file; `scores.npz` stands for a file of scores."""
    file = shlex.quote(_plain(card.path.name))
    if card.constraint.labels:
        yield f"`lcons decode scores.npz -c {file}`"
    yield f"`lcons explain {file}`"
    if card.explanation.rules:
        box = card.explanation.rules[0].box.to_dict()
        words = [f"{name}={values[0]}" for name, values in box.items() if values]
        if not any("," in word or word != _plain(word) for word in words):
            values = shlex.quote(",".join(words))
            yield "`lcons explain {} --forbidden {}`".format(file, values)  # noqa: UP032
    yield f"`lcons verify {file}`"
    yield "`lcons convert {} --form lifted`".format(file)  # noqa: UP032


def _limits(card: Card) -> Iterator[str]:
    constraint, found = card.constraint, card.verification
    recipe = constraint.provenance.get("recipe")
    if isinstance(recipe, Mapping) and recipe.get("negatives") == UNSEEN:
        yield (
            "Its invalid examples are combinations that the data did not show: what is rare but valid may be"
            " forbidden."
        )
    if constraint.feature is not None and constraint.scope == "local":
        yield "It checks each part by itself: it has no rule over the whole structure."
    if any(block.kind is Kind.ONE_HOT and not block.other for block in constraint.space.blocks):
        yield "A value that is not listed above is an error, not a verdict."
    if not card.explanation.complete:
        yield "The rules in words do not cover all that it forbids; the network decides."
    if not found.exhausted:
        yield f"Its forms were compared at {found.points:,} points, not on the whole domain."
    if found.rounding_differences:
        yield f"Rounding: rows in float64 differ from the network at {found.rounding_differences:,} points."
    if found.total_rows > MANY_ROWS:
        yield "It has too many rows to list; use the lifted form in a solver."
    yield "It is no better than the data it was learned from, and is about data of the same kind."


def _listed(values: Iterable[Any]) -> str:
    """Names of a file, at most `NAMED` of them.

    >>> _listed(["a", "b\\n# c"])
    'a, b # c'
    """
    every = [_plain(str(value)) for value in values]
    more = f", and {len(every) - NAMED:,} more" if len(every) > NAMED else ""
    return ", ".join(every[:NAMED]) + more


def _plain(text: str) -> str:
    """A text of a file on one line, without what Markdown and HTML would take for markup."""
    return " ".join(text.split()).translate(_MARKUP)
