"""`lcons run citation`: which cells there are, how they are filled, and what a run has to say.

Paper: Sec. 5, Table 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean

from lcons_core import InvalidInput
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.data.text._spacy_tagger import TaggerProgress
from lcons_tasks.experiments.citation import _paper as paper
from lcons_tasks.experiments.citation._answers import F1, WHOLE, Cell, answers, chosen_uses, loaded
from lcons_tasks.experiments.citation._constraints import (
    C3_ROW,
    COMBINATIONS,
    DECODERS,
    PAPER,
    POS_CLUES_ROW,
    WINDOWS_ROW,
    rows_of,
)
from lcons_tasks.experiments.citation._corpus import BUNDLED, load_corpus, read_labelled, trained_on
from lcons_tasks.experiments.citation._model import base
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._blocks import Statement
from lcons_tasks.experiments.engine._examples import changes
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, corpus_named, flag, option
from lcons_tasks.experiments.engine._jobs import Phase, Piece, Tell, silent
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.experiments.engine._sequences import (
    ACCURACY,
    CHOSEN,
    EXACT,
    constraints,
    leave_files,
    shared_work,
)
from lcons_tasks.report._document import (
    Block,
    Claim,
    Claims,
    Curve,
    Document,
    Facts,
    Gains,
    Section,
    Text,
)
from lcons_tasks.stats import runs_as_iob2

PAPERS = "cora"
CURVE = (5, 10, 20, 50, 100)
CURVE_ROWS = (EXACT, WINDOWS_ROW, POS_CLUES_ROW)

# Processor seconds that a cell takes, and one of a learning curve.
_A_CELL, _OF_CURVE = 25.0, 6.0

# Which base model the parser is, the first of these that was run.
PARSERS = ("reference", "words", "words-brief", "words+pos")
# Which base models the paper's claims are about.
CLAIMED = ("words", "words-brief")
READS = {
    "words": "words alone",
    "words-brief": "words alone",
    "words+pos": "words and POS tags",
    "reference": "words, their shapes and places",
}
CHOICES = (
    "What was chosen how: passes, C and features of the base models, the recipes of constraints and their"
    " default weights once, for all splits, on dev references of Cora and of the bundled corpus; the splits"
    " of a corpus share its references, so what is dev in one is test in another, and figures on test"
    " references were in sight. In each cell, the weights"
    " of soft rows on its dev references, the default standing unless another beats it by more than one"
    f" standard error; and the row `{CHOSEN}` among the soft rows likewise, with `{POS_CLUES_ROW}` as the"
    " default."
)
BRIEF = (
    "`words-brief` is `words` stopped after 25 passes, set by eye, where it is about as strong as the paper's"
    f" {paper.ACCURACY['exact']} (86.9 on dev references of Cora): a stronger model leaves less to"
    " constraints, so gains compare like with like there only."
)
MEASURES = {"field F1": F1, "token accuracy": ACCURACY, "whole references": WHOLE}


@dataclass(frozen=True)
class Options(RunOptions):
    """What to run; the defaults are those of a quick look. `sizes` are numbers of training references of a
    learning curve, beside all of them; on it only the rows of `CURVE_ROWS` are filled."""

    needed = ("seeds", "bases", "decoders", "hidden")

    corpus: str = option(
        BUNDLED, flag("--corpus", "bundled, cora, anystyle, a file, or auto.", default="auto")
    )
    seeds: tuple[int, ...] = option((1, 2, 3, 4, 5), flag("--seed", "Which split; several.", least=0))
    bases: tuple[str, ...] = option(
        ("words", "reference"), flag("--base", "words, words-brief, words+pos or reference.")
    )
    decoders: tuple[str, ...] = option(
        ("exact", "search", "constrained-search", "soft"),
        flag("--decoder", "exact, search, constrained-search, soft, ..."),
    )
    hidden: tuple[int, ...] = option((10,), flag("--hidden", "K of the paper's features; several.", "-K"))
    sizes: tuple[int, ...] = option((), flag("--size", "Fewer training references, for a curve."))
    beam: int = option(50, flag("--beam", "Width of the search.", default=50))

    def check(self) -> None:
        for name in self.bases:
            base(name)
        rows_of(self.decoders)
        if min(self.seeds) < 0 or min(self.sizes, default=1) < 1:
            raise InvalidInput(
                f"seeds are at least 0 and sizes at least 1, found {min(self.seeds)} and"
                f" {min(self.sizes, default=1)}."
            )
        if self.beam < 1 or min(self.hidden) < 1:
            raise InvalidInput(f"beam and K are at least 1, found {self.beam} and {min(self.hidden)}.")

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """A look of a minute or two; or the whole table of the paper, and what goes beyond it."""
        name = corpus_named(corpus, PAPERS)
        if full:
            bases = ("words", "words-brief", "words+pos", "reference")
            return cls(name, bases=bases, decoders=DECODERS, hidden=(10, 5, 8), sizes=CURVE)
        return cls(name, bases=("words", "words-brief", "reference")) if name == PAPERS else cls(name)


class Citation(Experiment[Options, Cell]):
    """Label the fields of bibliographic references, and see what learned constraints add.

    Uses Cora where it is found (`lcons data list`), else a small corpus that comes with lcons. Stages are
    kept: a run that is stopped goes on where it was, and gives the same result. Leaves a parser behind, for
    `lcons parse`.

    \b
    Example:
      lcons run citation --corpus bundled --seed 1 --base words --decoder soft
    """

    name = "citation"
    options = Options
    phase = "decoding"
    leaves = ("constraints", "predictions", "parser")

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill: the tables first, then the learning curves. Other K are for the first base only;
        a corpus may have fewer training references than the usual curve."""
        whole = trained_on(len(read_labelled(options.corpus)[1]))
        curve = tuple(row for row in rows_of(("exact", "soft")) if row.name in CURVE_ROWS)
        cells = []
        for i, name in enumerate(options.bases):
            rows = tuple(rows_of(options.decoders, options.hidden if i == 0 else ()))
            cells += [
                Cell(options.corpus, seed, None, base(name), rows, options.beam, whole, i == k == 0)
                for k, seed in enumerate(options.seeds)
            ]
        return cells + [
            Cell(options.corpus, seed, size, base(name), curve, options.beam, size)
            for name in options.bases
            for size in options.sizes
            if size < whole or size not in CURVE
            for seed in options.seeds
        ]

    def seconds(self, options: Options) -> float:
        return sum(_A_CELL if cell.size is None else _OF_CURVE for cell in self.cells(options))

    def before(self, options: Options) -> list[Phase]:
        """POS tags that the corpus lacks are found first, and kept."""
        tagged = Phase("POS tags", [Piece("the corpus", partial(_read, options.corpus))])
        work = Phase("training and learning", shared_work(self.cells(options)))
        return [work] if options.corpus == BUNDLED else [tagged, work]

    def fill(self, cell: Cell, kept: Stages, tell: Tell) -> Record:
        found = answers(cell, kept, tell)
        record = found.record
        if cell.first:
            row = {row.name: row for row in cell.rows}[record.first.facts["chosen"]]
            record = record.with_facts(examples=changes(cell, found, row, kept, runs_as_iob2))
        corpus = loaded(cell.corpus, kept)
        about = {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "references": len(corpus.references),
            "pos": corpus.tagger,
        }
        return Record(record.cells, {"corpus": about})

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Constraints, predictions, and a parser: the strongest base model of all training references, first
        split, under soft windows, which need no POS tags; alone where soft rows were not run."""
        cells = self.cells(options)
        leave_files(folder, cells, lambda cell: answers(cell, kept, silent), kept)
        name = next(name for name in PARSERS if name in options.bases)
        one = next(cell for cell in cells if cell.size is None and cell.base.name == name)
        model = one.model(kept, silent)
        weights = answers(one, kept, silent).record.first.facts["weights"]
        used = [
            use
            for row in one.rows
            if row.name == WINDOWS_ROW
            for use in chosen_uses(row, weights[row.name], constraints(one, row.recipes, kept), model.labels)
        ]
        ConstrainedTagger(model, tuple(used), "exact" if used else "viterbi").save(folder / "parser")

    def document(self, options: Options, record: Record) -> Document:
        """Results by base model, the field's measure first."""
        whole = record.where(size=None).by("base")
        name, first = next(iter(whole.items()))
        size = first.first.facts["references"]["train"]
        papers = record.facts["corpus"]["name"] == PAPERS
        claimed = {base: own for base, own in whole.items() if papers and base in CLAIMED}
        return Document(
            "Citation fields with learned constraints",
            self.name,
            record.facts["corpus"]["name"],
            f"A model of reference fields ({name}) that reads {READS[name]}, against the same model under"
            " learned constraints that read words, shapes, clues and POS tags, with the row and weights that"
            " dev chose.",
            blocks.headline(
                first, F1, f"field F1, {name}, {size:,} references", CHOSEN, EXACT, **_words(first)
            ),
            (
                *(Section(base, tuple(_results(base, own))) for base, own in whole.items()),
                Section("With fewer training references", tuple(_fewer(record))),
                *(
                    Section(f"Claims of the paper, with {base}", (Claims(tuple(claims(own))),))
                    for base, own in claimed.items()
                ),
                Section(
                    f"References that changed ({name}, split {options.seeds[0]})", blocks.changed_first(first)
                ),
                Section(
                    "Constraints", blocks.constraint_files(record, lambda cell: cell.at["size"] is not None)
                ),
                Section("How it was done", tuple(_how(options, record))),
            ),
            None if papers or name == "reference" else "Cora",
            "lcons parse references.txt",
        )


def _read(name: str, kept: Stages, tell: Tell) -> None:
    def progress(step: TaggerProgress) -> None:
        tell(step.done / step.total, "training a POS tagger, which is kept for the next time")

    load_corpus(name, kept, progress)


def _words(record: Record) -> dict[str, str]:
    """What the headline says of its second figure, where dev had no constraints to choose from."""
    return {"within_is": "as dev chose, without constraints"} if set(record.told("chosen")) == {EXACT} else {}


def _results(base: str, record: Record) -> Iterator[Block]:
    def figure(row: str, measure: str) -> float | None:
        return paper.figure(base, row) if measure == ACCURACY else None

    caption = "On test references, in percent"
    columns = blocks.by_measure(record, MEASURES, figure)
    note = "Field F1 counts whole fields with exact borders; whole references those without any error."
    yield blocks.table(caption, "decoder", blocks.chosen_second(record.rows), columns, note)
    place = {_where(base, record): record}
    said = "over exact, with 95% intervals (paired bootstrap over references)"
    pairs = [(row, EXACT) for row in record.rows if row != EXACT]
    yield Gains(f"Gains in points of field F1 {said}", blocks.gains(place, [(CHOSEN, EXACT)], F1))
    yield Gains(f"Gains in points of token accuracy {said}", blocks.gains(place, pairs, ACCURACY))
    yield Text(f"{_choices(record)} {_training(record)}")
    if record.first.facts["constraints"]:
        yield blocks.rejections(record, {"": record}, "references")


def _where(base: str, record: Record) -> str:
    return f"{base}, {record.first.facts['references']['train']:,} references"


def _choices(record: Record) -> str:
    """Which row and weights dev chose."""
    picks = zip(record.told("chosen"), record.told("weights", CHOSEN), strict=True)
    told = (f"{row} ({', '.join(f'{w:g}' for w in weights)})" if weights else row for row, weights in picks)
    return f"Chosen on dev, with its weights, one per split: {'; '.join(told)}."


def _training(record: Record) -> str:
    passes, gap = (mean(record.told("training", key)) for key in ("passes", "gap"))
    return (
        f"Trained for {passes:.0f} passes; at most {gap:.3f} above the least objective (duality gap), in"
        " errors per reference on average."
    )


def _fewer(record: Record) -> Iterator[Block]:
    sizes = sorted({cell.facts["references"]["train"] for cell in record.cells})
    if len(sizes) < 2:
        return
    lines: dict[str, dict[float, float]] = {}
    for name, own in record.by("base").items():
        groups = {
            size: Record(tuple(c for c in own.cells if c.facts["references"]["train"] == size))
            for size in sizes
        }
        columns = {f"{size:,} references": one for size, one in groups.items()}
        rows = (*CURVE_ROWS, CHOSEN)
        yield blocks.by_group(f"{name}: token accuracy, in percent", columns, ACCURACY, rows=rows)
        yield blocks.by_group(f"{name}: field F1, in percent", columns, F1, rows=rows)
        few = {_where(name, one): one for one in groups.values() if one.first.at["size"] is not None}
        pairs = [(row, EXACT) for row in (*CURVE_ROWS[1:], CHOSEN)]
        yield Gains(
            f"{name}: gains in points of token accuracy over exact, with 95% intervals",
            blocks.gains(few, pairs, ACCURACY),
        )
        for row in (EXACT, CHOSEN):
            lines[f"{name}, {row}"] = {float(size): one.mean(row, ACCURACY) for size, one in groups.items()}
    caption = f"Token accuracy by training references ({record.facts['corpus']['name']})"
    yield Curve(caption, "training references", "token accuracy (%)", lines)


def claims(record: Record) -> list[Claim]:
    """What the paper says of its table, checked on ours, as far as the rows are there."""
    singles = tuple(f"{name} search" for name in PAPER if record.has(f"{name} search"))
    combined = tuple(f"{name} search" for name in COMBINATIONS if record.has(f"{name} search"))
    found = blocks.check(
        record,
        [
            Statement(
                f"every constrained search beats {over}", (*singles, *combined), ACCURACY, over, above=0.0
            )
            for over in ("exact", "search")
            if singles
        ],
    )
    if singles and combined:
        single, both = (max(record.mean(row, ACCURACY) for row in rows) for rows in (singles, combined))
        text = "combining constraints helps (the best combination beats the best single feature)"
        found.append(Claim(text, both > single, f"{both:.2f} against {single:.2f}"))
    stated = paper.ACCURACY["C3 search"] - paper.ACCURACY["exact"]
    found += blocks.check(
        record,
        [
            *(
                Statement(f"{name} gains {stated:+.1f} over exact", (row,), ACCURACY, EXACT, least=stated)
                for row, name in (
                    ("C3 search", "all six combined"),
                    (C3_ROW, "(not in the paper) the combination, soft,"),
                )
            ),
            Statement(
                "(not in the paper) learned constraints, some on a list of clue words, reach the hand-crafted"
                f" {paper.HAND_CRAFTED}",
                (CHOSEN,),
                ACCURACY,
                least=paper.HAND_CRAFTED,
            ),
        ],
    )
    for name in PAPER:
        figures = {
            row: record.mean(row, ACCURACY)
            for row in record.rows
            if row.partition(" K=")[0] == f"{name} search"
        }
        if len(figures) > 1:
            spread = max(figures.values()) - min(figures.values())
            told = ", ".join(f"K = {row.partition(' K=')[2] or 10}: {v:.2f}" for row, v in figures.items())
            found.append(Claim(f"K hardly matters ({name}: within half a point)", spread <= 0.5, told))
    return found


def _how(options: Options, record: Record) -> Iterator[Block]:
    corpus, sizes = record.facts["corpus"], record.first.facts["references"]
    yield Facts(
        "The run",
        (
            ("corpus", f"{corpus['name']}, {corpus['what']}"),
            (
                "references",
                f"{corpus['references']:,}, split by seed into {sizes['train']} for training, {sizes['dev']}"
                f" for dev and {sizes['test']} for test",
            ),
            ("sha256", corpus["sha256"][:12]),
            ("POS tags", corpus["pos"]),
            ("splits", ", ".join(map(str, options.seeds))),
            ("beam", str(options.beam)),
            (
                "figures",
                "on the test references, mean ± standard deviation over splits; gains are paired by split"
                " and pooled over all tested tokens",
            ),
        ),
    )
    yield Text(CHOICES)
    if "words-brief" in options.bases:
        yield Text(BRIEF)


EXPERIMENT = Citation()
