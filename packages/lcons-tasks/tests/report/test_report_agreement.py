"""Constraints of different runs, pair by pair: which are compared, and what is said of them."""

import re
from html import unescape

import numpy as np
import pytest

from lcons_core import LearnedConstraint, RectifierNetwork, Rules, compare, save
from lcons_core._blocks import binary, one_hot
from lcons_core._space import FeatureSpace
from lcons_tasks.report import _side_by_side as agreement
from lcons_tasks.report import estimate, read_runs, report_page
from lcons_tasks.report._side_by_side import agreement_view, plan
from lcons_tasks.report._templates import environment

PAIR = FeatureSpace([one_hot("source", ["Person", "Place"]), one_hot("relation", ["No", "Kill", "Live"])])
BITS = FeatureSpace([binary("bit", [str(i) for i in range(48)])])


def rules(*forbidden, space=PAIR):
    return LearnedConstraint(Rules(space, list(forbidden)).network(), space)


NO_KILL = rules({"source": "Place", "relation": "Kill"})
NOTHING_ELSE = rules({"source": "Place", "relation": ["Kill", "Live"]}, {"relation": "Live"})


def sets(folder, name, **constraints):
    (folder / name).mkdir(parents=True)
    for stem, constraint in constraints.items():
        save(constraint, folder / name / f"{stem}.json")
    return [(name, path) for path in sorted((folder / name).iterdir())]


def shown(planned):
    """The rows of the table as text, and everything."""
    page = environment().get_template("blocks.html").module.agreement(agreement_view(planned, lambda _: None))  # type: ignore[attr-defined]
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", page)
    return [unescape(re.sub(r"<[^>]+>", " ", row)) for row in rows], unescape(re.sub(r"<[^>]+>", " ", page))


def test_equal_and_different_are_words_and_differences_have_counts_and_witnesses(tmp_path):
    same = rules({"source": "Place", "relation": "Kill"}, {"source": "Place", "relation": "Kill"})
    runs = {
        "a": sets(tmp_path / "a", "one", pairs=NO_KILL),
        "b": sets(tmp_path / "b", "one", pairs=same),
        "c": sets(tmp_path / "c", "one", pairs=NOTHING_ELSE),
    }
    rows, _ = shown(plan(runs))
    assert len(rows) == 3
    a_b, a_c, b_c = rows
    assert " equal " in a_b
    assert "all 6 points were checked" in a_b
    for row, run in ((a_c, "a"), (b_c, "b")):
        assert " different " in row
        assert f"only {run} allows 2 points:" in row
        assert "source Person, relation Live" in row
        assert "only c allows" not in row


def test_what_a_row_says_is_what_comparing_finds(tmp_path):
    rng = np.random.default_rng(0)
    drawn = [LearnedConstraint(RectifierNetwork(rng.normal(size=(2, 5)), [0.0, 0.0]), PAIR) for _ in range(4)]
    runs = {f"run {i}": sets(tmp_path / str(i), "one", c=one) for i, one in enumerate(drawn)}
    planned = plan(runs)
    rows, _ = shown(planned)
    assert len(rows) == 6
    for (a, b), row in zip(planned.pairs, rows, strict=True):
        found = compare(a.constraint, b.constraint)
        assert f" {found.outcome} " in row
        for one, number in ((a, found.only_a), (b, found.only_b)):
            said = re.search(rf"only {one.run} allows (\d+) point", row)
            assert (int(said[1]) if said else 0) == number


def test_files_of_the_same_content_are_equal_and_named_once(tmp_path):
    split = [one for name in ("split-1", "split-2") for one in sets(tmp_path / "a", name, pairs=NO_KILL)]
    other = sets(tmp_path / "b", "split-1", pairs=NO_KILL)
    (row,), _ = shown(plan({"a": split, "b": other}))
    assert "split-1/pairs (and 1 with the same content)" in row
    assert " equal " in row
    assert "the files have the same content" in row


def test_other_spaces_are_not_compared_and_constraints_of_one_run_neither(tmp_path):
    swapped = FeatureSpace(PAIR.blocks[::-1])
    runs = {
        "a": sets(tmp_path / "a", "one", x=NO_KILL, y=NOTHING_ELSE),
        "b": sets(tmp_path / "b", "one", x=rules({"source": "Place"}, space=swapped)),
    }
    planned = plan(runs)
    assert (planned.pairs, planned.left_out, planned.alone) == ((), 0, 3)
    assert "no other run has one over the same blocks and values" in shown(planned)[1]
    assert plan({}).pairs == plan({"a": runs["a"]}).pairs == ()


def at_most(count, units=1, **provenance):
    """At most so many of 48 bits, said with some units."""
    weights = np.kron(np.eye(units), np.ones(48 // units))
    network = RectifierNetwork(weights, [1.0 - count] * units)
    return LearnedConstraint(network, BITS, provenance=provenance)


def test_of_a_large_domain_there_are_proofs_witnesses_or_no_verdict(tmp_path):
    made = {
        "one": at_most(1),
        "again": at_most(1, seed=2),
        "two": at_most(2),
        # The same set as `one`, by more rows than a proof looks at.
        "many": at_most(1, units=12),
    }
    files = {name: sets(tmp_path / name, "own", c=constraint) for name, constraint in made.items()}

    def row(a, b):
        return shown(plan({a: files[a], b: files[b]}))[0][0]

    equal, different, undecided = row("one", "again"), row("one", "two"), row("one", "many")
    assert " equal " in equal
    assert "same units" in equal
    assert " different " in different
    assert re.search(r"only two allows at least [\d,]+ points", different)
    assert "only one allows" not in different
    assert " undecided " in undecided
    assert "no proof that there is none" in undecided


def test_the_work_is_bounded_and_what_is_left_out_is_said(tmp_path, monkeypatch):
    def large(seed):
        weights = np.random.default_rng(seed).normal(size=(1, 48))
        return LearnedConstraint(RectifierNetwork(weights, [0.0]), BITS)

    runs = {
        name: sets(tmp_path / name, "one", **{f"c{i}": large(10 * k + i) for i in range(3)})
        for k, name in enumerate("abc")
    }
    planned = plan(runs)
    assert len(planned.pairs) == int(agreement.LONGEST / agreement.SEARCHED)
    assert planned.left_out == 27 - len(planned.pairs)
    assert planned.seconds <= agreement.LONGEST
    # Those of one name come first.
    assert all(a.stem == b.stem for a, b in planned.pairs)
    assert f"{planned.left_out} left out, because they would take too long" in str(planned)
    monkeypatch.setattr(agreement, "MOST_PAIRS", 0)
    assert "27 more pairs were not compared" in shown(plan(runs))[1]


@pytest.mark.parametrize("other", [NOTHING_ELSE, at_most(1)], ids=["one space", "two spaces"])
def test_a_page_of_constraint_files_compares_those_over_one_space(tmp_path, other):
    save(NO_KILL, tmp_path / "one.json")
    save(other, tmp_path / "other.json")
    runs = read_runs([tmp_path / "one.json", tmp_path / "other.json"])
    told = []
    heard = []
    page = report_page(runs, progress=lambda done, total, what: heard.append((done, total)), say=told.append)
    compared = other is NOTHING_ELSE
    assert ("Side by side" in page) == compared
    assert ('<span class="verdict x">different</span>' in page) == compared
    assert heard[-1] == (2 + compared, 2 + compared)
    assert told[-1].startswith(f"pairs of constraints of different runs compared: {int(compared)}")
    assert estimate(runs).constraints == 2
