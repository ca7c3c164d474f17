"""A summary of a learned constraint: as text for people, and as plain data for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lcons_core.features import NgramContext
from lcons_core.features._ngrams import type_of
from lcons_core.learn._examples import UNSEEN
from lcons_core.reason._words import by_chance
from lcons_tasks.own_data._examples import GIVEN, times
from lcons_tasks.own_data._judgement import FEWEST, ROW, Judgement, percent
from lcons_tasks.own_data._learn import Learned
from lcons_tasks.own_data._undecided import Undecided


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
        "undecided": None if found.undecided is None else found.undecided.to_dict(),
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
        "advice": advice(found),
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
        chosen = found.chosen
        yield (
            f"chosen from {len(found.scores)} settings by cross-validation ({percent(max(found.scores))}"
            f" right on held-out folds at best): K = {chosen['hidden']}, rate {chosen['learning_rate']:g},"
            f" decay {chosen['decay']:g}"
        )
    if found.tried:
        yield _chosen(found)
    yield ""
    yield "In words:" if found.undecided is None else "Rules with evidence:"
    yield str(found.explanation)
    if found.undecided is not None:
        yield _needed(found, found.undecided)
        yield from found.undecided.lines()
    yield ""
    if found.held_out is None:
        yield f"On the data that it learned from ({held_out}):"
        yield from _judged(found.training, with_why)
    else:
        yield f"On held-out data ({held_out}):"
        yield from _judged(found.held_out, with_why, bounded=True)
        if found.held_out.invalid is None:
            yield f"  invalid vectors: not judged, because {_unjudged(found)}"
        if found.training.forbidden_structures:
            yield "On the data that it learned from:"
            yield from _judged(found.training, with_why)
    yield f"Advice: {advice(found)}"


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


def _unjudged(found: Learned) -> str:
    if found.undecided is not None:
        return "a combination without evidence may be valid"
    if found.negatives == UNSEEN:
        return "with `unseen`, training already has all of them"
    return "the held-out data have none that is new, or too many"


# Up to this share of the valid parts, by the 95 % bound, a constraint is used as a hard or as a soft one.
HARD, SOFT = 0.01, 0.05


def advice(found: Learned) -> str:
    """One sentence on how to use the constraint: hard, soft, or not at all."""
    judged = found.held_out
    if not len(found.explanation.rules) and found.explanation.complete:
        return "do not use it, because it forbids nothing; label more data, or lower the argument `evidence`."
    if judged is None or not judged.parts:
        return "judge it on held-out data before you use it (`held_out=` or more data)."
    share = judged.bound.share
    if (not judged.forbidden_parts and share <= SOFT) or share <= HARD:
        return "use it as a hard constraint: it forbids (almost) nothing that is valid."
    most = f"on new data it may forbid {judged.bound.percent} of the valid parts"
    if share <= SOFT:
        return f"use it as a soft constraint, because {most}."
    if not judged.forbidden_parts:
        return f"use it as a soft constraint, and label more data: with {judged.parts:,} parts, {most}."
    return f"do not use it, because {most}; label more data, or use it as a soft one with a small weight."


def _needed(found: Learned, undecided: Undecided) -> str:
    """The evidence that was needed. Labels of types have it together: a rule on a rare type may have less."""
    needed, feature = undecided.needed, found.constraint.feature
    typed = feature is not None and any(type_of(label)[1] for label in feature.labels)
    text = f"Evidence: what is forbidden was never seen, and chance would have shown it {times(needed.least)}"
    text += " or more"
    if max(needed.refuted_parts, needed.refuted_classes) >= needed.least:
        parts, classes = by_chance(needed.refuted_parts), by_chance(needed.refuted_classes)
        text += f",\n  and more often than what folds refuted ({parts}; classes of types: {classes})"
    if typed:
        text += ".\n  Types count together (O before any I-X), so a rule on a rare type may be expected"
        text += " less often"
    return f"{text}."


def _judged(judgement: Judgement, with_why: bool, bounded: bool = False) -> Iterator[str]:
    if not judgement.structures:
        yield "  it can judge none of them"
    elif not judgement.parts:
        yield "  it does not apply to them: none is long enough"
    else:
        forbidden, structures = judgement.forbidden_structures, judgement.structures
        shares = structures >= FEWEST
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
        forbidden, invalid, new = judgement.invalid_forbidden, judgement.invalid, judgement.invalid_new
        where = f"{new:,} of them not in training"
        share = f" ({percent(forbidden / invalid)})" if invalid >= FEWEST else ""
        yield f"  invalid vectors: {invalid:,} ({where}), of which it forbids {forbidden:,}{share}"
    if judgement.outside:
        yield f"  not judged: {judgement.outside:,} ({judgement.outside_example})"
    if judgement.unknown and judgement.unknown.tokens:
        never = f", {judgement.unknown.never:,} of them never" if judgement.unknown.rare else ""
        yield f"  {judgement.unknown.what}: {judgement.unknown.tokens:,}{never}"
    if judgement.examples:
        yield "  what it forbids there, most frequent first:"
    for one in judgement.examples:
        text = f": {one.text}" if one.text else ""
        yield f"  - {one.count:,} x {one.words} (first in {one.structure:,}{text})"
        if with_why:
            yield f"    {one.why}"


def _of(part: int, whole: int, what: str, share: bool) -> str:
    return f"{part:,} of {whole:,} {what}" + (f" ({percent(part / whole)})" if share else "")
