"""A summary of a learned constraint: as text for people (`templates/learned.txt`), and as plain data."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

from lcons_core import LearnedConstraint
from lcons_core.features import NgramContext
from lcons_core.features._ngrams import type_of
from lcons_core.reason._words import by_chance
from lcons_tasks.own_data._judgement import FEWEST, of, percent
from lcons_tasks.own_data._learn import Learned

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment(package: str) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(  # noqa: S701 (plain text)
        loader=PackageLoader(package), trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {"percent": percent, "number": "{:,}".format, "chance": by_chance}
    environment.globals |= {"of": of, "fewest": FEWEST}
    return environment


def rendered(package: str, template: str, **values: Any) -> str:
    """The text of a template of a package."""
    return _environment(package).get_template(template).render(**values)


def summarise(learned: Learned, learned_from: str, held_out: str) -> str:
    """The report: what was learned and from what, the rules in words, and the judgement on held-out data."""
    constraint = learned.constraint
    values = {
        "learned": learned,
        "learned_from": learned_from,
        "held_out": held_out,
        "described": described(constraint),
        "typed": any(type_of(label)[1] for label in constraint.labels),
    }
    return rendered("lcons_tasks.own_data", "learned.txt", **values) + "\n"


def summary_dict(learned: Learned, learned_from: str, held_out_data: str) -> dict[str, Any]:
    """The same as plain data, with only the rules that the text shows."""
    explanation = learned.explanation.to_dict()
    explanation["found"] = len(learned.explanation)
    explanation["rules"] = explanation["rules"][: learned.explanation.limit]
    constraint, task, learner, held_out = learned.constraint, learned.task, learned.learner, learned.held_out
    scores = learner.cv_results_ or {"mean_test_score": ()}
    return {
        "feature": getattr(constraint.feature, "kind", None),
        "n": getattr(constraint.feature, "n", None),
        "labels": list(constraint.labels),
        "columns": constraint.space.d,
        "hidden": constraint.network.K,
        "seed": task.recipe.seed,
        "negatives": task.negatives,
        "examples": {"valid": len(task.examples.positives), "invalid": len(task.examples.negatives)},
        "evidence": task.recipe.evidence,
        "undecided": None if learned.undecided is None else asdict(learned.undecided),
        "contradictions": task.contradictions,
        **({"set_aside": learner.set_aside_} if task.recipe.robust else {}),
        "training_accuracy": constraint.provenance["training_accuracy"],
        "configuration": learner.configuration_,
        "cross_validation": list(map(float, scores["mean_test_score"])),
        "tried": [{"hidden": K, "right": right} for K, right in learned.tried],
        "learned_from": learned_from,
        "held_out_data": held_out_data,
        "training": asdict(learned.training),
        "held_out": None if held_out is None else asdict(held_out),
        "bound": None if held_out is None else held_out.bound.to_dict(),
        "explanation": explanation,
        "use": learned.recommendation.use,
        "advice": str(learned.recommendation),
        "warnings": list(learned.warnings),
    }


def described(constraint: LearnedConstraint) -> str:
    """What a constraint reads, in a few words."""
    feature, d = constraint.feature, constraint.space.d
    if feature is None:
        return f"psi of {d:,} columns"
    name = feature.context_name if isinstance(feature, NgramContext) else feature.kind
    n, labels = (f", n = {feature.n}" if feature.n else ""), len(feature.labels)
    padded = ", padded" if feature.pad else ""
    return f"{name}{n}{padded}{f', {labels} labels' if labels else ''} ({d:,} columns)"
