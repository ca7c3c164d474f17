"""`lcons run er`: the cells, how they are filled, and the document of a run.

Paper: Sec. 4 and 4.1, Table 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core import save
from lcons_tasks.apps._extractor import Extractor
from lcons_tasks.atomic import replacing_folder, write_text
from lcons_tasks.data._passage import Labelled
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._blocks import render
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._run import Experiment, RunOptions, corpus_named, option
from lcons_tasks.experiments.entity_relation._answers import LEARNED, SUPPORT, Cell
from lcons_tasks.experiments.entity_relation._constraints import FEATURES
from lcons_tasks.experiments.entity_relation._corpus import PAPERS, load_corpus
from lcons_tasks.experiments.entity_relation._model import PASSES, Answer, C
from lcons_tasks.report._document import Claim, Constraints, Document

PAPER = blocks.read_paper(__file__)
SPLITS, CURVE = tuple(range(1, 11)), (10, 20, 50, 100, 200)

# Processor seconds per cell, and per training sentence.
_A_CELL, _A_SENTENCE = 4.0, 0.015


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run; the defaults are those of a quick run. `sizes` are the numbers of training
    sentences of a learning curve, besides all of them."""

    corpus: str = option(
        "bundled",
        "--corpus",
        "bundled, conll04, a file, or auto (conll04 if found, otherwise bundled).",
        default="auto",
    )
    splits: tuple[int, ...] = option((1, 2, 3), "--split", "Seed of a split; repeat for several.", least=0)
    sizes: tuple[int, ...] = option(
        (), "--size", "Number of training sentences, for a learning curve; repeat for several.", least=1
    )
    C: float = C
    passes: int = PASSES

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """A run of one or two minutes; with `full`, ten splits and a learning curve."""
        name = corpus_named(corpus, PAPERS)
        return cls(name, SPLITS, CURVE) if full else cls(name)


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
        """The cells to fill: first those of the tables, then those of the learning curve. Sizes that exceed
        the training sentences are left out."""
        whole = len(load_corpus(options.corpus).split(0)[0])
        return [
            Cell(options.corpus, split, size, options.C, options.passes, first=not size and k == 0)
            for size in (0, *options.sizes)
            if size < whole
            for k, split in enumerate(options.splits)
        ]

    def cost(self, cell: Cell) -> float:
        return _A_CELL + _A_SENTENCE * (cell.size or len(load_corpus(cell.corpus).passages))

    def fill(self, cell: Cell, kept: Stages) -> Record:
        return cell.answers(kept).record

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraints, the predictions, and an extractor of the first split."""
        with (
            replacing_folder(folder / "constraints") as constraints,
            replacing_folder(folder / "predictions") as predictions,
        ):
            for cell in self.cells(options):
                answers = cell.answers(kept)
                for name, of_set in answers.learned.items():
                    target = constraints / cell.name / name
                    target.mkdir(parents=True)
                    for feature, constraint in of_set.items():
                        save(constraint, target / f"{feature}.json")
                rows = zip(cell.parts()[1], answers.without, answers.within, strict=True)
                lines = (json.dumps(_prediction(*row), ensure_ascii=False) for row in rows)
                write_text(predictions / f"{cell.name}.jsonl", "".join(f"{line}\n" for line in lines))
                if answers.model is not None:
                    Extractor(answers.model, answers.learned[LEARNED]).save(folder / "extractor")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: results by the constraints in training and in prediction."""
        whole = record.where(size=record.first.at["size"])
        equal = {name: [_recovered(cell, name) for cell in whole.cells] for name in SUPPORT}
        differ = whole.told("differ", LEARNED)
        return render(
            self,
            record.facts["corpus"]["name"],
            record=record,
            paper=PAPER,
            papers=record.facts["corpus"]["name"] == PAPERS,
            whole=whole,
            by_size=blocks.groups(
                Record(tuple(sorted(record.cells, key=lambda cell: float(cell.at["size"] or 0)))),
                "size",
                "{size:,} sentences",
            ),
            # The paper's figures of models that are trained and tested with the same constraints.
            stated={
                "entity F1": {f"{name} / {name}": f1["entity f1"] for name, f1 in PAPER["f1"].items()},
                "relation F1": {f"{name} / {name}": f1["relation f1"] for name, f1 in PAPER["f1"].items()},
            },
            claim=_claim,
            recovered=equal,
            alike=[same and not number for same, number in zip(equal[LEARNED], differ, strict=True)],
            comparisons=list(map(_comparison, whole.cells)),
            files=[
                Constraints(
                    f"{cell.name}, {name}",
                    tuple(f"constraints/{cell.name}/{name}/{feature}.json" for feature in FEATURES),
                )
                for cell in record.cells
                for name in SUPPORT
            ],
        )


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


def _recovered(cell: RecordCell, name: str) -> bool:
    """Whether all three learned constraints of a set are proven equal to the designed ones."""
    return all(comparison["outcome"] == "equal" for comparison in cell.facts["certificates"][name].values())


def _claim(text: str, held: Sequence[bool], where: str) -> Claim:
    """A claim about each split."""
    return Claim(text, all(held), f"{where} {sum(held)} of {len(held)} splits")


def _comparison(cell: RecordCell) -> list[str]:
    """A split, and by set the combinations on which learned and designed constraints differ, and the number
    of sentences whose predictions do."""
    row = [str(cell.at["split"])]
    for name in SUPPORT:
        differences = [
            f"{feature} {verb} ({', '.join(witness.values())})"
            for feature, comparison in cell.facts["certificates"][name].items()
            for side, verb in (("witnesses_a", "allows"), ("witnesses_b", "forbids"))
            for witness in comparison[side]
        ]
        differ = cell.facts["differ"][name]
        row += ["; ".join(differences) or "equal", f"{differ} sentences differ" if differ else "identical"]
    return row


EXPERIMENT = EntityRelation()
