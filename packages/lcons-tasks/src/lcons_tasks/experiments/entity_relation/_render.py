"""The report of an entity-relation run as text: Markdown that reads as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lcons_core import LearnedConstraint, explain, simplify, to_inequalities
from lcons_tasks.experiments.entity_relation import _paper as paper
from lcons_tasks.experiments.entity_relation._cell import DESIGNED, LEARNED, LEARNED_ALL, NONE, SETS, Filled
from lcons_tasks.experiments.entity_relation._corpus import ErCorpus
from lcons_tasks.experiments.entity_relation._examples import Changed, shown
from lcons_tasks.experiments.entity_relation._summary import Gain, Group, Sets, claims, recovered
from lcons_tasks.experiments.entity_relation._task import Options
from lcons_tasks.report._plot import line_chart
from lcons_tasks.report._text_tables import claims_table, mean_spread, table

FIGURES = ("entity f1", "relation f1", "entity macro f1", "relation macro f1", "strict relation f1")
CHOICES = (
    "What was chosen how: features, the cost of a miss and the default C once, on the last fifth of the"
    " training sentences of splits 11 to 16 of Roth and Yih's corpus; these splits share the corpus with"
    " those below. In each split, C among the values below on the last fifth of its training sentences,"
    " the default standing unless another beats its entity and relation F1 together by more than one standard"
    " error; then the model is trained on all of them. Figures on test sentences were in sight when that"
    " rule was settled."
)
MEASURES = (
    "Micro F1 is over all labels but NoEnt and NoRel, on given candidates; a relation is right with its"
    " ordered pair and its label; strict also asks for the right labels of both candidates. Decoding is"
    " exact, and ties go to the first labelling in declared label order."
)


def render(
    options: Options,
    found: Sequence[Group],
    corpus: ErCorpus,
    measured: Sequence[Gain],
    learned: Mapping[str, LearnedConstraint],
    changed: Sequence[Changed],
) -> str:
    """The report as text."""
    whole = found[0]
    sizes = whole.cells[0].figures["sentences"]
    parts = [
        "# Entities and relations with learned constraints",
        f"Corpus: **{corpus.name}**, {corpus.what}; {len(corpus.passages):,} sentences; sha256"
        f" {corpus.sha256[:12]}. Split {whole.cells[0].cell.split}: {sizes['train']} sentences for training"
        f" and {sizes['test']} for test. Figures are mean ± standard deviation over splits"
        f" {', '.join(cell.cell.split for cell in whole.cells)}.",
        CHOICES,
        "## Trained and tested with constraints",
        _grid(whole, corpus.name == "conll04"),
        MEASURES,
        _broken(whole),
    ]
    if corpus.name == "conll04":
        parts += ["Claims of the paper:", claims_table(claims(whole))]
    parts += ["## What constraints add", _gains(measured)]
    curve = [group for group in found if group.share < 1]
    if curve:
        parts.append(
            "With less training data C is the default, and learned constraints come from the same sentences"
            " as the model; as a picture: `curve.svg`."
        )
        parts += [_shares(sorted([whole, *curve], key=lambda group: group.share)), _recovery(curve)]
    published = [group for group in found[1:] if group.share == 1]
    if published:
        parts += ["## Published splits", _published(published)]
    parts += ["## C, chosen on dev", _by_C(whole)]
    parts += ["## Learned and designed constraints allow the same", _certificates([whole, *published])]
    for name, constraint in learned.items():
        parts += _constraint(name, constraint, whole.cells[0].cell.split)
    parts += _ilp(whole)
    if changed:
        parts.append(f"## Sentences that changed (split {whole.cells[0].cell.split})")
        parts.append("Before: no constraints in training or prediction; after: learned ones in both.")
        parts += [shown(one) for one in changed]
    return "\n\n".join(parts) + "\n"


def curve(found: Sequence[Group], corpus: ErCorpus) -> str | None:
    """Relation F1 by training sentences as an SVG; None where only one size was run."""
    seeded = sorted((group for group in found if group.cells[0].cell.seeded), key=lambda one: one.trained_on)
    if len(seeded) < 2:
        return None
    lines: dict[str, dict[float, float]] = {
        "learned constraints": {g.trained_on: g.mean((LEARNED, LEARNED), "relation f1") for g in seeded},
        "learned, prediction only": {g.trained_on: g.mean((NONE, LEARNED), "relation f1") for g in seeded},
        "no constraints": {g.trained_on: g.mean((NONE, NONE), "relation f1") for g in seeded},
    }
    title = f"Relation F1 by training sentences ({corpus.name})"
    return line_chart(title, "training sentences", "relation F1 (%)", lines)


def _grid(group: Group, with_paper: bool) -> str:
    sets: list[Sets] = [(trained, tested) for trained in SETS for tested in SETS]
    sets.append((LEARNED_ALL, LEARNED_ALL))
    head = ["trained with", "tested with", *(name.replace("f1", "F1") for name in FIGURES)]
    rows = []
    for trained, tested in sets:
        row = [trained, tested, *(mean_spread(group.values((trained, tested), name)) for name in FIGURES)]
        stated = paper.F1.get(trained) if trained == tested else None
        rows.append([*row, f"{stated['entity f1']}, {stated['relation f1']}" if stated else ""])
    if with_paper:
        return table([*head, "the paper (entity, relation)"], rows)
    return table(head, [row[:-1] for row in rows])


def _broken(group: Group) -> str:
    """What predictions without constraints break."""
    pairs, sentences, tested = (
        sum(values)
        for values in zip(
            *(
                (
                    c.figures["broken"]["pairs"],
                    c.figures["broken"]["sentences"],
                    c.figures["sentences"]["test"],
                )
                for c in group.cells
            ),
            strict=True,
        )
    )
    return (
        f"Without constraints in training or prediction, {sentences:,} of {tested:,} predicted sentences"
        f" break a designed constraint, in {pairs:,} pairs of candidates."
    )


def _gains(measured: Sequence[Gain]) -> str:
    rows = [
        [f"{one.group}, {one.trained_on} sentences", one.figure.replace("f1", "F1"), str(one.interval)]
        for one in measured
    ]
    head = ["", "figure", "learned in training and prediction over none [95%]"]
    note = "Intervals: paired bootstrap over sentences."
    return table(head, rows) + "\n\n" + note


def _shares(found: Sequence[Group]) -> str:
    sets: tuple[Sets, ...] = ((LEARNED, LEARNED), (DESIGNED, DESIGNED), (NONE, LEARNED), (NONE, NONE))
    rows = [
        [f"{figure.replace('f1', 'F1')}, {trained} / {tested}"]
        + [mean_spread(group.values((trained, tested), figure)) for group in found]
        for figure in ("entity f1", "relation f1")
        for trained, tested in sets
    ]
    head = ["trained / tested with", *(f"{g.trained_on} ({100 * g.share:g}%)" for g in found)]
    return table(head, rows)


def _recovery(found: Sequence[Group]) -> str:
    told = (
        f"{sum(recovered(cell, LEARNED) for cell in group.cells)} of {len(group.cells)} with"
        f" {100 * group.share:g}%"
        for group in found
    )
    return f"Splits in which constraints learned from so little are the designed ones: {', '.join(told)}."


def _published(found: Sequence[Group]) -> str:
    rows = [
        [
            f"{group.name}, {trained} / {tested}",
            *(f"{group.mean((trained, tested), name):.2f}" for name in FIGURES),
        ]
        for group in found
        for trained, tested in ((LEARNED, LEARNED), (DESIGNED, DESIGNED), (NONE, NONE))
    ]
    note = "A published dev part is the end of the training data."
    return table(["trained / tested with", *(n.replace("f1", "F1") for n in FIGURES)], rows) + "\n\n" + note


def _by_C(group: Group) -> str:
    rows = []
    for name in SETS:
        chosen = [cell.figures["training"][name]["C"] for cell in group.cells]
        for k, tried in enumerate(group.cells[0].figures["training"][name]["tried"]):
            dev = [cell.figures["training"][name]["tried"][k] for cell in group.cells]
            figures = [mean_spread([one[figure] for one in dev]) for figure in ("entity f1", "relation f1")]
            times = f"{chosen.count(tried['C'])} of {len(chosen)}"
            rows.append([f"{name}, C = {tried['C']:g}", *figures, times])
    if not rows:
        return f"C = {group.cells[0].figures['training'][LEARNED]['C']:g}, as given."
    gap = max(cell.figures["training"][name]["gap"] for cell in group.cells for name in SETS)
    note = (
        f"The paper's C is 2^-6 = {paper.C:g}. Training ends at most {gap:.2f} above the least objective"
        " (duality gap), in errors a sentence."
    )
    return (
        table(["trained and tested with", "entity F1 (dev)", "relation F1 (dev)", "chosen"], rows)
        + f"\n\n{note}"
    )


def _certificates(found: Sequence[Group]) -> str:
    """Each split's comparison with the designed constraints."""
    head = [
        "split",
        *(f"{name}: {what}" for name in (LEARNED, LEARNED_ALL) for what in ("constraints", "predictions")),
    ]
    rows = []
    for cell in (cell for group in found for cell in group.cells):
        row = [cell.cell.split]
        for name in (LEARNED, LEARNED_ALL):
            row.append(_told(cell, name))
            differ = cell.figures["differ"][name]
            row.append("identical" if not differ else f"{differ} sentences differ")
        rows.append(row)
    points = [one["points"] for one in found[0].cells[0].figures["certificates"][LEARNED].values()]
    note = (
        f"Compared on all {' + '.join(map(str, points))} combinations, each looked at in exact arithmetic."
        f" `{LEARNED}` asks for two pairs of candidates that show a combination, `{LEARNED_ALL}` for one."
        " Predictions: of the model trained and tested with them, against designed."
    )
    return table(head, rows) + "\n\n" + note


def _told(cell: Filled, name: str) -> str:
    """Equal, or the witnesses."""
    found = []
    for feature, one in cell.figures["certificates"][name].items():
        for side, words in (("witnesses_a", "allows"), ("witnesses_b", "forbids")):
            found += [f"{feature} {words} ({', '.join(witness.values())})" for witness in one[side]]
    return "; ".join(found) or "equal"


def _constraint(name: str, constraint: LearnedConstraint, split: str) -> list[str]:
    """The coefficients of Theorem 1 as in the paper's tables, the rules in words, and the rows kept."""
    rows = to_inequalities(constraint.network)
    head = ["row", *(value for _, value in constraint.space.columns), "bias"]
    body = [
        [str(k + 1), *(f"{value:.2f}" for value in row), f"{bias:.2f}"]
        for k, (row, bias) in enumerate(zip(rows.coefficients, rows.bias, strict=True))
    ]
    kept = simplify(constraint)
    return [
        f"### {name}, learned from split {split}",
        table(head, body),
        f"Rows after `simplify`: {', '.join(str(k + 1) for k in kept.kept.tolist())} of {len(rows)}.",
        "In words:\n\n" + "\n".join(f"- {rule}" for rule in explain(constraint).rules),
    ]


def _ilp(group: Group) -> list[str]:
    """Whether integer programs agree with the decoder."""
    checked = [cell.figures["ilp"] for cell in group.cells if cell.figures["ilp"]]
    if not checked:
        return []
    total = sum(one["sentences"] for one in checked)
    told = ", ".join(f"{form} {sum(one['agree'][form] for one in checked)}" for form in checked[0]["agree"])
    return [
        "## The same by integer program",
        f"python-mip finds the decoder's best score, with the learned constraints in each form, for so many"
        f" of {total} test sentences of few candidates: {told}.",
    ]
