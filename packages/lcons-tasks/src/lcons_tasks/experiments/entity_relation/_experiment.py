"""`lcons run er`: the cells, how they are filled, and the document of a run.

Paper: Sec. 4, Table 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

from lcons_core import InvalidInput, LearnedConstraint, explain, save, simplify, to_inequalities
from lcons_decode import RelationRules, decode_relations
from lcons_tasks.apps._extractor import Extractor
from lcons_tasks.atomic import replacing_folder, write_text
from lcons_tasks.data._passage import ENTITIES, RELATIONS, Labelled, Passage
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._blocks import Statement
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, corpus_named, flag, option
from lcons_tasks.experiments.engine._jobs import Phase, Piece, Tell, silent
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.entity_relation import _paper as paper
from lcons_tasks.experiments.entity_relation._answers import (
    DESIGNED,
    LEARNED,
    LEARNED_ALL,
    NONE,
    PENALTIES,
    SEEDED,
    SEEN,
    SETS,
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
from lcons_tasks.experiments.entity_relation._constraints import FEATURES, combination_counts
from lcons_tasks.experiments.entity_relation._corpus import split
from lcons_tasks.experiments.entity_relation._examples import changed
from lcons_tasks.experiments.entity_relation._measures import Answer
from lcons_tasks.models._relation_svm import MISS, PASSES, train_relations
from lcons_tasks.models._structured_svm import SvmSettings
from lcons_tasks.report._document import (
    Block,
    Claim,
    Claims,
    Constraints,
    Document,
    Facts,
    Figure,
    Gains,
    Listing,
    Section,
    Table,
    TableCell,
    Text,
)

PAPERS = "conll04"
GRID = (C,)
SPLITS = tuple(map(str, range(1, 11)))
CURVE, NOISE = (10, 20, 50, 100, 200), (0.02, 0.05, 0.1)
ENTITY, RELATION = "entity f1", "relation f1"
FIGURES = {
    name.replace("f1", "F1"): name
    for name in (RELATION, ENTITY, "relation macro f1", "entity macro f1", "strict relation f1")
}

# Processor seconds per cell, per training sentence, and in addition per tried C.
_A_CELL, _A_SENTENCE, _A_TRIAL = 4.0, 0.01, 0.005

CHOICES = (
    "How choices were made. Once, on the last fifth of the training sentences of splits 11 to 16 of Roth and"
    " Yih's corpus: most features and the cost of a miss. Once, by five-fold cross-validation on the training"
    " sentences of the published splits, which share one test set: the clusters of word vectors, the default"
    " C, and the constraint on sentences. Those sentences are test sentences of the seeded splits, but none"
    " is a test sentence of a published split. If several values of C are given, one is chosen in each split"
    " on the last fifth of its training sentences: the first one, or the default C if it is among them, is"
    " replaced only if another C beats its entity and relation F1 together by more than one standard error;"
    " then the model is trained on all training sentences. Chosen after figures on test sentences were seen:"
    " this rule; and that more features were tried at all."
)
ROWS = (
    "Rows of the tables: the constraints in training / the constraints in prediction. `none`: no constraints."
    " `designed`: the fifteen constraints of the paper, written by hand. `learned`: constraints learned from"
    " combinations of labels that at least two pairs of candidates show. `learned-all`: from all combinations"
    " that occur. Baselines without networks: `table` allows the combinations that at least two pairs show;"
    " `penalties` gives each combination a weight, learned together with the model. `sentence`: besides, a"
    " sentence has some relation, a constraint learned from the training sentences, all of which have one"
    " because the corpus was selected that way; it does not hold for running text."
)
MEASURES = (
    "Micro F1 (the columns without `macro`) counts all labels except NoEnt and NoRel, on given candidates. A"
    " relation is correct if its ordered pair and its label are correct; `strict` also needs the correct"
    " labels of both candidates. Macro F1 is the mean of the F1 of each label. Decoding is exact, and ties go"
    " to the first labelling in the declared order of labels."
)


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run; the defaults are those of a quick run. `shares` and `sizes` are the shares and
    the numbers of training sentences of a learning curve, besides all of them, and `noise` the shares of
    wrong labels in them; on seeded splits and with the default C."""

    needed = ("splits", "grid")

    corpus: str = option(
        "bundled",
        flag(
            "--corpus",
            "bundled, conll04, a file, or auto (conll04 if found, otherwise bundled).",
            default="auto",
        ),
    )
    splits: tuple[str, ...] = option(
        ("1", "2", "3"),
        flag("--seed", "Seed of a split, the same as --split N; repeat for several.", kind=int, least=0),
        flag("--split", "Seed of a split, or the name of a published split; repeat for several."),
    )
    shares: tuple[float, ...] = option(
        (),
        flag("--share", "Share of the training data, such as 0.1, for a learning curve; repeat for several."),
    )
    grid: tuple[float, ...] = option(GRID, flag("-C", "C of the SVM; repeat to choose among several on dev."))
    miss: float = MISS
    passes: int = option(PASSES, flag("--passes", "Passes over the training sentences.", least=1))
    sizes: tuple[int, ...] = option(
        (),
        flag("--size", "Number of training sentences, for a learning curve; repeat for several.", least=1),
    )
    noise: tuple[float, ...] = option(
        (), flag("--noise", "Share of wrong labels in the training data, such as 0.05; repeat for several.")
    )

    def check(self) -> None:
        if not all(0 < share <= 1 for share in (*self.shares, *self.noise)):
            raise InvalidInput(
                "the arguments `shares` and `noise` must be above 0 and at most 1: got"
                f" {self.shares} and {self.noise}."
            )
        if not all(size >= 1 for size in self.sizes):
            raise InvalidInput(f"the argument `sizes` must be at least 1: got {self.sizes}.")
        if not all(value > 0 for value in (*self.grid, self.miss)) or self.passes < 1:
            raise InvalidInput(
                "the argument `grid` (the values of C) and the argument `miss` must be above 0, and the"
                f" argument `passes` must be at least 1: got {self.grid}, {self.miss} and {self.passes}."
            )

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
      lcons run er --corpus bundled --split 1 -C 0.03125
    """

    name = "er"
    options = Options
    phase = "training and decoding"
    leaves = ("constraints", "predictions", "extractor")

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill: first those of the tables, then those of the learning curve."""
        rest = (options.miss, options.passes)
        whole = [
            Cell(options.corpus, name, 1.0, options.grid, *rest, first=k == 0)
            for k, name in enumerate(options.splits)
        ]
        default = (C,) if C in options.grid or len(options.grid) > 1 else options.grid
        other: list[dict[str, Any]] = [{"share": share} for share in options.shares if share < 1]
        other += [{"size": size} for size in options.sizes] + [{"noise": noise} for noise in options.noise]
        return whole + [
            replace(cell, grid=default, first=False, **changed)
            for changed in other
            for cell in whole
            if cell.seeded
        ]

    def seconds(self, options: Options) -> float:
        corpus = loaded(options.corpus)
        for name in options.splits:
            split(corpus, name)
        sentences = len(corpus.passages)
        return _A_CELL * len(self.cells(options)) + sum(
            (cell.size or cell.share * sentences) * (_A_SENTENCE + _A_TRIAL * len(cell.grid))
            for cell in self.cells(options)
        )

    def before(self, options: Options) -> list[Phase]:
        return [Phase("compiling", [Piece("the decoder", _compile)])]

    def fill(self, cell: Cell, kept: Stages, tell: Tell) -> Record:
        found = answers(cell, kept, tell)
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
                found = answers(cell, kept, silent).answers
                rows = zip(parts(cell).test, found[WITHOUT], found[WITHIN], strict=True)
                lines = (json.dumps(_prediction(*row), ensure_ascii=False) for row in rows)
                write_text(made / f"{cell.name}.jsonl", "".join(f"{line}\n" for line in lines))
        model, _, _ = final_model(cells[0], LEARNED, kept, silent)
        Extractor(model, constraints(cells[0], LEARNED, kept)).save(folder / "extractor")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: results by the constraints in training and in prediction."""
        clean = Record(tuple(cell for cell in record.cells if not cell.at.get("noise")), record.facts)
        groups = clean.by("group", "share", "size")
        whole = next(iter(groups.values()))
        papers = record.facts["corpus"]["name"] == PAPERS
        published = {
            name: own
            for (name, share, size), own in groups.items()
            if share == 1 and not size and name != SEEDED
        }
        which = whole.first.at["split"]
        said = f"relation F1, {_trained_on(whole):,} training sentences"
        return Document(
            "Entities and relations with learned constraints",
            self.name,
            record.facts["corpus"]["name"],
            "A model that reads words, POS tags and the order of given candidates, compared with the same"
            " model trained and tested under learned constraints, which read only labels: which relation may"
            " hold between which entities.",
            blocks.headline(whole, RELATION, said, WITHIN, WITHOUT),
            (
                Section("With less training data", tuple(_curve(clean, groups))),
                Section("Trained and tested with constraints", tuple(_results(whole, papers))),
                Section("What constraints add", tuple(_gains(groups))),
                Section("Published splits", tuple(_published(published))),
                Section("With errors in the training data", tuple(_noise(record))),
                Section("Claims of the paper", (Claims(tuple(claims(whole))),) if papers else ()),
                Section("C of the SVM", tuple(_by_C(whole))),
                Section(
                    "Do learned and designed constraints allow the same?",
                    tuple(_certificates([whole, *published.values()])),
                ),
                *(
                    Section(f"{name}, learned from split {which}", tuple(_constraint(one)))
                    for name, one in whole.first.facts["learned"].items()
                ),
                Section(f"Sentences that changed (split {which})", tuple(_changed(whole.first))),
                Section("Constraints", tuple(_constraints(record))),
                Section("How it was done", (_facts(whole, record), Text(CHOICES))),
            ),
            None if papers else "Roth and Yih's corpus",
            "lcons extract --candidates spacy news.txt",
        )


def _compile(kept: Stages, tell: Tell) -> None:
    """Trains and decodes on two tiny passages, so that the kernels are compiled and cached before several
    processes need them."""
    passage = Passage(("A", "B"), ("NN", "NN"), ((0, 1), (1, 2)))
    tiny = [Labelled("1", passage, ENTITIES[1:3], {(0, 1): RELATIONS[2]})]
    none = RelationRules.none(ENTITIES, RELATIONS)
    model, _ = train_relations(tiny, none, SvmSettings(C=1.0, passes=1), parts=combination_counts())
    decode_relations(model.scores(passage))


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


def _stated(row: str, measure: str) -> float | None:
    """The paper's figure for a model that is trained and tested with the same constraints; else None."""
    trained, _, tested = row.partition(" / ")
    return paper.F1.get(trained, {}).get(measure) if trained == tested else None


def _results(record: Record, papers: bool) -> Iterator[Block]:
    columns = blocks.by_measure(record, FIGURES, _stated)
    rows = [WITHOUT, WITHIN, *(row for row in record.rows if row not in (WITHOUT, WITHIN))]
    where = SEEDED if record.first.at["group"] == SEEDED else record.first.at["split"]
    caption = f"Test sentences of {where}, in percent"
    yield Text(ROWS)
    yield blocks.table(caption, "trained / tested with", rows, columns, MEASURES)
    pairs, sentences = (sum(record.told("broken", key)) for key in ("pairs", "sentences"))
    yield Text(
        f"Without constraints in training or prediction, {sentences:,} of"
        f" {sum(record.told('sentences', 'test')):,} predicted sentences break a designed constraint, in"
        f" {pairs:,} pairs of candidates."
    )


# What is compared: a row, and the row that it is compared with.
COMPARED = ((WITHIN, WITHOUT), (WITHIN, SEEN), (WITHIN, WEIGHED), (SOME, WITHIN))
Groups = Mapping[tuple[str, float, int], Record]


def _gains(groups: Groups) -> Iterator[Block]:
    places = {f"{name}, {_trained_on(own):,} sentences": own for (name, *_), own in groups.items()}
    note = "with 95% intervals (paired bootstrap over sentences)"
    for measure in (RELATION, ENTITY):
        caption = f"Gains in points of {measure.replace('f1', 'F1')}, {note}"
        yield Gains(caption, blocks.gains(places, COMPARED, measure))


def _curve(record: Record, groups: Groups) -> Iterator[Block]:
    seeded = sorted((own for (name, *_), own in groups.items() if name == SEEDED), key=_trained_on)
    if len(seeded) < 2:
        return
    yield Text(
        "With less training data, C has its default value, and constraints are learned from the same"
        " sentences as the model."
    )
    columns = {f"{_trained_on(own)} sentences": own for own in seeded}
    rows = [WITHOUT, SEEN, WITHIN, row_of(DESIGNED, DESIGNED), WEIGHED, row_of(NONE, LEARNED), SOME]
    rows = [row for row in rows if any(row in own.rows for own in seeded)]
    for measure in (RELATION, ENTITY):
        caption = f"Test sentences, {measure.replace('f1', 'F1')} by number of training sentences, in percent"
        yield blocks.by_group(caption, columns, measure, rows=rows, head="trained / tested with")
    yield _otherwise(
        "Labels of two candidates that are judged otherwise than by the designed constraints, of 576", columns
    )
    sizes = {own.first.at["size"] or own.first.at["share"]: float(_trained_on(own)) for own in seeded}
    lines = {
        "learned constraints": WITHIN,
        "a table of what was seen": SEEN,
        "designed constraints": row_of(DESIGNED, DESIGNED),
        "no constraints": WITHOUT,
    }
    found = blocks.curve(
        f"Relation F1 by number of training sentences, corpus {record.facts['corpus']['name']}",
        "training sentences",
        "relation F1 (%)",
        record.where(group=SEEDED),
        lambda cell: sizes[cell.at["size"] or cell.at["share"]],
        lines,
        RELATION,
    )
    if found is not None:
        yield found


def _otherwise(caption: str, columns: Mapping[str, Record]) -> Table:
    """The number of wrong verdicts of the table and of the networks."""
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (
            name,
            *(Figure(tuple(map(float, own.told("otherwise", name))), digits=1) for own in columns.values()),
        )
        for name in (TABLE, LEARNED, LEARNED_ALL)
    )
    note = "The labels of two candidates and the relations between them; 0: the same set."
    return Table(caption, ("set", *columns), rows, note)


def _noise(record: Record) -> Iterator[Block]:
    seeded = dict(sorted(record.where(group=SEEDED, share=1.0, size=0).by("noise").items()))
    if len(seeded) < 2:
        return
    yield Text(
        "Each label of a candidate and of a relation of the training sentences is replaced with this"
        " probability by another label. C has its default value."
    )
    columns = {f"{blocks.percent(noise)} wrong": own for noise, own in seeded.items()}
    rows = [WITHOUT, SEEN, WITHIN, row_of(DESIGNED, DESIGNED), WEIGHED]
    caption = "Test sentences, relation F1 by share of wrong labels, in percent"
    yield blocks.by_group(caption, columns, RELATION, rows=rows, head="trained / tested with")
    yield _otherwise("With wrong labels: labels of two candidates that are judged otherwise, of 576", columns)
    caption = "With wrong labels: gains in points of relation F1, with 95% intervals"
    yield Gains(caption, blocks.gains(columns, [(WITHIN, WITHOUT), (WITHIN, SEEN)], RELATION))


def _published(found: Mapping[str, Record]) -> Iterator[Block]:
    if not found:
        return
    rows: list[tuple[TableCell, ...]] = [
        (name, *(Figure((value,), digits=1) for value in stated), None, None)
        for name, stated in paper.PUBLISHED.items()
    ]
    for name, own in found.items():
        for row in (WITHOUT, WITHIN, SOME):
            if row in own.rows:
                measures = (ENTITY, RELATION, "entity macro f1", "relation macro f1")
                rows.append((f"{name}: {row}", *(own.figure(row, one, digits=1) for one in measures)))
    head = ("system", "entity F1", "relation F1", "entity macro F1", "relation macro F1")
    note = (
        "Published systems without a pretrained encoder, candidates given; they average in different ways, so"
        " compare with both of ours. The dev part of a published split is used as the end of its training"
        " data."
    )
    yield Table(
        "Published systems, and this model on the published splits, in percent", head, tuple(rows), note
    )
    rows_ = [WITHOUT, WITHIN, SOME, row_of(DESIGNED, DESIGNED), SEEN, WEIGHED]
    for name, own in found.items():
        shown = [row for row in rows_ if row in own.rows]
        columns = blocks.by_measure(own, FIGURES)
        yield blocks.table(f"Test sentences of {name}, in percent", "trained / tested with", shown, columns)


def recovered(cell: RecordCell, name: str) -> bool:
    """Whether all three learned constraints of a set are proven equal to the designed ones."""
    return all(one["outcome"] == "equal" for one in cell.facts["certificates"][name].values())


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record."""
    cells = record.cells
    found = []
    for name, text in (
        (LEARNED, "learned constraints recover the designed ones exactly (two pairs of candidates)"),
        (LEARNED_ALL, "the same from all combinations that occur, as in the paper"),
    ):
        equal = sum(recovered(cell, name) for cell in cells)
        found.append(Claim(text, equal == len(cells), f"in {equal} of {len(cells)} splits"))
    same = sum(recovered(cell, LEARNED) and not cell.facts["differ"][LEARNED] for cell in cells)
    text = "models with learned and designed constraints differ only by solver ties (here: not at all)"
    found.append(Claim(text, same == len(cells), f"identical predictions in {same} of {len(cells)} splits"))
    return found + blocks.check(
        record,
        [
            Statement(
                f"(ours) {measure.replace('f1', 'F1')} with designed constraints reaches the paper's"
                f" {paper.F1[DESIGNED][measure]}",
                (row_of(DESIGNED, DESIGNED),),
                measure,
                least=paper.F1[DESIGNED][measure],
            )
            for measure in (ENTITY, RELATION)
        ],
    )


def _by_C(record: Record) -> Iterator[Block]:
    rows: list[tuple[TableCell, ...]] = []
    for name in (*SETS, PENALTIES):
        chosen = record.told("training", name, "C")
        for k, tried in enumerate(record.first.facts["training"][name]["tried"]):
            dev = [one[k] for one in record.told("training", name, "tried")]
            figures = [Figure(tuple(one[measure] for one in dev)) for measure in (ENTITY, RELATION)]
            times = f"{chosen.count(tried['C'])} of {len(chosen)}"
            rows.append((f"{name}, C = {tried['C']:g}", *figures, times))
    if not rows:
        yield Text(f"C = {record.first.facts['training'][LEARNED]['C']:g}, as given in the options.")
        return
    gap = max(one for name in SETS for one in record.told("training", name, "gap"))
    head = ("trained and tested with", "entity F1 (dev)", "relation F1 (dev)", "splits that chose this C")
    note = (
        f"The paper's C is 2^-6 = {paper.C:g}. Training stops at most {gap:.2f} errors per sentence above the"
        " least possible objective (duality gap)."
    )
    yield Table("Figures on dev sentences for each C, in percent", head, tuple(rows), note)


def _certificates(found: Sequence[Record]) -> Iterator[Block]:
    """The comparison of learned with designed constraints in each split."""
    rows = []
    for cell in (cell for record in found for cell in record.cells):
        row = [str(cell.at["split"])]
        for name in SUPPORT:
            differ = cell.facts["differ"][name]
            row += [_told(cell, name), "identical" if not differ else f"{differ} sentences differ"]
        rows.append(tuple(row))
    points = [one["points"] for one in found[0].first.facts["certificates"][LEARNED].values()]
    note = (
        f"Constraints were compared on all {' + '.join(map(str, points))} combinations in exact arithmetic."
        f" `{LEARNED}` uses combinations that at least two pairs of candidates show, `{LEARNED_ALL}` all that"
        " occur. Predictions are those of the model that was trained and tested with these constraints,"
        " compared with those of the model with designed constraints."
    )
    head = ("split", *(f"{name}: {what}" for name in SUPPORT for what in ("constraints", "predictions")))
    yield Table("Learned constraints compared with the designed ones", head, tuple(rows), note)


def _told(cell: RecordCell, name: str) -> str:
    """`equal`, or the combinations on which learned and designed constraints differ."""
    found = []
    for feature, one in cell.facts["certificates"][name].items():
        for side, words in (("witnesses_a", "allows"), ("witnesses_b", "forbids")):
            found += [f"{feature} {words} ({', '.join(witness.values())})" for witness in one[side]]
    return "; ".join(found) or "equal"


def _constraint(one: Mapping[str, Any]) -> Iterator[Block]:
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (str(k), *map(float, row)) for k, row in enumerate(one["rows"], start=1)
    )
    note = f"Rows that `simplify` keeps: {', '.join(map(str, one['kept']))} of {len(rows)}."
    yield Table(
        "Rows of Theorem 1: coefficients of each label, and bias",
        ("row", *one["columns"], "bias"),
        rows,
        note,
    )
    yield Text("The same constraint in words:")
    yield Listing(tuple(one["rules"]))


def _changed(cell: RecordCell) -> Iterator[Block]:
    yield Text(
        "`before` is without constraints in training and prediction, `after` with learned constraints in"
        " both."
    )
    yield blocks.changed(cell.name, cell.facts["examples"], f"predictions/{cell.name}.jsonl")


def _constraints(record: Record) -> Iterator[Block]:
    for cell in sorted(record.cells, key=lambda cell: -float(cell.at["share"] or 0)):
        for name in SUPPORT:
            files = tuple(f"constraints/{cell.name}/{name}/{feature}.json" for feature in FEATURES)
            yield Constraints(f"{cell.name}, {name}", files, f"predictions/{cell.name}.jsonl")


def _facts(whole: Record, record: Record) -> Facts:
    corpus, sizes = record.facts["corpus"], whole.first.facts["sentences"]
    splits = ", ".join(str(cell.at["split"]) for cell in whole.cells)
    return Facts(
        "The run",
        (
            ("corpus", f"{corpus['name']}, {corpus['what']}; {corpus['sentences']:,} sentences"),
            ("sha256", corpus["sha256"][:12]),
            (
                f"split {whole.first.at['split']}",
                f"{sizes['train']} sentences for training and {sizes['test']} for test",
            ),
            ("figures", f"mean ± standard deviation over splits (here: {splits})"),
        ),
    )


EXPERIMENT = EntityRelation()
