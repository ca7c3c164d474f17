"""Graphs of candidates: `decode_relations` against the integer program, to the same optimum.

Random sentences of 3 to 10 candidates with the paper's labels and designed rules (Appendix C): 4 entity
labels, 6 relation labels, normal scores in sixteenths, NoRel 2 above the others. The rules are made a set
once; the integer program grounds them in every sentence, as it must, and is solved by CBC in the forms lifted
and rows. Over all sentences `decode_relations` is at least 100 times faster than the faster form. Sentences a
second are reported beside it.

Run: .venv/bin/python tools/bench/relations.py [sentences of each size]
"""

from __future__ import annotations

import sys
import time
from functools import partial

import numpy as np
from timing import median_seconds, report

from lcons_core import LearnedConstraint, Rules
from lcons_core.features import Tuples
from lcons_decode import RelationRules, RelationScores, decode_relations
from lcons_decode.ilp._decoders import decode_relations_ilp

ENTITIES = ("NoEnt", "Person", "Location", "Organization")
RELATIONS = ("NoRel", "Kill", "LiveIn", "WorkFor", "LocatedAt", "OrgBasedIn")
# What some relations need: member -> label -> these relations.
NEEDED: dict[str, dict[str, tuple[str, ...]]] = {
    "source": {"Person": RELATIONS[1:4], "Location": ("LocatedAt",), "Organization": ("OrgBasedIn",)},
    "target": {"Person": ("Kill",), "Location": ("LiveIn", *RELATIONS[4:]), "Organization": ("WorkFor",)},
    "reverse": {"NoRel": RELATIONS[1:]},
}
SIZES, SENTENCES, REPEATS = range(3, 11), 3, 7
FORMS = ("lifted", "rows")
LEAST_SPEED = 100.0


def designed() -> list[LearnedConstraint]:
    """What a relation needs of its source, its target and the relation back, each a constraint."""
    found = []
    for member, relations_of in NEEDED.items():
        pair = Tuples(("relation", member), (RELATIONS, RELATIONS if member == "reverse" else ENTITIES))
        rules = Rules(pair.space)
        for label, relations in relations_of.items():
            rules = rules.needs({"relation": relations}, {member: label})
        found.append(LearnedConstraint(rules.network(), pair.space, pair))
    return found


def sentence(n: int, rng: np.random.Generator) -> RelationScores:
    """Scores of n candidates, most of them unrelated; sums of sixteenths are exact."""
    relations = rng.normal(size=(n, n, len(RELATIONS)))
    relations[:, :, 0] += 2.0
    entities = rng.normal(size=(n, len(ENTITIES)))
    return RelationScores(
        np.rint(entities * 16) / 16,
        np.rint(relations * 16) / 16,
        entity_labels=ENTITIES,
        relation_labels=RELATIONS,
    )


def main() -> int:
    sentences = int(sys.argv[1]) if len(sys.argv) > 1 else SENTENCES
    rng = np.random.default_rng(0)
    constraints = designed()
    rules = RelationRules.of(constraints, ENTITIES, RELATIONS)
    warm_up = sentence(2, rng)
    decode_relations(warm_up, rules)  # compiles
    decode_relations_ilp(warm_up, constraints)  # loads the solver
    decoder, programs = 0.0, dict.fromkeys(FORMS, 0.0)
    for n in SIZES:
        own, by_form = 0.0, dict.fromkeys(FORMS, 0.0)
        for _ in range(sentences):
            scores = sentence(n, rng)
            found = decode_relations(scores, rules)
            own += median_seconds(partial(decode_relations, scores, rules), repeats=REPEATS)[0]
            for form in FORMS:
                start = time.perf_counter()
                best = decode_relations_ilp(scores, constraints, form=form).score
                by_form[form] += time.perf_counter() - start
                assert found.score == best, f"{n} candidates, {form}: {best} instead of {found.score}"
        decoder += own
        programs = {form: programs[form] + taken for form, taken in by_form.items()}
        each = ", ".join(f"{form} {1e3 * taken / sentences:.0f} ms" for form, taken in by_form.items())
        print(f"{n:2} candidates: decoder {1e3 * own / sentences:.3f} ms, {each}")
    total = len(SIZES) * sentences
    speeds = ", ".join(f"{form} {total / taken:,.1f}" for form, taken in programs.items())
    print(f"sentences a second: decoder {total / decoder:,.0f}, {speeds}")
    ratio = min(programs.values()) / decoder
    return int(not report("integer program / decoder", ratio, at_least=LEAST_SPEED))


if __name__ == "__main__":
    sys.exit(main())
