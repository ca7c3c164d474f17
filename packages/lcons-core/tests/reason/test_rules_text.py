"""Files of designed rules: each way to write a rule, names of any kind, and errors that name the line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper_tables import DESIGNED, SOURCE_RELATION, designed

from lcons_core import FeatureSpace, InvalidInput, Rules, binary, compare, count, one_hot, parse_rules
from lcons_core.reason._rules import Box
from lcons_core.reason._rules_text import load_rules, rules_text
from lcons_core.testing import spaces

MIXED = FeatureSpace(
    [
        one_hot("pos 1", ["NN", ",", "#", '"', "or"], other=True),
        one_hot("pos", ["1", "NN"]),
        binary("exists", ["title", "author name"]),
        count("count", ["author"], high=5),
    ]
)


def boxes(text, space=MIXED):
    return [box.to_dict() for box in parse_rules(text, space).forbidden]


def test_the_designed_constraints_of_the_paper_are_five_lines():
    text = "\n".join(
        f"relation {relation} needs source {source}" for relation, (source, _) in DESIGNED.items()
    )
    assert compare(parse_rules(text, SOURCE_RELATION), designed("source-relation")).equal


@pytest.mark.parametrize(
    "text",
    [
        "relation Kill needs source Person",
        "forbid: source not Person, relation Kill",
        "forbid: source NoEnt or Location or Organization and relation Kill",
        "source not Person cannot go with relation Kill",
        "# a comment\n\n  relation  Kill needs source Person # and another\r\n",
        "allow only: source Person\nallow only: relation not Kill",
        '"relation" "Kill" needs "source" "Person"',
    ],
)
def test_one_rule_can_be_written_in_several_ways(text):
    wanted = Rules(SOURCE_RELATION).needs({"relation": "Kill"}, {"source": "Person"})
    assert compare(parse_rules(text, SOURCE_RELATION), wanted).equal


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('forbid: pos 1 "," or "#" or "\\"" or "or"', {"pos 1": [",", "#", '"', "or"]}),
        ("forbid: pos 1 (other)", {"pos 1": ["(other)"]}),
        ("forbid: pos 1 not NN", {"pos 1": [",", "#", '"', "or", "(other)"]}),
        ('forbid: pos "1"', {"pos": ["1"]}),
        (
            "forbid: exists title, exists not author name",
            {"exists title": ["1"], "exists author name": ["0"]},
        ),
        ("forbid: count author 3", {"count author": ["3"]}),
        ("forbid: count author >= 3", {"count author": ["3", "4", "5"]}),
        ("forbid: count author >3", {"count author": ["4", "5"]}),
        ("forbid: count author < 1", {"count author": ["0"]}),
        ("forbid: count author 0 or 2 to 3 or 9", {"count author": ["0", "2", "3"]}),
        ("forbid: count author not 0", {"count author": ["1", "2", "3", "4", "5"]}),
    ],
)
def test_conditions_on_every_kind_of_block(text, wanted):
    assert boxes(text) == [wanted]


@pytest.mark.parametrize(
    "line",
    [
        "source Location kills",
        "forbid: sauce Person",
        "forbid: source Persom",
        "forbid: source",
        "forbid:",
        "forbid: source Person, source Location",
        "source Person cannot go with source NoEnt",
        "forbid: source not NoEnt or Person or Location or Organization",
        'forbid: source "Person',
        "needs source Person",
    ],
)
def test_errors_name_the_line(line):
    with pytest.raises(InvalidInput) as error:
        parse_rules(f"# rules\n{line}", SOURCE_RELATION, "rules.txt")
    assert str(error.value).startswith("rules.txt, line 2: ")


@pytest.mark.parametrize(
    "line",
    ["exists title or author name", "count author", "count 3", "count author x", "count author >= 2 to 3"],
)
def test_conditions_that_make_no_sense_are_refused(line):
    with pytest.raises(InvalidInput):
        parse_rules(f"forbid: {line}", MIXED)


def test_files_are_read_whatever_wrote_them_and_refused_where_they_are_none(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_bytes("\ufeffforbid: source Person\r\n".encode())
    assert len(load_rules(path, SOURCE_RELATION).forbidden) == 1
    for content in (b"", b"# only this\n", b"forbid: \xff"):
        path.write_bytes(content)
        with pytest.raises(InvalidInput):
            load_rules(path, SOURCE_RELATION)
    with pytest.raises(InvalidInput):
        load_rules(tmp_path / "missing.txt", SOURCE_RELATION)


@st.composite
def named_boxes(draw):
    """Boxes of spaces whose names are hard to tell apart and to quote."""
    hard = ["or", "a b", "a", '"', ",", "#x", "x#", "\\", " ", "not", "\n", "1", ">= 2", "forbid:", "é", "b"]
    name = st.sampled_from(hard)
    blocks = []
    for own in draw(
        st.lists(st.one_of(name, name.map(lambda n: f"a {n}")), min_size=1, max_size=3, unique=True)
    ):
        values = draw(
            st.lists(st.one_of(name, name.map(lambda n: f"{n} 1")), min_size=1, max_size=4, unique=True)
        )
        kind = draw(st.sampled_from(["one-hot", "binary", "count"]))
        blocks.append(
            one_hot(own, values, draw(st.booleans()))
            if kind == "one-hot"
            else binary(own, values)
            if kind == "binary"
            else count(own, values, high=4)
        )
    try:
        space = FeatureSpace(blocks)
    except InvalidInput:  # two axes of one name
        space = draw(spaces())
    found = []
    for _ in range(draw(st.integers(1, 3))):
        axes = draw(st.lists(st.sampled_from(space.axes), min_size=1, unique_by=lambda axis: axis.name))
        conditions = {}
        for axis in axes:
            most = 1 if space.block(axis.block).kind == "binary" else len(axis)
            values = draw(st.lists(st.sampled_from(axis.values), min_size=1, max_size=most, unique=True))
            conditions[axis.name] = tuple(v for v in axis.values if v in values)
        found.append(Box(tuple(sorted(conditions.items(), key=lambda c: space.axis_index(c[0])))))
    return space, found


@given(named_boxes())
def test_what_is_written_reads_back_as_the_same_boxes(case):
    space, found = case
    assert parse_rules(rules_text(found, space), space).forbidden == tuple(found)


@given(spaces())
def test_everything_and_nothing_can_be_written(space):
    points = next(space.points())
    assert not parse_rules(rules_text([Box(())], space), space).contains(points).any()
    assert parse_rules(rules_text([], space), space).contains(points).all()
