"""Blocks of a document: what the networks of soft constraints add over baselines on the same windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lcons_tasks.experiments.engine import _blocks as blocks
from lcons_tasks.experiments.engine._record import Record
from lcons_tasks.experiments.engine._rows import BASELINES, TABLE
from lcons_tasks.experiments.engine._sequences import ACCURACY, EXACT, SEEN, UNSEEN
from lcons_tasks.report._document import Block, Gains, Table, TableCell, Text

WORDS = (
    "Baselines read the windows of the soft row of the same name, but have no network. `table` charges every"
    " window that training did not show. `counts` adds the smoothed log frequency of a window's labels given"
    " its contexts. `penalties` has one penalty per window, learned by a perceptron from the errors of the"
    " base model on dev (after Anzaroot et al. 2014). `crf` is a second-order CRF that reads only these"
    " contexts. All are decoded exactly on the scores of the same base model, and their weights are chosen on"
    " dev as those of soft rows."
)


def baseline_names(soft: str) -> list[str]:
    """The names of the baselines of a soft row."""
    return [soft.replace("soft", how, 1) for how in BASELINES]


def added_by_networks(groups: Mapping[str, Record], soft: str, spans: str, units: str) -> Iterator[Block]:
    """The gains of a soft row over its baselines in groups of cells, in F1 of `spans` and in accuracy, and
    the accuracy in seen and unseen windows; nothing if the record has no baselines."""
    first = next(iter(groups.values()))
    names = [name for name in baseline_names(soft) if first.has(name)]
    if not names or not first.has(soft):
        return
    table = soft.replace("soft", TABLE, 1)
    if table in names:
        told = "; ".join(f"{where} {own.gain(soft, table, spans)}" for where, own in groups.items())
        yield Text(f"`{soft}` over the look-up table, in points of {_said(spans)}: {told}.")
    pairs = [(soft, name) for name in names]
    for measure, said in ((spans, _said(spans)), (ACCURACY, "token accuracy")):
        caption = f"`{soft}` over its baselines in points of {said}, with 95% intervals over {units}"
        yield Gains(caption, blocks.gains(groups, pairs, measure))
    yield _by_novelty(groups, soft, names)
    new = {where: own for where, own in groups.items() if all(UNSEEN in cell.counts for cell in own.cells)}
    if new:
        caption = f"`{soft}` over its baselines in points of accuracy in unseen windows, with 95% intervals"
        yield Gains(caption, blocks.gains(new, [(soft, EXACT), *pairs], UNSEEN))
    rows: list[tuple[TableCell, ...]] = []
    for name in (soft, *names):
        rows.append((name, *(_parameters(own, soft, name) for own in groups.values())))
    yield Table(f"Numbers of parameters of `{soft}` and its baselines", ("row", *groups), tuple(rows))


def _said(spans: str) -> str:
    return spans.replace(" f1", " F1")


def _parameters(record: Record, soft: str, name: str) -> int:
    facts = record.first.facts
    if name != soft:
        return int(facts["baselines"][name])
    return sum(facts["constraints"][one]["parameters"] for one in facts["rows of"][soft])


def _by_novelty(groups: Mapping[str, Record], soft: str, baselines: Sequence[str]) -> Table:
    """Accuracy on tokens by whether training shows their windows."""
    columns = {
        f"{where}: {measure}{_share(own, measure)}": (own, measure)
        for where, own in groups.items()
        for measure in (SEEN, UNSEEN)
    }
    body = tuple(
        (row, *(own.figure(row, measure) for own, measure in columns.values()))
        for row in (EXACT, soft, *baselines)
    )
    note = (
        "A token is in an unseen window if training does not show a window around it with these"
        " contexts and gold labels; the share of such tokens is in brackets."
    )
    caption = f"Token accuracy of `{soft}` and its baselines in seen and unseen windows, in percent"
    return Table(caption, ("row", *columns), body, note)


def _share(record: Record, measure: str) -> str:
    """The share of tokens, in percent."""
    own, every = (
        sum(int(cell.of(EXACT, one)[:, 1].sum()) for cell in record.cells if one in cell.counts)
        for one in (measure, ACCURACY)
    )
    return f" ({100 * own / every:.1f}%)"
