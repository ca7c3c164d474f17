"""`lcons run citation`: the cells, how they are filled, and the document of a run.

Paper: Sec. 5, Table 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from lcons_core import InvalidInput
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.data.text._spacy_tagger import TaggerProgress
from lcons_tasks.experiments.citation import _paper as paper
from lcons_tasks.experiments.citation._answers import F1, WHOLE, Cell, answers, chosen_uses, loaded
from lcons_tasks.experiments.citation._constraints import (
    C3_ROW,
    CLUES_ROW,
    COMBINATIONS,
    DECODERS,
    PAPER,
    POS_CLUES_ROW,
    WINDOWS_ROW,
    parser_weights,
    rows_of,
)
from lcons_tasks.experiments.citation._corpus import BUNDLED, load_corpus, read_labelled, trained_on
from lcons_tasks.experiments.citation._model import base
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._baseline_blocks import WORDS as BASELINES_READ
from lcons_tasks.experiments.engine._baseline_blocks import added_by_networks, baseline_names
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
    TableCell,
    Text,
)
from lcons_tasks.stats import runs_as_iob2

PAPERS = "cora"
CURVE = (5, 10, 20, 50, 100)
CURVE_ROWS = (EXACT, WINDOWS_ROW, POS_CLUES_ROW)

# Processor seconds per cell of the tables, and per cell of a learning curve.
_A_CELL, _OF_CURVE = 25.0, 6.0

# The base model of the parser is the first of these that was run.
PARSERS = ("reference", "words", "words-brief", "words+pos")
# The base models of the paper's claims.
CLAIMED = ("words", "words-brief")
READS = {
    "words": "only words",
    "words-brief": "only words",
    "words+pos": "words and POS tags",
    "reference": "words, their shapes and positions",
}
CHOICES = (
    "How choices were made. Once for all splits, on dev references of Cora and of the bundled corpus: the"
    " passes, C and features of the base models, the recipes of the constraints, and their default weights."
    " The splits of a corpus share its references, so a dev reference of one split is a test reference of"
    " another, and figures on test references were visible during these choices. In each cell, on its dev"
    f" references: the weights of the soft rows, and the row `{CHOSEN}` among the soft rows. The default (for"
    f" the row: `{POS_CLUES_ROW}`) is replaced only if another setting beats it by more than one standard"
    " error."
)
BRIEF = (
    "`words-brief` is `words` stopped after 25 passes. This number was chosen by eye so that the model is"
    f" about as strong as the paper's, which reaches {paper.ACCURACY['exact']} (`words-brief` reaches 86.9 on"
    " dev references of Cora). A stronger model leaves less for constraints to correct, so only the gains of"
    " `words-brief` can be compared with the paper's."
)
ROWS = (
    f"Rows of the tables: `{EXACT}` and `search` decode without constraints, by Viterbi and by beam search."
    " `NAME search` decodes under a hard constraint by beam search, or under several: C1 is existence and"
    " trigram, C2 adds pos, and C3 is all six. `NAME exact` decodes exactly under hard constraints, `soft"
    f" NAME` exactly under soft constraints. `{CHOSEN}` is the row that was chosen on dev references."
)
MEASURES = {"field F1": F1, "token accuracy": ACCURACY, "whole references": WHOLE}


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run; the defaults are those of a quick run. `sizes` are the numbers of training
    references of a learning curve, besides all of them; its cells have only the rows of `CURVE_ROWS`."""

    needed = ("seeds", "bases", "decoders", "hidden")

    corpus: str = option(
        BUNDLED,
        flag(
            "--corpus",
            "bundled, cora, anystyle, a file, or auto (cora if found, otherwise bundled).",
            default="auto",
        ),
    )
    seeds: tuple[int, ...] = option(
        (1, 2, 3, 4, 5), flag("--seed", "Seed of a split; repeat for several.", least=0)
    )
    bases: tuple[str, ...] = option(
        ("words", "reference"),
        flag("--base", "words, words-brief, words+pos or reference; repeat for several."),
    )
    decoders: tuple[str, ...] = option(
        ("exact", "search", "constrained-search", "soft", "baselines"),
        flag(
            "--decoder",
            "exact, search, constrained-search, all-negatives, constrained-exact, soft, designed, baselines"
            " or window-crf; repeat for several.",
        ),
    )
    hidden: tuple[int, ...] = option(
        (10,), flag("--hidden", "Hidden units K of the paper's features; repeat for several.", "-K")
    )
    sizes: tuple[int, ...] = option(
        (), flag("--size", "Number of training references of a learning curve; repeat for several.")
    )
    beam: int = option(50, flag("--beam", "Width of the beam search.", default=50))

    def check(self) -> None:
        for name in self.bases:
            base(name)
        rows_of(self.decoders)
        if min(self.seeds) < 0 or min(self.sizes, default=1) < 1:
            raise InvalidInput(
                "the argument `seeds` must be at least 0 and the argument `sizes` at least 1: got"
                f" {min(self.seeds)} and {min(self.sizes, default=1)}."
            )
        if self.beam < 1 or min(self.hidden) < 1:
            raise InvalidInput(
                "the argument `beam` and the argument `hidden` must be at least 1: got"
                f" {self.beam} and {min(self.hidden)}."
            )

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """A run of one or two minutes; with `full`, the paper's whole table and additional rows."""
        name = corpus_named(corpus, PAPERS)
        if full:
            bases = ("words", "words-brief", "words+pos", "reference")
            return cls(name, bases=bases, decoders=DECODERS, hidden=(10, 5, 8), sizes=CURVE)
        return cls(name, bases=("words", "words-brief", "reference")) if name == PAPERS else cls(name)


class Citation(Experiment[Options, Cell]):
    """Label the fields of bibliographic references, and measure what learned constraints add.

    Uses Cora if `lcons data list` finds it, otherwise a small corpus that comes with lcons. Finished stages
    are kept: a stopped run continues where it stopped, with the same result. Also writes a parser for `lcons
    parse`.

    \b
    Example:
      lcons run citation --corpus bundled --seed 1 --base words --decoder soft
    """

    name = "citation"
    options = Options
    phase = "decoding"
    leaves = ("constraints", "predictions", "parser")

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill: first those of the tables, then those of the learning curves. Only the first
        base model has K other than 10. Sizes of the usual curve that exceed the corpus are left out."""
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
        """First the POS tags that the corpus lacks, then training and learning."""
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
        """Writes the constraints, the predictions, and a parser: the strongest base model of the first split
        and all training references, under soft clues, which need no POS tags; without constraints if the run
        has no soft rows."""
        cells = self.cells(options)
        leave_files(folder, cells, lambda cell: answers(cell, kept, silent), kept)
        name = next(name for name in PARSERS if name in options.bases)
        one = next(cell for cell in cells if cell.size is None and cell.base.name == name)
        model = one.model(kept, silent)
        used = [
            use
            for row in one.rows
            if row.name == CLUES_ROW
            for use in chosen_uses(
                row, parser_weights(row, name), constraints(one, row.recipes, kept), model.labels
            )
        ]
        ConstrainedTagger(model, tuple(used), "exact" if used else "viterbi").save(folder / "parser")

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: results by base model, with field F1 first."""
        whole = record.where(size=None).by("base")
        name, first = next(iter(whole.items()))
        size = first.first.facts["references"]["train"]
        papers = record.facts["corpus"]["name"] == PAPERS
        claimed = {base: own for base, own in whole.items() if papers and base in CLAIMED}
        return Document(
            "Citation fields with learned constraints",
            self.name,
            record.facts["corpus"]["name"],
            f"A model ({name}) that reads {READS[name]}, compared with the same model under learned"
            " constraints that read words, shapes, clue words and POS tags. The row and its weights were"
            " chosen on dev references.",
            blocks.headline(
                first, F1, f"field F1, {name}, {size:,} references", CHOSEN, EXACT, **_words(first)
            ),
            (
                *(Section(f"Base model {base}", tuple(_results(base, own))) for base, own in whole.items()),
                *(
                    Section(f"What the networks add ({base})", tuple(_added(base, own)))
                    for base, own in whole.items()
                ),
                Section("Base models side by side", tuple(_bases(whole))),
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
        tell(step.done / step.total, "training a POS tagger, which is kept for later runs")

    load_corpus(name, kept, progress)


def _words(record: Record) -> dict[str, str]:
    """The words for the second figure of the headline if dev had no constraints to choose from."""
    return (
        {"within_is": "chosen on dev, also without constraints"}
        if set(record.told("chosen")) == {EXACT}
        else {}
    )


def _results(base: str, record: Record) -> Iterator[Block]:
    def figure(row: str, measure: str) -> float | None:
        return paper.figure(base, row) if measure == ACCURACY else None

    yield Text(ROWS)
    caption = "Results on test references, in percent"
    columns = blocks.by_measure(record, MEASURES, figure)
    note = (
        "Field F1 counts fields whose label, start and end are all correct. `whole references` is the share"
        " of references without any error."
    )
    yield blocks.table(caption, "decoder", blocks.chosen_second(record.rows), columns, note)
    place = {_where(base, record): record}
    said = "over exact, with 95% intervals (paired bootstrap over references)"
    pairs = [(row, EXACT) for row in record.rows if row != EXACT]
    yield Gains(f"Gains in points of field F1 {said}", blocks.gains(place, pairs, F1))
    yield Gains(f"Gains in points of token accuracy {said}", blocks.gains(place, pairs, ACCURACY))
    yield Text(f"{_choices(record)} {_training(record)}")
    if record.first.facts["constraints"]:
        yield blocks.rejections(record, {"": record}, "references")


def _bases(records: Mapping[str, Record]) -> Iterator[Block]:
    """The measures of all base models, and what rows gain over exact, if there are several base models."""
    if len(records) < 2:
        return
    rows = blocks.chosen_second(list(dict.fromkeys(row for own in records.values() for row in own.rows)))
    for measure, said in ((F1, "Field F1"), (ACCURACY, "Token accuracy")):

        def figure(row: str, base: Any, measure: str = measure) -> float | None:
            return paper.figure(base, row) if measure == ACCURACY else None

        caption = f"{said} on test references by base model, in percent"
        yield blocks.by_group(caption, records, measure, rows=rows, paper=figure)
    for measure, said in ((F1, "field F1"), (ACCURACY, "token accuracy")):
        gains = {base: _over_exact(own, measure) for base, own in records.items()}
        caption = f"Gains over exact by base model in points of {said}, with 95% intervals"
        yield blocks.table(caption, "decoder", [row for row in rows if row != EXACT], gains)


def _over_exact(record: Record, measure: str) -> Callable[[str], TableCell]:
    return lambda row: record.gain(row, EXACT, measure) if record.has(row) else None


def _added(base: str, record: Record) -> Iterator[Block]:
    if record.has(WINDOWS_ROW, baseline_names(WINDOWS_ROW)[0]):
        yield Text(BASELINES_READ)
    for row in (WINDOWS_ROW, POS_CLUES_ROW):
        yield from added_by_networks({_where(base, record): record}, row, F1, "references")


def _where(base: str, record: Record) -> str:
    return f"{base}, {record.first.facts['references']['train']:,} references"


def _choices(record: Record) -> str:
    """The rows and weights that were chosen on dev."""
    picks = zip(record.told("chosen"), record.told("weights", CHOSEN), strict=True)
    told = (f"{row} ({', '.join(f'{w:g}' for w in weights)})" if weights else row for row, weights in picks)
    return f"Rows that were chosen on dev, with their weights, one per split: {'; '.join(told)}."


def _training(record: Record) -> str:
    passes, gap = (mean(record.told("training", key)) for key in ("passes", "gap"))
    return (
        f"The model was trained for {passes:.0f} passes; its objective is at most {gap:.3f} errors per"
        " reference above the least possible one (duality gap). Both are means over splits."
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
    caption = f"Token accuracy by number of training references, corpus {record.facts['corpus']['name']}"
    yield Curve(caption, "training references", "token accuracy (%)", lines)


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record as far as it has the rows."""
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
                "on test references; mean ± standard deviation over splits; gains are paired by split and"
                " pooled over all tested tokens",
            ),
        ),
    )
    yield Text(CHOICES)
    if "words-brief" in options.bases:
        yield Text(BRIEF)


EXPERIMENT = Citation()
