"""The document of a run: the template beside an experiment, and the blocks that it makes from records.

    # title               a paragraph on what was compared, and the headline
    ## title of a section its paragraphs and blocks

A template is Markdown in jinja2. A value that is a block (`{{ gains(...) }}`) becomes that block; the rest is
text. Templates set `next_command` and perhaps `paper_corpus`. Groups are records by name, the columns or the
places of a block.
"""

from __future__ import annotations

import inspect
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lcons_tasks.experiments.engine._record import Record, RecordCell
from lcons_tasks.experiments.engine._rows import BASELINES, CHOSEN
from lcons_tasks.report._document import (
    Block,
    Change,
    Claim,
    Claims,
    Constraints,
    Curve,
    Document,
    Facts,
    Figure,
    Gain,
    Gains,
    Headline,
    Listing,
    Section,
    Sentences,
    Table,
    TableCell,
    Text,
)

# The paper's figures by the heading of a column and the name of a row.
Paper = Mapping[str, Mapping[str, float]]


def percent(ratio: float) -> str:
    """A ratio as a percentage.

    >>> percent(0.01), percent(0.125)
    ('1%', '12.5%')
    """
    return f"{100 * ratio:g}%"


def chosen_second(rows: Sequence[str]) -> list[str]:
    """The rows with the last one, which was chosen on dev, moved to second place."""
    return [*rows[:1], *rows[-1:], *rows[1:-1]] if len(rows) > 1 else list(rows)


def groups(record: Record, by: str, name: str) -> dict[str, Record]:
    """The cells by a coordinate, with names such as `{percent} ({sentences:,} sentences)`: coordinates and
    facts of the first cell, and the coordinate `by` as a percentage."""
    groups = {}
    for value, cells in record.by(by).items():
        share = {"percent": percent(value)} if isinstance(value, float) else {}
        groups[name.format(**{**cells.first.facts, **cells.first.at, **share})] = cells
    return groups


def table(caption: str, head: Iterable[str], rows: Iterable[Iterable[TableCell]], note: str = "") -> Table:
    """A table of these rows."""
    return Table(caption, tuple(head), tuple(map(tuple, rows)), note)


def by_group(
    caption: str,
    groups: Mapping[str, Record],
    measure: str,
    rows: Sequence[str] | None = None,
    paper: Paper | None = None,
    **rest: Any,
) -> Table:
    """A table of one measure: one line per row, and one column per group."""
    if rows is None:
        rows = list(dict.fromkeys(row for cells in groups.values() for row in cells.rows))
    columns = {where: (cells, measure) for where, cells in groups.items()}
    return by_column(caption, columns, rows, paper, **rest)


def by_column(
    caption: str,
    columns: Mapping[str, tuple[Record, str]],
    rows: Sequence[str],
    paper: Paper | None = None,
    head: str = "decoder",
    digits: int = 2,
    more: Iterable[Iterable[TableCell]] = (),
    note: str = "",
) -> Table:
    """A table with one line per row, and `more` lines; each column is a measure of some cells."""
    lines: list[list[TableCell]] = []
    for row in rows:
        stated = [(paper or {}).get(heading, {}).get(row) for heading in columns]
        pairs = zip(columns.values(), stated, strict=True)
        figures = [cells.figure(row, measure, figure, digits) for (cells, measure), figure in pairs]
        lines.append([row, *figures])
    return table(caption, (head, *columns), [*lines, *more], note)


def gains(
    caption: str, groups: Mapping[str, Record], pairs: Iterable[tuple[str, str]], measure: str
) -> Gains:
    """The paired gains of those pairs of rows that the record has, in every group of cells."""
    compared = list(pairs)
    return Gains(
        caption,
        tuple(
            Gain(f"{row} over {over}", where, record.gain(row, over, measure))
            for where, record in groups.items()
            for row, over in compared
            if record.has(row, over)
        ),
    )


def pairs(rows: Iterable[str], over: Sequence[str]) -> list[tuple[str, str]]:
    """Each row with each other row that it is compared with."""
    return [(row, other) for row in rows for other in over if row != other]


def curve(
    caption: str,
    across: str,
    up: str,
    record: Record,
    size: str,
    lines: Mapping[str, str],
    measure: str,
    more: Mapping[str, Mapping[float, float]] | None = None,
) -> Curve | None:
    """The mean of a measure by size, a coordinate or a fact: one line per row (`lines` are rows by name), and
    `more` lines; None if there are fewer than two sizes."""
    groups: dict[float, list[RecordCell]] = {}
    for cell in record.cells:
        groups.setdefault(float({**cell.facts, **cell.at}[size] or 0), []).append(cell)
    if len(groups) < 2:
        return None
    sizes = {key: Record(tuple(groups[key])) for key in sorted(groups)}
    points = {
        name: {key: cells.mean(row, measure) for key, cells in sizes.items() if cells.values(row, measure)}
        for name, row in lines.items()
    }
    shown = {name: values for name, values in points.items() if values}
    return Curve(caption, across, up, {**shown, **(more or {})})


def headline(
    record: Record,
    measure: str,
    title: str,
    row: str,
    over: str,
    baselines: Mapping[str, str] | None = None,
    chosen: str = "",
    **words: Any,
) -> Headline:
    """One row compared with another, and with the best of those plain baselines that the record has (a noun
    by row): figures, and gains if the record has counts. `chosen` is the name of the row that was chosen."""
    figures = {name: Figure(record.values(name, measure)) for name in (over, row)}
    counted = measure in record.first.counts
    means = {name: record.mean(name, measure) for name in baselines or {} if record.has(name)}
    if baselines and means:
        best = max(means, key=means.__getitem__)
        words["baseline"], words["baseline_is"] = Figure(record.values(best, measure)), baselines[best]
        words["gain_over_baseline"] = record.gain(row, best, measure) if counted else None
    gain = record.gain(row, over, measure) if counted else None
    return Headline(title, figures[over], figures[row], gain, row=chosen, **words)


def plain_baselines(record: Record) -> dict[str, str]:
    """The baselines of soft rows, and what each is."""
    return {
        row.replace("soft", how, 1): row.replace("soft", noun, 1)
        for row in record.rows
        if row.startswith("soft ")
        for how, noun in BASELINES.items()
    }


def each_once(names: Iterable[str]) -> str:
    """The names, each once, such as the rows that were chosen in several cells."""
    return ", ".join(dict.fromkeys(names))


def chosen_on_dev(record: Record) -> str:
    """The rows that were chosen on dev, with the weights of their constraints, one per cell."""
    texts = []
    for choice in record.told("choices", CHOSEN):
        weights = ", ".join(f"{weight:g}" for weight in choice["weights"])
        texts.append(f"{choice['row']} ({weights})" if weights else choice["row"])
    return "; ".join(texts)


def facts(caption: str, pairs: Iterable[tuple[str, str]]) -> Facts:
    """Facts by name."""
    return Facts(caption, tuple((name, str(value)) for name, value in pairs))


def listing(items: Iterable[str]) -> Listing:
    """The items of a list."""
    return Listing(tuple(items))


def changed_first(record: Record, suffix: str = "txt") -> Sentences:
    """The sentences that constraints changed in the first cell, and the file of all its predictions."""
    cell = record.first
    changes = tuple(map(_change, cell.facts.get("examples", ())))
    return Sentences(cell.name, changes, f"predictions/{cell.name}.{suffix}")


def _change(example: Mapping[str, Any]) -> Change:
    members: dict[str, Any] = {key: tuple(example[key]) for key in ("words", "before", "after", "gold")}
    links = {"links_before", "links_after", "links_gold"} & set(example)
    members |= {key: tuple(map(tuple, example[key])) for key in links}
    return Change(**members, rule=example["rule"], why=example["why"])


def constraint_files(cells: Iterable[RecordCell]) -> list[Constraints]:
    """The constraint files of each sample, and the predictions of the first cell that has it."""
    samples: dict[str, RecordCell] = {}
    for cell in cells:
        samples.setdefault(cell.name.removeprefix(f"{cell.at['base']}-"), cell)
    blocks = []
    for place, cell in samples.items():
        if files := tuple(f"constraints/{place}/{name}.json" for name in cell.facts["constraints"]):
            blocks.append(Constraints(place, files, f"predictions/{cell.name}.txt"))
    return blocks


def baselines_of(groups: Mapping[str, Record], soft: str) -> list[str]:
    """The baselines of a soft row that the record has; none if it lacks the row itself."""
    first = next(iter(groups.values()))
    names = [soft.replace("soft", how, 1) for how in BASELINES]
    return [name for name in names if first.has(name, soft)]


def check(record: Record, statements: Iterable[Mapping[str, Any]], by: str = "") -> list[Claim]:
    """The claims of those statements whose rows and cells the record has, checked in groups of cells with the
    same coordinate `by`.

    A statement is plain data: a `text` about each of `rows` in every group of cells (`at`: only cells with
    these coordinates). The figure is the gain over the row `over`, or the `measure` itself without `over`.
    The claim is that it is at least `least`, or more than `above`, or with `no_clear_gain` that the gain is
    not clearly positive.
    """
    claims = []
    for statement in statements:
        rows, measure, over = statement["rows"], statement["measure"], statement.get("over")
        cells = record.where(**statement.get("at", {}))
        if not rows or not cells.has(*rows, *([over] if over else [])):
            continue
        held, shown = [], {}
        for key, group in (cells.by(by) if by else {"": cells}).items():
            for row in rows:
                gain = group.gain(row, over, measure) if over else None
                value = gain.mean if gain else group.mean(row, measure)
                if gain and statement.get("no_clear_gain"):
                    held.append(gain.low <= 0)
                else:
                    least, above = (statement.get(bound, -inf) for bound in ("least", "above"))
                    held.append(value >= least and value > above)
                label = row if len(rows) > 1 else percent(float(key)) if by else ""
                shown[label] = str(gain) if gain else f"{value:.2f}"
        figures = [f"{label} {figure}" if len(shown) > 1 else figure for label, figure in shown.items()]
        claims.append(Claim(statement["text"], all(held), ", ".join(figures)))
    return claims


def claims(checked: Iterable[Claim]) -> Claims | None:
    """The block of these claims; None if there are none."""
    block = Claims(tuple(checked))
    return block if block.claims else None


def read_paper(module: str) -> dict[str, Any]:
    """The paper's figures and claims: the file paper.toml beside a module."""
    return tomllib.loads(Path(module).with_name("paper.toml").read_text(encoding="utf-8"))


TEMPLATE = "report.md.jinja"
# A block stands in the rendered text as a paragraph of its own: this character and its number.
_MARK = "\N{OBJECT REPLACEMENT CHARACTER}"


def render(experiment: Any, corpus: str, **values: Any) -> Document:
    """The document that the template of an experiment makes of these values."""
    placed: list[Block | Headline] = []

    def text_of(value: Any) -> Any:
        if isinstance(value, Block | Headline):
            placed.append(value)
            return f"\n\n{_MARK}{len(placed) - 1}\n\n"
        return "" if value is None else value

    folder = Path(inspect.getfile(type(experiment))).parent
    environment = _environment(folder).overlay(finalize=text_of)
    module = environment.get_template(TEMPLATE).make_module(values)
    title, opening, sections = _parts(str(module))
    blocks = [_block(part, placed) for part in opening[1:]]
    return Document(
        title,
        experiment.name,
        corpus,
        opening[0],
        next((block for block in blocks if isinstance(block, Headline)), None),
        tuple(Section(name, tuple(_block(part, placed) for part in parts)) for name, parts in sections),
        getattr(module, "paper_corpus", None),
        module.next_command,  # type: ignore[attr-defined]
    )


@cache
def _environment(folder: Path) -> Environment:
    loader = FileSystemLoader([folder, Path(__file__).with_name("templates")])
    # Markdown, which the renderings of a document escape.
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)  # noqa: S701
    environment.globals |= {name: value for name, value in globals().items() if inspect.isfunction(value)}
    environment.filters["thousands"] = "{:,}".format
    return environment


def _parts(text: str) -> tuple[str, list[str], list[tuple[str, list[str]]]]:
    """The title, the paragraphs below it, and (title, paragraphs) of the sections that have some."""
    first, *rest = re.split(r"^## (?=\S)", text.strip(), flags=re.MULTILINE)
    (title, *opening), sections = _paragraphs(first), [_paragraphs(section) for section in rest]
    return title.removeprefix("# "), opening, [(name, parts) for name, *parts in sections if parts]


def _paragraphs(text: str) -> list[str]:
    """The first line and the paragraphs below it, each on one line."""
    title, _, rest = text.partition("\n")
    return [title, *(" ".join(part.split()) for part in re.split(r"\n\s*\n", rest) if part.strip())]


def _block(part: str, placed: list[Block | Headline]) -> Any:
    return placed[int(part[1:])] if part.startswith(_MARK) else Text(part)
