"""`lcons run chunking`: the cells, how they are filled, and the document of a run.

Paper: Sec. 6, Table 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lcons_core import InvalidInput
from lcons_tasks.apps._tagger import ConstrainedTagger
from lcons_tasks.experiments.chunking import _paper as paper
from lcons_tasks.experiments.chunking._answers import (
    DEFAULT_ROW,
    F1,
    WITH_POS,
    Cell,
    answers,
    corpus_and_vectors,
)
from lcons_tasks.experiments.chunking._constraints import (
    DECODERS,
    DEFAULT_WEIGHTS,
    equal_weights,
    rows_of,
)
from lcons_tasks.experiments.chunking._corpus import PARTS, SUBSETS, check_ratio
from lcons_tasks.experiments.chunking._grid import tune_into
from lcons_tasks.experiments.chunking._model import BASES, tuned
from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._baseline_blocks import WORDS as BASELINES_READ
from lcons_tasks.experiments.engine._baseline_blocks import added_by_networks, baseline_names
from lcons_tasks.experiments.engine._blocks import Statement, percent
from lcons_tasks.experiments.engine._examples import changes
from lcons_tasks.experiments.engine._experiment import Experiment, RunOptions, corpus_named, flag, option
from lcons_tasks.experiments.engine._jobs import OnEvent, Phase, Tell, silent
from lcons_tasks.experiments.engine._kept import Stages
from lcons_tasks.experiments.engine._recipes import recipe
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.experiments.engine._rows import uses
from lcons_tasks.experiments.engine._sequences import (
    ACCURACY,
    CHOSEN,
    EXACT,
    STRICT,
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
    Table,
    TableCell,
    Text,
)

WORDS, WORDS_AND_POS = "bilstm", "bilstm+pos"
PAPERS = "conll2000"

# Processor seconds per cell, and additional seconds per training sentence.
_A_CELL, _A_SENTENCE = 20.0, 0.05

# Pairs of rows: the report has the gain of the first over the second.
GAINS = (
    (CHOSEN, "exact"),
    (CHOSEN, "search"),
    ("pos-3 search", "exact"),
    ("pos-3 search", "search"),
    ("pos-4 search", "search"),
    ("existence-2 search", "search"),
    ("existence-3 search", "search"),
)
# The soft rows that are compared with their baselines.
COMPARED = (DEFAULT_ROW, "soft pos-1+2+3")
IN_CURVE = (EXACT, "search", "pos-3 search", CHOSEN)
_OURS = "(not in the paper) the decoder chosen on dev"
CLAIMS = (
    *(
        Statement(
            f"POS-constrained search (n = {n}) beats search at every ratio",
            (f"pos-{n} search",),
            ACCURACY,
            "search",
            above=0.0,
        )
        for n in (3, 4)
    ),
    *(
        Statement(
            f"at 1%, {name} gains {stated:+.2f} over {over}",
            (row,),
            ACCURACY,
            over,
            least=stated,
            at={"ratio": paper.RATIOS[0]},
        )
        for over, stated in (("exact", 4.41), ("search", 5.23))
        for row, name in (("pos-3 search", "POS-constrained search (n = 3)"), (CHOSEN, _OURS))
    ),
    *(
        Statement(
            f"label existence (n = {n}) does not help",
            (f"existence-{n} search",),
            ACCURACY,
            "search",
            no_clear_gain=True,
        )
        for n in (2, 3)
    ),
    *(
        Statement(
            f"at 1%, constraints reach ELMo's {paper.ELMO['accuracy']} ({row})",
            (row,),
            ACCURACY,
            least=paper.ELMO["accuracy"],
            at={"ratio": paper.RATIOS[0]},
        )
        for row in ("pos-3 search", CHOSEN)
    ),
)
CHOICES = (
    "How choices were made. Once for all ratios, on dev sentences: the shape and patience of the chunker, and"
    " the recipes of the constraints. Once per ratio, on dev, by `lcons run chunking --tune`: the learning"
    " rate and decay of the chunker. In each cell, on dev: the weights of the soft rows, and the row"
    f" `{CHOSEN}`. There the default, `{DEFAULT_ROW}` with weight {DEFAULT_WEIGHTS['soft']:g}"
    f" ({WITH_POS * DEFAULT_WEIGHTS['soft']:g} if the chunker reads POS tags), is replaced only if another"
    " decoder under local constraints beats it by more than one standard error. The choices per ratio and per"
    " cell use the same share of dev as of the training data; the row `chosen on whole dev` uses all of dev."
    " Nothing was chosen on test sentences."
)
ROWS = (
    f"Rows of the tables: `{EXACT}` and `search` decode without constraints, by Viterbi and by beam search."
    " `pos-3 exact` and `pos-3 search` decode under one hard constraint, which reads windows of three words"
    " with their POS tags. `soft pos-1+2` decodes exactly under soft constraints, which read windows of one"
    f" and of two words. `{CHOSEN}` is the row that was chosen on dev sentences."
)


@dataclass(frozen=True)
class Options(RunOptions):
    """The options of a run; the defaults are those of a quick run. `lean`: base models after the first one
    use only the first kind of subset."""

    needed = ("ratios", "subsets", "seeds", "bases", "constraints", "decoders")

    corpus: str = option(
        "bundled",
        flag(
            "--corpus",
            "bundled, conll2000, a folder, or auto (conll2000 if found, otherwise bundled).",
            default="auto",
        ),
    )
    ratios: tuple[float, ...] = option(
        (1.0,), flag("--ratio", "Share of the training data, such as 0.01; repeat for several.")
    )
    subsets: tuple[str, ...] = option(
        ("first",), flag("--subset", "first (as in the paper) or nested (samples that the seed draws).")
    )
    seeds: tuple[int, ...] = option(
        (1, 2, 3, 4, 5), flag("--seed", "Seed of the random numbers; repeat for several.", least=0)
    )
    bases: tuple[str, ...] = option(
        (WORDS,), flag("--base", "bilstm, bilstm+pos, linear or linear+pos; repeat for several.")
    )
    constraints: tuple[str, ...] = option(
        ("pos:3",),
        flag("--constraint", "Hard constraint, such as pos:3, existence:2 or pos:2:all; repeat for several."),
        flag("--n", "Short for --constraint pos:N.", kind=int, form="pos:{}"),
    )
    hidden: int = option(10, flag("--hidden", "Hidden units K of the hard constraints.", "-K", default=10))
    beam: int = option(10, flag("--beam", "Width of the beam search.", default=10))
    decoders: tuple[str, ...] = option(
        DECODERS,
        flag(
            "--decoder",
            "exact, search, constrained-search, constrained-exact, soft or baselines; repeat for several.",
        ),
    )
    tune: bool = option(False, flag("--tune", "Instead, search the chunker's settings on dev."))
    lean: bool = False

    def check(self) -> None:
        for ratio in self.ratios:
            check_ratio(ratio)
        for kind, names, known in (("base model", self.bases, BASES), ("subset", self.subsets, SUBSETS)):
            for name in names:
                if name not in known:
                    raise InvalidInput(f"unknown {kind} {name!r}; choose one of {', '.join(known)}.")
        if self.beam < 1 or self.hidden < 1:
            raise InvalidInput(
                "the argument `beam` and the argument `hidden` must be at least 1: got"
                f" {self.beam} and {self.hidden}."
            )

    @classmethod
    def start(cls, full: bool, corpus: str = "auto") -> Options:
        """A run of about a minute: the whole mini corpus, or a small part of a large one. With `full`, the
        paper's whole table and additional rows."""
        name = corpus_named(corpus, PAPERS)
        mini = name == "bundled"
        if not full:
            return cls(name) if mini else cls(name, (0.01, 0.05), seeds=(1, 2))
        return cls(
            name,
            (0.25, 0.5, 1.0) if mini else paper.RATIOS,
            SUBSETS,
            (1, 2, 3, 4, 5) if mini else (1, 2),
            (WORDS, WORDS_AND_POS),
            ("existence:2", "existence:3", "pos:3", "pos:4"),
            lean=True,
        )

    @classmethod
    def chosen(cls, given: Mapping[str, Any], full: bool = False) -> Options:
        """As `RunOptions.chosen`; `tune` uses all ratios unless some are given."""
        return super().chosen(given, full or bool(given.get("tune")))


class Chunking(Experiment[Options, Cell]):
    """Label chunks with few labelled sentences, and measure what learned constraints add.

    Uses CoNLL-2000 if `lcons data list` finds it, otherwise a small corpus that comes with lcons. Finished
    stages are kept: a stopped run continues where it stopped, with the same result.

    \b
    Example:
      lcons run chunking --corpus bundled --ratio 0.5 --seed 1 --base linear
    """

    name = "chunking"
    options = Options
    phase = "decoding"
    leaves = ("constraints", "predictions", "tagger")

    def cells(self, options: Options) -> list[Cell]:
        """The cells to fill. All kinds of subsets have the same sample at ratio 1, so it is used once."""
        hard = [recipe(text, options.hidden) for text in options.constraints]
        rows, least = tuple(rows_of(hard, options.decoders)), min(options.ratios)
        shown = (options.subsets[0], options.bases[0], least, options.seeds[0])
        return [
            Cell(
                options.corpus,
                kind,
                ratio,
                seed,
                tuned(base, options.corpus, ratio),
                rows,
                options.beam,
                (kind, base, ratio, seed) == shown,
            )
            for kind in options.subsets
            for base in options.bases
            for ratio in options.ratios
            for seed in options.seeds
            if kind == options.subsets[0] or (ratio < 1 and not (options.lean and base != options.bases[0]))
        ]

    def seconds(self, options: Options) -> float:
        train = len(corpus_and_vectors(options.corpus)[0].train)
        return sum(_A_CELL + _A_SENTENCE * train * cell.ratio for cell in self.cells(options))

    def before(self, options: Options) -> list[Phase]:
        cells = self.cells(options)
        corpus_and_vectors(options.corpus, any(cell.base.reads_vectors for cell in cells))
        return [Phase("training and learning", shared_work(cells))]

    def fill(self, cell: Cell, kept: Stages, tell: Tell) -> Record:
        found = answers(cell, kept, tell)
        record = found.record
        if cell.first:
            row = {row.name: row for row in cell.rows}[_pick(record)["row"]]
            record = record.with_facts(examples=changes(cell, found, row, kept, list))
        corpus, vectors = corpus_and_vectors(cell.corpus, cell.base.reads_vectors)
        about = {
            "name": corpus.name,
            "what": corpus.what,
            "sha256": corpus.sha256,
            "sentences": {part: len(getattr(corpus, part)) for part in PARTS},
        }
        facts = {"corpus": about, "vectors": None if vectors is None else vectors.name}
        return Record(record.cells, facts)

    def leave(self, folder: Path, options: Options, record: Record, kept: Stages) -> None:
        """Writes the constraints, the predictions, and the chunker of the first seed with the most data,
        under the constraints that were chosen on dev."""
        cells = self.cells(options)
        leave_files(folder, cells, lambda cell: answers(cell, kept, silent), kept)
        name, kind = cells[0].base.name, cells[0].subset
        own = [cell for cell in cells if (cell.base.name, cell.subset) == (name, kind)]
        most = max(own, key=lambda cell: cell.ratio)
        pick = _pick(answers(most, kept, silent).record)
        row = {row.name: row for row in most.rows}[pick["row"]]
        used = uses(
            row, equal_weights(pick["weight"], len(row.recipes)), constraints(most, row.recipes, kept)
        )
        decoder = {"viterbi": "viterbi", "beam": "beam"}.get(row.how, "exact")
        model = most.model(kept, silent)
        ConstrainedTagger(model, tuple(used), decoder, most.beam).save(folder / "tagger")

    def instead(
        self, options: Options, folder: Path, kept: Stages, jobs: int | None, progress: OnEvent | None
    ) -> str | None:
        """The settings that `tune` chooses on dev, if `options.tune` is set."""
        return (
            tune_into(folder, options.corpus, options.ratios, kept, jobs, progress) if options.tune else None
        )

    def document(self, options: Options, record: Record) -> Document:
        """The document of a run: results by base model and subset, with chunk F1 first."""
        groups = record.by("base", "subset")
        (base, _), first = next(iter(groups.items()))
        papers = record.facts["corpus"]["name"] == PAPERS
        least = min(first.by("ratio"))
        few = first.where(ratio=least)
        reads = "words and POS tags" if "pos" in BASES[base][1] else "only words"
        seed = f"{percent(least)} of the data, seed {options.seeds[0]}"
        return Document(
            "Chunking with learned constraints",
            self.name,
            record.facts["corpus"]["name"],
            f"A chunker ({base}) that reads {reads}, compared with the same chunker under learned constraints"
            " that read POS tags. The decoder and its weights were chosen on dev sentences.",
            blocks.headline(few, F1, f"chunk F1, {base} trained on {_column(few, least)}", CHOSEN, EXACT),
            (
                *(Section(_title(*key), tuple(_results(key, own, papers))) for key, own in groups.items()),
                *(
                    Section(f"What the networks add ({_title(*key)})", tuple(_added(own)))
                    for key, own in groups.items()
                ),
                Section("Learning curve", tuple(_curve(first, papers))),
                Section("Claims of the paper", _claims(first) if papers and base == WORDS else ()),
                Section(f"Sentences that changed ({seed})", blocks.changed_first(few)),
                Section(
                    "Constraints",
                    blocks.constraint_files(
                        record, lambda cell: (cell.at["ratio"] != least, cell.at["ratio"])
                    ),
                ),
                Section("Size", (_sizes(first), Text(SIZES))),
                Section("How it was done", (_facts(options, record), Text(CHOICES))),
            ),
            "CoNLL-2000" if not papers and WORDS in options.bases else None,
            "lcons fit train.conll -o tagger --unlabelled more.txt",
        )


def _pick(record: Record) -> Mapping[str, Any]:
    """The row and weight that were chosen on dev in a cell."""
    found: Mapping[str, Any] = record.first.facts["choices"][CHOSEN]["cut dev"]
    return found


def _title(base: str, subset: str) -> str:
    return f"{base}, trained on {'the first sentences' if subset == 'first' else 'nested random samples'}"


def _column(record: Record, ratio: float) -> str:
    return f"{percent(ratio)} ({record.first.facts['sentences']:,} sentences)"


def _results(key: tuple[str, str], record: Record, papers: bool) -> Iterator[Block]:
    base, subset = key
    ratios = record.by("ratio")
    columns = {_column(own, ratio): own for ratio, own in ratios.items()}
    named = dict(zip(columns, ratios, strict=True))
    # The paper's chunker is a BiLSTM-CRF trained on the first sentences.
    stated = base == WORDS and subset == "first"
    rows = blocks.chosen_second(record.rows)
    yield Text(ROWS)
    yield blocks.by_group("Chunk F1 on test sentences, in percent", columns, F1, rows=rows)
    strict = "Strict chunk F1 on test sentences, in percent (a chunk begins with B)"
    yield blocks.by_group(strict, columns, f"{STRICT} {F1}", rows=rows)

    def figure(row: str, column: Any) -> float | None:
        return paper.figure(row, named[column]) if stated else None

    caption = "Token accuracy on test sentences, in percent"
    accuracy = blocks.by_group(caption, columns, ACCURACY, rows=rows, paper=figure)
    whole = tuple(own.figure(CHOSEN, "chosen on whole dev") for own in columns.values())
    more: list[tuple[TableCell, ...]] = [("chosen on whole dev", *whole)]
    if papers and stated:
        more.append(("paper's best row", *(paper.best(ratio) for ratio in ratios)))
    yield Table(accuracy.caption, accuracy.columns, (*accuracy.rows, *more), accuracy.note)
    places = {f"{base}, {subset}, {percent(ratio)}": own for ratio, own in ratios.items()}
    note = "with 95% intervals (paired bootstrap over test sentences)"
    yield Gains(f"Gains in points of chunk F1, {note}", blocks.gains(places, GAINS, F1))
    yield Gains(f"Gains in points of token accuracy, {note}", blocks.gains(places, GAINS, ACCURACY))
    told = (
        f"{percent(ratio)}: "
        + "; ".join(
            f"{pick['row']}, weight {pick['weight']:g}" for pick in own.told("choices", CHOSEN, "cut dev")
        )
        for ratio, own in ratios.items()
    )
    yield Text(f"Rows and weights that were chosen on dev, one per seed: {' · '.join(told)}.")
    if record.first.facts["constraints"]:
        yield blocks.rejections(record, {percent(ratio): own for ratio, own in ratios.items()}, "sentences")
    unknown = {
        ratio: max(
            (one["rejected gold"]["unknown"] for one in own.first.facts["constraints"].values()), default=0
        )
        for ratio, own in ratios.items()
    }
    if any(unknown.values()):
        counts = ", ".join(f"{count} at {percent(ratio)}" for ratio, count in unknown.items())
        yield Text(f"Dev sentences left out because the training data lack one of their labels: {counts}.")


def _added(record: Record) -> Iterator[Block]:
    places = {percent(ratio): own for ratio, own in record.by("ratio").items()}
    if record.has(DEFAULT_ROW, baseline_names(DEFAULT_ROW)[0]):
        yield Text(BASELINES_READ)
    for row in COMPARED:
        yield from added_by_networks(places, row, F1, "test sentences")


def _curve(record: Record, papers: bool) -> Iterator[Block]:
    lines = {row: row for row in IN_CURVE}
    caption = f"Token accuracy by number of training sentences, corpus {record.facts['corpus']['name']}"
    across, up = "training sentences", "token accuracy (%)"
    found = blocks.curve(caption, across, up, record, lambda cell: cell.facts["sentences"], lines, ACCURACY)
    if found is None:
        return
    stated: dict[str, dict[float, float]] = {}
    for row in (EXACT, "pos-3 search") if papers else ():
        for ratio, own in record.by("ratio").items():
            value = paper.figure(row, ratio)
            if value is not None:
                stated.setdefault(f"the paper, {row}", {})[float(own.first.facts["sentences"])] = value
    yield Curve(caption, across, up, {**found.lines, **stated})


def claims(record: Record) -> list[Claim]:
    """The paper's claims about its table, checked on the record as far as it has the rows."""
    found = blocks.check(record, CLAIMS, "ratio", percent)
    ratios = sorted(record.by("ratio"))
    if record.has("pos-3 search", EXACT) and len(ratios) > 1:
        ends = {
            r: record.where(ratio=r).gain("pos-3 search", EXACT, ACCURACY) for r in (ratios[0], ratios[-1])
        }
        text = "the gain of constraints (POS n = 3, over exact) shrinks as data grow"
        figures = ", ".join(f"{percent(ratio)} {interval}" for ratio, interval in ends.items())
        found.append(Claim(text, ends[ratios[0]].mean > ends[ratios[-1]].mean, figures))
    return found


def _claims(record: Record) -> tuple[Block, ...]:
    return (Claims(tuple(claims(record))),)


SIZES = (
    f"In the paper, ELMo raises the trained parameters of the chunker from {paper.GLOVE['trained']:,} to"
    f" {paper.ELMO['trained']:,} (all parameters: {paper.ELMO['in all']:,}), and constraints add about 1,000."
)


def _sizes(record: Record) -> Table:
    rows = []
    for ratio, own in record.by("ratio").items():
        facts = own.first.facts
        chosen = _pick(own)["row"]
        parameters = {name: one["parameters"] for name, one in facts["constraints"].items()}
        extra = sum(parameters[name] for name in facts["rows of"][chosen])
        one = f"pos-3: {parameters['pos-3']:,}" if "pos-3" in parameters else None
        base = facts["parameters"]
        rows.append((percent(ratio), base["trained"], base["in all"], one, f"{chosen}: {extra:,}"))
    head = (
        "training data",
        "chunker, trained",
        "chunker, all",
        "one hard constraint",
        "constraints chosen on dev",
    )
    return Table("Numbers of parameters", head, tuple(rows))


def _facts(options: Options, record: Record) -> Facts:
    corpus = record.facts["corpus"]
    sizes = corpus["sentences"]
    return Facts(
        "The run",
        (
            ("corpus", f"{corpus['name']}, {corpus['what']}"),
            (
                "sentences",
                f"{sizes['train']:,} training, {sizes['dev']:,} dev and {sizes['test']:,} test",
            ),
            ("sha256", corpus["sha256"][:12]),
            (
                "word vectors",
                record.facts["vectors"] or "none; words are known only from the training sentences",
            ),
            ("seeds", ", ".join(map(str, options.seeds))),
            ("beam", str(options.beam)),
            ("figures", "on the whole test set; mean ± standard deviation over seeds"),
        ),
    )


EXPERIMENT = Chunking()
