"""Scores from files and streams are read as they were written, and decoded as if one at a time."""

import io
import json
import os
import tracemalloc

import numpy as np
import pytest
from chain_strategies import chains, columns, learned, sequence_features, sequences_of_one_model
from hypothesis import given, settings
from hypothesis import strategies as st

import lcons_decode._stream as module
from lcons_core import InvalidInput, LconsError, LearnedConstraint, RectifierNetwork, iob2
from lcons_core.features import Counts, NgramContext
from lcons_decode import (
    ChainScores,
    Hard,
    Scored,
    Soft,
    beam_search,
    brute,
    constrained_viterbi,
    decode_batch,
    decode_global,
    decode_lagrangian,
    load_constraints,
    nbest,
    viterbi,
)
from lcons_decode._stream import decode_scored
from lcons_decode.files._answers import conll, described
from lcons_decode.files._scores import read_labels, read_model, read_scored
from lcons_decode.ilp import decode_ilp

LABELS = ("B-X", "I-X", "O")


def of_npz(**arrays):
    content = io.BytesIO()
    np.savez(content, **arrays)
    return io.BytesIO(content.getvalue())


def of_lines(*lines):
    return io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode())


def at_most(count, labels=LABELS):
    """At most `count` labels are not O."""
    feature = Counts(labels)
    W = [[float(label != "O") for label in labels]]
    return LearnedConstraint(RectifierNetwork(W, [1.0 - count]), feature.space, feature)


# Reading.


@st.composite
def models(draw):
    """Sequences that share one model, with a column of words."""
    words = st.sampled_from(["a", "ä", "語"])
    return [
        Scored(scores, {"word": tuple(draw(st.lists(words, min_size=len(scores), max_size=len(scores))))})
        for scores in draw(sequences_of_one_model())
    ]


def assert_same(found, expected):
    found = list(found)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        for name in ("emission", "transition", "start", "stop"):
            assert np.array_equal(getattr(one.scores, name), getattr(other.scores, name))
        assert one.scores.labels == other.scores.labels
        assert dict(one.x) == dict(other.x)


@given(models(), st.booleans(), st.sampled_from("CF"), st.sampled_from([np.float64, np.float32]))
@settings(max_examples=50)
def test_npz_files_are_read_as_written(sequences, compressed, order, kind):
    first = sequences[0].scores
    content = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(
        content,
        emission=np.asarray(np.concatenate([s.scores.emission for s in sequences]), kind, order=order),
        offsets=np.cumsum([0, *(len(s.scores) for s in sequences)]),
        labels=np.array(first.labels),
        transition=np.asarray(first.transition, order=order),
        start=first.start,
        stop=first.stop,
        words=np.array([word for s in sequences for word in s.x["word"]], dtype="U3"),
    )
    content.seek(0)
    assert_same(read_scored(content, "it"), sequences)


@given(models(), st.booleans())
@settings(max_examples=50)
def test_json_lines_are_read_as_written(sequences, name_labels):
    first = sequences[0].scores
    shared = {name: getattr(first, name).tolist() for name in ("transition", "start", "stop")}
    head = {**({"labels": first.labels} if name_labels else {}), **shared}
    lines = [{"emission": s.scores.emission.tolist(), "words": s.x["word"]} for s in sequences]
    labels = None if name_labels else first.labels
    assert_same(read_scored(of_lines(head, *lines), "it", labels), sequences)


def test_transitions_and_words_may_be_left_out():
    (scored,) = read_scored(of_lines({"labels": LABELS}, {"emission": [[1, 2, 3]]}), "it")
    assert (scored.scores.transition.any(), scored.x, scored.where) == (False, {}, "it:2")
    (scored,) = read_scored(of_npz(emission=np.ones((1, 3)), offsets=[0, 1], labels=LABELS), "it")
    assert (scored.scores.transition.any(), scored.x, scored.where) == (False, {}, "it: sequence 1")


def test_a_new_header_begins_a_new_model():
    lines = of_lines({"labels": ["A"]}, {"emission": [[1]]}, {"labels": ["B", "C"]}, {"emission": [[1, 2]]})
    assert [answer.y for _, answer in decode_scored(read_scored(lines, "it"))] == [("A",), ("C",)]


def test_a_byte_order_mark_blank_lines_and_values_that_are_no_columns_are_passed_over():
    line = '{"emission": [[1]], "id": "x", "text": "dog", "n": 3, "gold": ["A"]}'
    text = '\ufeff{"labels": ["A"]}\r\n\n  \n' + line
    (scored,) = read_scored(io.BytesIO(text.encode()), "it")
    assert (scored.id, scored.x) == ("x", {"gold": ("A",)})


def test_an_npz_file_from_a_pipe_is_that_of_the_disk():
    content = of_npz(emission=[[1.0, 2.0], [3.0, 4.0]], offsets=[0, 2], labels=["A", "B"]).getvalue()
    reads, writes = os.pipe()
    with os.fdopen(writes, "wb") as file:
        file.write(content)
    with os.fdopen(reads, "rb") as pipe:
        (piped,) = read_scored(pipe, "it")
    (expected,) = read_scored(io.BytesIO(content), "it")
    assert_same([piped], [expected])


def test_npz_files_are_not_held_in_memory(tmp_path):
    rows = 100_000
    np.savez(
        tmp_path / "big.npz",
        emission=np.ones((rows, 40)),
        offsets=np.arange(0, rows + 1, 20),
        labels=list(map(str, range(40))),
    )
    with (tmp_path / "big.npz").open("rb") as file:
        tracemalloc.start()
        assert sum(len(scored.scores) for scored in read_scored(file, "it")) == rows
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 3e6 < rows * 40 * 8 / 10


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("\ufeffB-X\r\nI-X\n\nO", {}),
        ('["B-X", "I-X", "O"]\n', {}),
        ('{"labels": ["B-X", "I-X", "O"], "start": [0, 1, 2]}', {"start": [0, 1, 2]}),
    ],
)
def test_labels_are_a_line_each_or_json_which_may_have_the_scores_of_transitions(text, shared, tmp_path):
    (tmp_path / "labels").write_text(text, encoding="utf-8")
    assert read_model(tmp_path / "labels") == {"labels": LABELS, **shared}
    assert shared or read_labels(tmp_path / "labels") == LABELS


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b'{"labels": ["A"], "transitions": 1}',
        b'{"labels": ["A", "B"], "transition": [[1]]}',
        b"\xe9",
        b"[1, 2",
    ],
)
def test_a_wrong_file_of_labels_is_refused(content, tmp_path):
    (tmp_path / "labels").write_bytes(content)
    with pytest.raises(InvalidInput):
        read_model(tmp_path / "labels")
    with pytest.raises(LconsError):
        read_labels(tmp_path / "none")


OBJECTS = np.array([{}, "a"], dtype=object)
GOOD = {"emission": np.ones((2, 3)), "offsets": [0, 2], "labels": LABELS}


@pytest.mark.parametrize(
    "arrays",
    [
        {"emission": None},
        {"offsets": None},
        {"labels": None},
        {"labels": [0, 1, 2]},
        {"labels": ["A", "A", "B"]},
        {"labels": ["A", "B"]},
        {"emission": np.ones((1, 2, 3))},
        {"emission": np.array("x")},
        {"emission": np.full((2, 3), np.nan)},
        {"emission": np.full((2, 3), "1")},
        {"offsets": [0, 1]},
        {"offsets": [0, 3, 2]},
        {"offsets": [0.0, 2.0]},
        {"offsets": 3},
        {"transition": np.ones((2, 3))},
        {"start": np.ones(2)},
        {"transitions": np.ones((3, 3))},
        {"words": ["a"]},
        {"words": ["a", "b"], "word": ["a", "b"]},
        {"words": OBJECTS},
        {"words": np.array([b"\xff", b"a"])},
    ],
)
def test_a_wrong_npz_file_is_refused(arrays):
    named = {key: value for key, value in {**GOOD, **arrays}.items() if value is not None}
    with pytest.raises(LconsError):
        list(read_scored(of_npz(**named), "it"))


def test_a_damaged_npz_file_is_one_sentence():
    content, empty = of_npz(**GOOD).getvalue(), b"PK\5\6" + bytes(18)
    flipped = content[:200] + bytes([content[200] ^ 0xFF]) + content[201:]
    for damaged in (content[:-50], flipped, b"PK" + bytes(100), empty):
        with pytest.raises(InvalidInput):
            list(read_scored(io.BytesIO(damaged), "it"))


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[1]",
        '{"labels": ["A"], "labels": ["B"]}',
        '{"emission": [[1]]}',
        '{"label": ["A"]}',
        '{"labels": []}',
        '{"labels": ["A", 3]}',
        '{"labels": ["A", "B"], "start": [1, null]}',
        '{"labels": ["A", "B"], "transition": [[1, 2], [3]]}',
        '{"labels": ["A"], "stop": [1, 2]}',
        "\xff",
        '{"labels": ["\xe9"]}',
        "\x93NUMPY\x01\0",
        "[" * 100_000,
    ],
)
def test_a_wrong_header_is_refused_with_its_line(line):
    with pytest.raises(InvalidInput, match=r"it:1: |^it: "):
        list(read_scored(io.BytesIO(line.encode("latin-1")), "it"))


@pytest.mark.parametrize(
    "line",
    [
        '{"emission": [[1, 2], [3]]}',
        '{"emission": [[1, 2], [3, 4], [5, null]]}',
        '{"emission": [[1, 2], ["3", "4"]]}',
        '{"emission": [[true, false]]}',
        '{"emission": [[1, 2], 3]}',
        '{"emission": [[1, 2], [[3], 4]]}',
        '{"emission": "none"}',
        '{"emission": [[1, 1' + "0" * 400 + "]]}",
        '{"emission": [[1, 2], [1, NaN]]}',
        '{"emission": [1, 2]}',
        '{"emission": [[1, 2, 3]]}',
        '{"emission": [[1, 2]], "words": ["a", "b"]}',
        '{"emission": [[1, 2]], "words": [3]}',
        '{"emission": [[1, 2]], "transition": [[1]]}',
        '{"emission": [[1, 2]], "labels": ["A"]}',
    ],
)
def test_a_wrong_sequence_is_refused_with_its_line(line):
    with pytest.raises(InvalidInput, match="it:2: "):
        list(read_scored(io.BytesIO(b'{"labels": ["A", "B"]}\n' + line.encode()), "it"))


def test_labels_that_do_not_agree_are_refused():
    with pytest.raises(InvalidInput):
        list(read_scored(of_lines({"labels": ["A"]}), "it", ["B"]))
    with pytest.raises(InvalidInput):
        read_scored(of_npz(**GOOD), "it", ["O", "B-X", "I-X"])


# Decoding.


@given(st.data())
@settings(max_examples=25)
def test_a_stream_is_decoded_as_one_at_a_time(data):
    sequences = []
    first = data.draw(chains(max_T=4, max_L=3))
    for _ in range(data.draw(st.integers(1, 5))):
        other = data.draw(st.sampled_from([first, data.draw(chains(max_T=4, max_L=3))]))
        sequences.append(Scored(other, data.draw(columns(len(other)))))
    known = max((s.scores.labels for s in sequences), key=len)
    constraint = data.draw(sequence_features(known, max_n=3).flatmap(learned))
    use = data.draw(st.sampled_from([Hard(constraint), Soft(constraint, 0.5)]))
    beam = data.draw(st.sampled_from([None, 2]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK_SEQUENCES", data.draw(st.integers(1, 3)))
        found = list(decode_scored(sequences, [use], beam=beam))
    assert [scored for scored, _ in found] == sequences
    for scored, answer in found:
        search, width = (constrained_viterbi, {}) if beam is None else (beam_search, {"width": beam})
        single, alone = search(scored.scores, [use], scored.x, **width), viterbi(scored.scores)
        assert (answer.y, answer.score, answer.status) == (single.y, single.score, single.status)
        assert answer.stats["alone"] == alone.y
        assert answer.stats["changed"] == sum(a != b for a, b in zip(single.y, alone.y, strict=False))


def test_global_constraints_are_decoded_best_first():
    scores = ChainScores([[3.0, 0.0, 1.0], [0.0, 2.0, 1.5], [2.0, 0.0, 0.0]], labels=LABELS)
    constraints = [Hard(at_most(1), "one"), Hard(iob2(LABELS), "iob2")]
    ((_, answer),) = decode_scored([Scored(scores)], constraints)
    assert (answer.y, answer.score) == (("B-X", "O", "O"), 4.5)
    assert answer.score == decode_global(scores, constraints).score
    ((_, short),) = decode_scored([Scored(scores)], constraints, budget=1)
    assert str(short.status) == "out of budget"
    for options in ({"budget": 0}, {"beam": 0}):
        with pytest.raises(InvalidInput):
            list(decode_scored([Scored(scores)], constraints, **options))


def test_under_global_constraints_each_answer_is_given_before_the_next_sequence_is_read():
    scores, read, tried = ChainScores([[3.0, 0.0, 1.0], [2.0, 0.0, 0.0]], labels=LABELS), [], []

    def sequences():
        for number in range(3):
            read.append(number)
            yield Scored(scores, id=number)

    found = decode_scored(sequences(), [at_most(1)], progress=lambda scored, n: tried.append((scored.id, n)))
    for number in range(3):
        scored, answer = next(found)
        assert (scored.id, read) == (number, list(range(number + 1)))
        assert tried == [(number, n) for n in range(1, answer.stats["tried"] + 1)]
        tried.clear()


def test_a_constraint_for_other_labels_or_columns_that_are_not_there_is_one_sentence():
    scored = Scored(ChainScores([[1.0, 0.0]], labels=["A", "Q"]), {"word": ("dog",)}, "it:2")
    for constraint in (iob2(LABELS), at_most(1)):
        with pytest.raises(InvalidInput):
            list(decode_scored([scored], [Hard(constraint, "c")]))
    feature = NgramContext(("A", "Q"), ("NN",), 1)
    reads = LearnedConstraint(RectifierNetwork(np.ones((1, 3)), [0.0]), feature.space, feature)
    with pytest.raises(InvalidInput, match=r"it:2: .*pos"):
        list(decode_scored([scored], [Hard(reads, "c")]))


# Constraint files, and the text of answers.


def test_constraints_are_hard_or_soft_as_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for name in ("a.json", "b:2", "sub/a.json"):
        iob2(LABELS).save(tmp_path / name)
    found = load_constraints(["a.json", "sub/a.json:0.5", "b:2"])
    assert [(u.name, getattr(u, "weight", None)) for u in found] == [
        ("a.json", None),
        ("sub/a.json", 0.5),
        ("b:2", None),
    ]
    assert [u.weight for u in load_constraints(["a.json", "sub/a.json:0.5"], soft=2.0)] == [2.0, 0.5]
    assert [u.cost for u in load_constraints(["a.json:1", "b:2:3"])] == ["hinge"] * 2
    assert [u.cost for u in load_constraints(["a.json", "b:2"], 0.5, "sigmoid")] == ["sigmoid"] * 2
    (tmp_path / "damaged.json").write_text("{")
    wrong = (["a.json", "a.json"], ["a.json:-1"], ["a.json:x"], ["a.json:"], ["none.json:x"], ["none.json"])
    for names in (*wrong, ["damaged.json"]):
        with pytest.raises(LconsError):
            load_constraints(names)


def test_answers_are_written_as_columns_or_plain_data():
    scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0]], labels=LABELS)
    scored = Scored(scores, {"pos": ("NN", "NN"), "word": ("New", "York")}, id=7)
    ((_, answer),) = decode_scored([scored], [iob2(LABELS)])
    assert conll(scored, answer) == "New NN B-X\nYork NN I-X\n\n"
    shown = described(scored, answer)
    assert (shown["id"], shown["without"], shown["changed"]) == (7, ["O", "I-X"], 1)
    for cell in ("New York", "", "a\u2028"):
        with pytest.raises(InvalidInput):
            conll(Scored(scores, {"word": (cell, "x")}), answer)


def test_impossible_scores_and_empty_sequences_are_written_too():
    sequences = [Scored(ChainScores(np.full((T, 3), -np.inf), labels=LABELS)) for T in (2, 0)]
    (nothing, none), (empty, no_labels) = decode_scored(sequences, [iob2(LABELS)])
    assert conll(nothing, none) == "_\n_\n\n"
    assert [described(nothing, none)[key] for key in ("labels", "without", "score")] == [None] * 3
    written = json.loads(json.dumps(described(empty, no_labels)))
    assert (written["labels"], written["without"]) == ([], [])
    assert conll(empty, no_labels) == "\n"


def test_every_decoder_reads_a_plain_list_of_words():
    feature = NgramContext(LABELS, ("New", "York"), n=1, column="word")
    W = np.zeros((1, feature.space.d))
    W[0, feature.space.column("word", "York")] = W[0, feature.space.column("label", "O")] = 1.0
    no_york_outside = LearnedConstraint(RectifierNetwork(W, [0.0]), feature.space, feature)
    scores = ChainScores([[0.0, 0.0, 1.0], [0.0, 0.5, 1.0]], labels=LABELS)
    words, answer = ["New", "York"], ("O", "I-X")
    for decode in (constrained_viterbi, beam_search, decode_global, brute, decode_lagrangian):
        assert decode(scores, [no_york_outside], x=words).y == answer, decode
    assert nbest(scores, 1, [no_york_outside], words)[0].y == answer
    assert [found.y for found in decode_batch([scores], [no_york_outside], [words])] == [answer]
    assert decode_ilp(scores, [no_york_outside], words).y == answer
    assert [found.y for _, found in decode_scored([Scored(scores, words)], [Hard(no_york_outside)])] == [
        answer
    ]
    with pytest.raises(InvalidInput):
        constrained_viterbi(scores, [no_york_outside], "no")
