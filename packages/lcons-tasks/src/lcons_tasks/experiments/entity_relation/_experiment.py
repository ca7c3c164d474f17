"""`lcons run er`: the cells, how they are filled, and the document of a run.

Paper: Sec. 4 and 4.1, Table 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from lcons_core import LearnedConstraint, explain, save, simplify, to_inequalities
from lcons_tasks.apps._extractor import Extractor
from lcons_tasks.atomic import replacing_folder, write_text
from lcons_tasks.data._passage import Labelled
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, corpus_named, option
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Coordinate, Record, RecordCell
from lcons_tasks.experiments.engine._template import render
from lcons_tasks.experiments.entity_relation._answers import (
    DESIGNED,
    LEARNED,
    LEARNED_ALL,
    SEEDED,
    SEEN,
    SOME,
    SUPPORT,
    TABLE,
    WEIGHED,
    WITHIN,
    WITHOUT,
    C,
    Cell,
    answers,
    constraints,
    final_model,
    loaded,
    parts,
    row_of,
)
from lcons_tasks.experiments.entity_relation._constraints import FEATURES
from lcons_tasks.experiments.entity_relation._examples import changed
from lcons_tasks.experiments.entity_relation._measures import Answer
from lcons_tasks.models._relation_svm import MISS, PASSES
from lcons_tasks.report._document import Claim, Constraints, Curve, Document, Figure, Table, TableCell

PAPER = blocks.read_paper(__file__)
PAPERS = "conll04"
SPLITS = tuple(map(str, range(1, 11)))
CURVE, NOISE = (10, 20, 50, 100, 200), (0.02, 0.05, 0.1)
ENTITY, RELATION = "entity f1", "relation f1"
# What is compared: a row, and the row that it is compared with.
COMPARED = ((WITHIN, WITHOUT), (WITHIN, SEEN), (WITHIN, WEIGHED), (SOME, WITHIN))

# Processor seconds per cell, per training sentence, and in addition per tried C.
_A_CELL, _A_SENTENCE = 4.0, 0.015


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run; the defaults are those of a quick run. `shares` and `sizes` are the shares and
    the numbers of training sentences of a learning curve, besides all of them, and `noise` the shares of
    wrong labels in them; on seeded splits."""

    corpus: str = option(
        "bundled",
        "--corpus",
        "bundled, conll04, a file, or auto (conll04 if found, otherwise bundled).",
        default="auto",
    )
    splits: tuple[str, ...] = option(
        ("1", "2", "3"), "--split", "Seed of a split, or the name of a published split; repeat for several."
    )
    shares: tuple[float, ...] = ()
    C: float = C
    miss: float = MISS
    passes: int = PASSES
    sizes: tuple[int, ...] = option(
        (), "--size", "Number of training sentences, for a learning curve; repeat for several.", least=1
    )
    noise: tuple[float, ...] = ()

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """A run of one or two minutes; with `full`, ten seeded splits, the published splits, a learning curve
        and errors in the training data."""
        name = corpus_named(corpus, PAPERS)
        if not full:
            return cls(name)
        return cls(name, (*SPLITS, *loaded(name).published), sizes=CURVE, noise=NOISE)


class EntityRelation(Experiment[Options, Cell]):
    """Label entities and relations, with constraints in training and prediction.

    Uses Roth and Yih's corpus if `lcons data list` finds it, otherwise a small corpus that comes with lcons.
    Proves whether the learned constraints equal the designed ones. Finished stages are kept: a stopped run
    continues where it stopped, with the same result. Also writes an extractor for `lcons extract`.

    \b
    Example:
      lcons run er --corpus bundled --split 1
    """

    name = "er"
    options = Options
    leaves = ("constraints", "predictions", "extractor")

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill: first those of the tables, then those of the learning curve."""
        rest = (options.miss, options.passes)
        whole = [
            Cell(options.corpus, name, 1.0, options.C, *rest, first=k == 0)
            for k, name in enumerate(options.splits)
        ]
        other: list[dict[str, Any]] = [{"share": share} for share in options.shares if share < 1]
        other += [{"size": size} for size in options.sizes] + [{"noise": noise} for noise in options.noise]
        return whole + [
            replace(cell, first=False, **changed) for changed in other for cell in whole if cell.seeded
        ]

    def cost(self, cell: Cell) -> float:
        return _A_CELL + _A_SENTENCE * (cell.size or cell.share * len(loaded(cell.corpus).passages))

    def fill(self, cell: Cell, kept: Stages) -> Record:
        found = answers(cell, kept)
        record = found.record
        if cell.first:
            own = constraints(cell, LEARNED, kept)
            shown = changed(parts(cell).test, found.answers[WITHOUT], found.answers[WITHIN], own)
            record = record.with_facts(
                examples=shown, learned={name: _in_rows(one) for name, one in own.items()}
            )
        corpus = loaded(cell.corpus)
        about = {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "sentences": len(corpus.passages),
        }
        return Record(record.cells, {"corpus": about})

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraints, the predictions, and an extractor of the first split."""
        cells = self.cells(options)
        with replacing_folder(folder / "constraints") as made:
            for cell in cells:
                for name in SUPPORT:
                    target = made / cell.name / name
                    target.mkdir(parents=True, exist_ok=True)
                    for feature, constraint in constraints(cell, name, kept).items():
                        save(constraint, target / f"{feature}.json")
        with replacing_folder(folder / "predictions") as made:
            for cell in cells:
                found = answers(cell, kept).answers
                rows = zip(parts(cell).test, found[WITHOUT], found[WITHIN], strict=True)
                lines = (json.dumps(_prediction(*row), ensure_ascii=False) for row in rows)
                write_text(made / f"{cell.name}.jsonl", "".join(f"{line}\n" for line in lines))
        model, _ = final_model(cells[0], LEARNED, kept)
        Extractor(model, constraints(cells[0], LEARNED, kept)).save(folder / "extractor")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: results by the constraints in training and in prediction."""
        clean = Record(tuple(cell for cell in record.cells if not cell.at.get("noise")), record.facts)
        noisy = sorted(record.where(group=SEEDED, share=1.0, size=0).by("noise").items())
        parts = clean.by("group", "share", "size")
        seeded = sorted((own for (name, *_), own in parts.items() if name == SEEDED), key=_trained_on)
        return render(
            self,
            record.facts["corpus"]["name"],
            options=options,
            record=record,
            clean=clean,
            by_noise={f"{blocks.percent(noise)} wrong": own for noise, own in noisy},
            whole=next(iter(parts.values())),
            by_size={f"{_trained_on(own)} sentences": own for own in seeded},
            places={f"{name}, {_trained_on(own):,} sentences": own for (name, *_), own in parts.items()},
            published={
                name: own
                for (name, share, size), own in parts.items()
                if share == 1 and not size and name != SEEDED
            },
            compared=COMPARED,
            trained_on=_trained_on,
            shown=_shown,
            stated=_stated,
            without_and_within_first=lambda rows: list(dict.fromkeys((WITHOUT, WITHIN, *rows))),
            otherwise=_otherwise,
            learning_curve=_curve,
            published_systems=_published,
            checked=claims,
            certificates=_certificates,
            theorem_rows=_theorem_rows,
            files=_constraint_files,
        )


def _in_rows(constraint: LearnedConstraint) -> dict[str, Any]:
    """The rows of Theorem 1 as in the paper's tables, the rows that `simplify` keeps, and the rules in
    words."""
    rows = to_inequalities(constraint.network)
    return {
        "columns": [" ".join(column) for column in constraint.space.columns],
        "rows": [
            [*row, bias] for row, bias in zip(rows.coefficients.tolist(), rows.bias.tolist(), strict=True)
        ],
        "kept": [k + 1 for k in simplify(constraint).kept.tolist()],
        "rules": [str(rule) for rule in explain(constraint).rules],
    }


def _prediction(passage: Labelled, without: Answer, within: Answer) -> dict[str, Any]:
    """A test sentence as plain data: words, candidates, gold, and the answers without and with
    constraints."""
    return {
        "id": passage.id,
        "words": list(passage.passage.words),
        "candidates": [list(span) for span in passage.passage.spans],
        "gold": _labels((passage.entities, passage.relations)),
        "without constraints": _labels(without),
        "with learned constraints": _labels(within),
    }


def _labels(answer: Answer) -> dict[str, Any]:
    entities, relations = answer
    links = [{"source": i, "target": j, "label": label} for (i, j), label in sorted(relations.items())]
    return {"entities": list(entities), "relations": links}


def _trained_on(record: Record) -> int:
    return round(mean(record.told("sentences", "train")))


def _stated(row: str, measure: str, at: Mapping[str, Coordinate]) -> float | None:
    """The paper's figure for a model that is trained and tested with the same constraints; else None."""
    trained, _, tested = row.partition(" / ")
    figures: dict[str, float] = PAPER["f1"].get(trained, {}) if trained == tested else {}
    return figures.get(measure)


def _shown(groups: Mapping[str, Record], rows: Sequence[str]) -> list[str]:
    """Those of these rows that some group has."""
    return [row for row in rows if any(row in own.rows for own in groups.values())]


def _curve(record: Record) -> Curve | None:
    lines = {
        "learned constraints": WITHIN,
        "a table of what was seen": SEEN,
        "designed constraints": row_of(DESIGNED, DESIGNED),
        "no constraints": WITHOUT,
    }
    seeded = record.where(group=SEEDED)
    sizes = {key: float(_trained_on(own)) for key, own in seeded.by("share", "size").items()}
    return blocks.curve(
        f"Relation F1 by number of training sentences, corpus {record.facts['corpus']['name']}",
        "training sentences",
        "relation F1 (%)",
        seeded,
        lambda cell: sizes[cell.at["share"], cell.at["size"]],
        lines,
        RELATION,
    )


def _otherwise(caption: str, groups: Mapping[str, Record]) -> Table:
    """The number of wrong verdicts of the table and of the networks."""
    rows: list[list[TableCell]] = [
        [name, *(Figure(tuple(map(float, own.told("otherwise", name))), digits=1) for own in groups.values())]
        for name in (TABLE, LEARNED, LEARNED_ALL)
    ]
    note = "The labels of two candidates and the relations between them; 0: the same set."
    return blocks.table(caption, ("set", *groups), rows, note)


def _published(published: Mapping[str, Record]) -> Table:
    measures = (ENTITY, RELATION, "entity macro f1", "relation macro f1")
    rows: list[list[TableCell]] = [
        [name, *(Figure((value,), digits=1) for value in stated), None, None]
        for name, stated in PAPER["published"].items()
    ]
    for name, own in published.items():
        for row in _shown({name: own}, (WITHOUT, WITHIN, SOME)):
            rows.append([f"{name}: {row}", *(own.figure(row, one, digits=1) for one in measures)])
    head = ("system", "entity F1", "relation F1", "entity macro F1", "relation macro F1")
    note = (
        "Published systems without a pretrained encoder, candidates given; they average in different ways, so"
        " compare with both of ours. The dev part of a published split is used as the end of its training"
        " data."
    )
    caption = "Published systems, and this model on the published splits, in percent"
    return blocks.table(caption, head, rows, note)


def recovered(cell: RecordCell, name: str) -> bool:
    """Whether all three learned constraints of a set are proven equal to the designed ones."""
    return all(one["outcome"] == "equal" for one in cell.facts["certificates"][name].values())


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record."""
    cells = record.cells
    checked = []
    for name, text in (
        (LEARNED, "learned constraints recover the designed ones exactly (two pairs of candidates)"),
        (LEARNED_ALL, "the same from all combinations that occur, as in the paper"),
    ):
        equal = sum(recovered(cell, name) for cell in cells)
        checked.append(Claim(text, equal == len(cells), f"in {equal} of {len(cells)} splits"))
    same = sum(recovered(cell, LEARNED) and not cell.facts["differ"][LEARNED] for cell in cells)
    text = "models with learned and designed constraints differ only by solver ties (here: not at all)"
    checked.append(Claim(text, same == len(cells), f"identical predictions in {same} of {len(cells)} splits"))
    return checked + blocks.check(record, PAPER["claims"])


def _certificates(whole: Record, published: Mapping[str, Record]) -> Table:
    """The comparison of learned with designed constraints in each split."""
    rows = []
    for cell in (cell for record in (whole, *published.values()) for cell in record.cells):
        row = [str(cell.at["split"])]
        for name in SUPPORT:
            differ = cell.facts["differ"][name]
            row += [_difference(cell, name), "identical" if not differ else f"{differ} sentences differ"]
        rows.append(row)
    points = [one["points"] for one in whole.first.facts["certificates"][LEARNED].values()]
    note = (
        f"Constraints were compared on all {' + '.join(map(str, points))} combinations in exact arithmetic."
        f" `{LEARNED}` uses combinations that at least two pairs of candidates show, `{LEARNED_ALL}` all that"
        " occur. Predictions are those of the model that was trained and tested with these constraints,"
        " compared with those of the model with designed constraints."
    )
    head = ("split", *(f"{name}: {what}" for name in SUPPORT for what in ("constraints", "predictions")))
    return blocks.table("Learned constraints compared with the designed ones", head, rows, note)


def _difference(cell: RecordCell, name: str) -> str:
    """`equal`, or the combinations on which learned and designed constraints differ."""
    return (
        "; ".join(
            f"{feature} {verb} ({', '.join(witness.values())})"
            for feature, one in cell.facts["certificates"][name].items()
            for side, verb in (("witnesses_a", "allows"), ("witnesses_b", "forbids"))
            for witness in one[side]
        )
        or "equal"
    )


def _theorem_rows(one: Mapping[str, Any]) -> Table:
    rows: list[list[TableCell]] = [[str(k), *map(float, row)] for k, row in enumerate(one["rows"], start=1)]
    note = f"Rows that `simplify` keeps: {', '.join(map(str, one['kept']))} of {len(rows)}."
    head = ("row", *one["columns"], "bias")
    return blocks.table("Rows of Theorem 1: coefficients of each label, and bias", head, rows, note)


def _constraint_files(record: Record) -> list[Constraints]:
    return [
        Constraints(
            f"{cell.name}, {name}",
            tuple(f"constraints/{cell.name}/{name}/{feature}.json" for feature in FEATURES),
        )
        for cell in sorted(record.cells, key=lambda cell: -float(cell.at["share"] or 0))
        for name in SUPPORT
    ]


EXPERIMENT = EntityRelation()
