"""A summary of a learned constraint: as text for people, and as plain data for machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from lcons_core.features import NgramContext
from lcons_core.features._ngrams import type_of
from lcons_core.reason._words import by_chance
from lcons_tasks.own_data._examples import GIVEN, times
from lcons_tasks.own_data._judgement import FEWEST, ROW, Judgement, Undecided, percent
from lcons_tasks.own_data._learn import Learned


def summarise(found: Learned, learned_from: str, held_out: str, with_why: bool = False) -> str:
    """The report: what was learned and from what, the rules in words, and the judgement on held-out data."""
    return "\n".join(_lines(found, learned_from, held_out, with_why)) + "\n"


def summary_dict(found: Learned, learned_from: str, held_out: str) -> dict[str, Any]:
    """The same as plain data, with only the rules that the text shows."""
    explanation = found.explanation.to_dict()
    explanation["found"] = len(found.explanation)
    explanation["rules"] = explanation["rules"][: found.explanation.limit]
    feature = found.constraint.feature
    return {
        "feature": None if feature is None else feature.kind,
        "n": None if feature is None else feature.n,
        "labels": list(found.constraint.labels),
        "columns": found.constraint.space.d,
        "hidden": found.constraint.network.K,
        "seed": found.recipe.seed,
        "negatives": found.negatives,
        "examples": {"valid": len(found.examples.positives), "invalid": len(found.examples.negatives)},
        "evidence": found.recipe.evidence,
        "undecided": None if found.undecided is None else asdict(found.undecided),
        "contradictions": found.contradictions,
        **({"set_aside": found.set_aside} if found.recipe.robust else {}),
        "training_accuracy": found.constraint.provenance["training_accuracy"],
        "configuration": found.chosen,
        "cross_validation": list(found.scores),
        "tried": [{"hidden": K, "right": right} for K, right in found.tried],
        "learned_from": learned_from,
        "held_out_data": held_out,
        "training": found.training.to_dict(),
        "held_out": None if found.held_out is None else found.held_out.to_dict(),
        "bound": None if found.held_out is None else found.held_out.bound.to_dict(),
        "explanation": explanation,
        "use": found.recommendation.use,
        "advice": str(found.recommendation),
        "warnings": list(found.warnings),
    }


def _lines(found: Learned, learned_from: str, held_out: str, with_why: bool) -> Iterator[str]:
    valid, invalid = len(found.examples.positives), len(found.examples.negatives)
    made = "given" if found.negatives == GIVEN else f"made by `{found.negatives}`"
    accuracy = found.constraint.provenance["training_accuracy"]
    yield f"constraint: {described(found)}, K = {found.constraint.network.K}, seed {found.recipe.seed}"
    yield f"learned from {learned_from}: {valid:,} valid vectors and {invalid:,} invalid ones, {made};"
    yield f"  it classifies {percent(accuracy)} of them correctly"
    if found.set_aside:
        yield f"  {found.set_aside:,} vectors were set aside, because their labels disagree with the others"
    if found.contradictions:
        yield f"  {found.contradictions:,} vectors were given as valid and as invalid, and count as valid"
    if found.scores:
        chosen, best = found.chosen, percent(max(found.scores))
        yield (
            f"chosen from {len(found.scores)} settings by cross-validation ({best} right on held-out folds at"
            f" best): K = {chosen['hidden']}, rate {chosen['learning_rate']:g}, decay {chosen['decay']:g}"
        )
    if found.tried:
        yield _chosen(found)
    yield ""
    yield "In words:" if found.undecided is None else "Rules with evidence:"
    yield str(found.explanation)
    if found.undecided is not None:
        yield from _evidence(found, found.undecided)
    yield ""
    if found.held_out is None:
        yield f"On the data that it learned from ({held_out}):"
        yield from _judged(found.training, with_why)
    else:
        yield f"On held-out data ({held_out}):"
        yield from _judged(found.held_out, with_why, bounded=True)
        if found.training.forbidden_structures:
            yield "On the data that it learned from:"
            yield from _judged(found.training, with_why)
    yield f"Advice: {found.recommendation}"


def described(found: Learned) -> str:
    """The feature in a few words."""
    feature, d = found.constraint.feature, found.constraint.space.d
    if feature is None:
        return f"psi of {d:,} columns"
    labels, n = len(feature.labels), feature.n
    name = feature.context_name if isinstance(feature, NgramContext) else feature.kind
    padded = ", padded" if feature.pad else ""
    return (
        f"{name}{f', n = {n}' if n else ''}{padded}{f', {labels} labels' if labels else ''} ({d:,} columns)"
    )


def _chosen(found: Learned) -> str:
    """How K was chosen, if it was doubled."""
    tried = ", ".join(f"{K}" for K, _ in found.tried)
    K = found.constraint.network.K
    if found.tried[-1][1] == 1:
        return f"chosen K = {K}, the smallest of {tried} that classifies all of them correctly"
    return f"chosen K = {K}, which classifies the most of them correctly; none of {tried} classifies all"


def _evidence(found: Learned, undecided: Undecided) -> Iterator[str]:
    """The evidence that was needed, and the windows that have less. Labels of types have it together: a rule
    on a rare type may have less."""
    needed, feature = undecided.needed, found.constraint.feature
    text = f"Evidence: what is forbidden was never seen, and chance would have shown it {times(needed.least)}"
    text += " or more"
    if max(needed.refuted_parts, needed.refuted_classes) >= needed.least:
        parts, classes = by_chance(needed.refuted_parts), by_chance(needed.refuted_classes)
        text += f",\n  and more often than what folds refuted ({parts}; classes of types: {classes})"
    if feature is not None and any(type_of(label)[1] for label in feature.labels):
        text += ".\n  Types count together (O before any I-X), so a rule on a rare type may be expected"
        text += " less often"
    yield f"{text}."
    first = "Combinations never seen, not forbidden (too rare to tell):"
    yield f"{first} {f'{undecided.count:,}, such as' if undecided.count else 'none'}"
    yield from (f"- {example}" for example in undecided.examples)


def _judged(judgement: Judgement, with_why: bool, bounded: bool = False) -> Iterator[str]:
    shares = judgement.structures >= FEWEST
    if not judgement.structures:
        yield "  it can judge none of them"
    elif not judgement.parts:
        yield "  it does not apply to them: none is long enough"
    else:
        forbidden, structures = judgement.forbidden_structures, judgement.structures
        line = f"  forbids {_of(forbidden, structures, f'valid {judgement.unit}s', shares)}"
        if judgement.unit != ROW:
            line += f", {_of(judgement.forbidden_parts, judgement.parts, 'of their parts', shares)}"
        yield line
    if bounded and judgement.parts:
        most = judgement.bound.percent
        yield f"  so on new data it forbids at most {most} of the valid parts (95 % bound)"
    if judgement.new_parts:
        allowed = judgement.new_allowed
        yield f"  parts that are not in training: {judgement.new_parts:,}, of which it allows {allowed:,}"
    if judgement.invalid and judgement.invalid_forbidden is not None:
        yield f"  forbids {_of(judgement.invalid_forbidden, judgement.invalid, 'invalid rows', shares)}"
    if judgement.outside:
        yield f"  not judged: {judgement.outside:,} ({judgement.outside_example})"
    if judgement.examples:
        yield "  what it forbids there, most frequent first:"
    for one in judgement.examples:
        text = f": {one.text}" if one.text else ""
        yield f"  - {one.count:,} x {one.words} (first in {one.structure:,}{text})"
        if with_why:
            yield f"    {one.why}"


def _of(part: int, whole: int, what: str, share: bool) -> str:
    return f"{part:,} of {whole:,} {what}" + (f" ({percent(part / whole)})" if share else "")
