"""Files give back what was saved, or one sentence; nothing is half written and nothing half read."""

import errno
import json
import os
import stat
from fractions import Fraction
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcons_core import (
    DamagedFile,
    FeatureSpace,
    InvalidInput,
    LconsError,
    LearnedConstraint,
    RectifierNetwork,
    SparsePsi,
    TooLarge,
    iob2,
    load,
    one_hot,
    save,
)
from lcons_core import _document as files
from lcons_core._arithmetic import LARGEST_MAGNITUDE
from lcons_core._document import check_plain, dumps, hash_psi, loads, record, versions
from lcons_core._files import digest, parse, pretty, replacing, replacing_folder
from lcons_core.features import Existence, NgramLabels, Tuples
from lcons_core.testing import constraints, structures

PAIRS = Tuples(("source", "relation"), (("Person", "Location"), ("NoRel", "Kill")))


def small(provenance: object = None) -> LearnedConstraint:
    network = RectifierNetwork([[0.5, 2.0, -1.0, 2.0]], [-3.0])
    notes = {"seed": 1} if provenance is None else provenance
    return LearnedConstraint(network, PAIRS.space, PAIRS, notes)


def altered(**members: object) -> str:
    """The file of `small`, with members replaced and the checksum right again."""
    document = {**json.loads(dumps(small())), **members}
    del document["sha256"]
    return json.dumps({**document, "sha256": digest(document)})


# Round trips


@given(constraints())
def test_a_constraint_comes_back_equal_and_its_text_byte_for_byte(constraint):
    text = dumps(constraint)
    again = loads(text)
    assert again == constraint
    assert dumps(again) == text


@given(constraints(feature=True), st.data())
def test_every_feature_kind_comes_back_and_gives_the_same_psi(constraint, data):
    structure = data.draw(structures(constraint.feature))
    again = loads(dumps(constraint))
    assert again.scope == constraint.scope
    assert again.violations(structure).tolist() == constraint.violations(structure).tolist()


@given(
    st.lists(st.floats(-LARGEST_MAGNITUDE, LARGEST_MAGNITUDE), min_size=18, max_size=18),
    st.sets(st.integers(0, 17)),
)
def test_every_float_comes_back_exactly_in_dense_and_in_sparse_rows(numbers, zeros):
    row = [0.0 if j in zeros else x for j, x in enumerate(numbers)]
    space = FeatureSpace([one_hot("label", [f"v{i}" for i in range(18)])])
    again = loads(dumps(LearnedConstraint(RectifierNetwork([row], row[:1]), space)))
    assert [Fraction(x) for x in again.network.W[0]] == [Fraction(x) for x in row]


def test_save_and_load_through_a_file(tmp_path):
    path = tmp_path / "pairs.json"
    small().save(path)
    assert load(path) == load(str(path)) == LearnedConstraint.load(path) == small()
    assert path.read_text(encoding="utf-8") == dumps(small())
    (tmp_path / "another").touch()
    assert path.stat().st_mode == (tmp_path / "another").stat().st_mode


# Writing


@pytest.mark.parametrize(
    "bad",
    [
        {"x": float("nan")},
        {"x": [float("inf")]},
        {"x": {1: "integer key"}},
        {"x": np.int64(3)},
        {"x": object()},
        {"x": b"bytes"},
        {"x": {1, 2}},
        {"x": "\ud800"},
        {"\udfff": 1},
        {"x": 2**129},
        reduce(lambda inner, _: {"x": inner}, range(2000), {}),
    ],
)
def test_provenance_that_is_not_plain_is_refused_before_anything_is_written(tmp_path, bad):
    with pytest.raises(InvalidInput):
        save(small(bad), tmp_path / "file.json")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_a_missing_parent_and_a_file_as_parent_are_one_sentence(tmp_path):
    (tmp_path / "file").write_text("old")
    for path in [
        tmp_path,
        tmp_path / "missing" / "a.json",
        tmp_path / "file" / "a.json",
        tmp_path / ("a" * 300),
        "a\0b",
        None,
        os.devnull,
    ]:
        with pytest.raises(LconsError):
            save(small(), path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]
    assert (tmp_path / "file").read_text() == "old"
    assert not stat.S_ISREG(Path(os.devnull).stat().st_mode)


@pytest.mark.parametrize("step", ["replace", "fsync"])
@pytest.mark.parametrize("old", ["an older file", None])
def test_a_failure_half_way_leaves_nothing_behind(tmp_path, monkeypatch, step, old):
    path = tmp_path / "file.json"
    if old is not None:
        path.write_text(old)

    def full(*_args, **_options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    with pytest.raises(LconsError):
        save(small(), path)
    monkeypatch.undo()
    assert [p.read_text() for p in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_file_that_load_would_refuse_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    with pytest.raises(TooLarge):
        save(small(), tmp_path / "file.json")
    assert list(tmp_path.iterdir()) == []


def test_a_feature_that_cannot_be_loaded_again_is_not_saved():
    class Private(Tuples):
        """Without a kind of its own."""

    feature = Private(PAIRS.names, PAIRS.values)
    constraint = LearnedConstraint(small().network, feature.space, feature)
    with pytest.raises(InvalidInput):
        dumps(constraint)


# Files and folders appear whole or not at all


def test_a_replacement_that_cannot_be_put_in_place_leaves_the_old_folder(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/old").touch()
    rename = os.rename

    def fail(source, target):
        if str(source).endswith("new"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="No space"), replacing_folder(tmp_path / "mine"):
        pass
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["mine", "mine/old"]


def test_an_error_leaves_the_old_content(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    for make in (replacing(tmp_path / "file"), replacing_folder(tmp_path / "folder")):
        with pytest.raises(ZeroDivisionError), make:
            1 / 0  # noqa: B018
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_text() == "old"


def test_of_two_folders_at_once_the_last_or_the_first_stays(tmp_path):
    for first_stays, expected in ((False, "outer"), (True, "inner")):
        target = tmp_path / expected
        with replacing_folder(target, first_stays) as outer:
            (outer / "outer").touch()
            with replacing_folder(target, first_stays) as inner:
                (inner / "inner").touch()
        assert [path.name for path in target.iterdir()] == [expected]


# Reading


def test_a_byte_order_mark_is_no_damage(tmp_path):
    path = tmp_path / "constraint.json"
    constraint = iob2(["B-A", "I-A", "O"])
    save(constraint, path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert dumps(load(path)) == dumps(constraint)


def test_damaged_bytes_are_one_sentence_that_names_the_file(tmp_path):
    path = tmp_path / "broken.json"
    whole = dumps(small()).encode()
    for content in [
        b"\n",
        b"\x80\x04K\x01.",
        whole + b"{}",
        whole.replace(b"-3.0", b"-3.5"),
        whole.replace(b"-3.0", b"NaN"),
        whole.replace(b"-3.0", b"1e999"),
        whole.replace(b"-3.0", b"9" * 5000),
        whole.replace(b'"version"', b'"format": "lcons-constraint", "version"'),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 400 + b"]" * 400,
        b"[]",
        b"{}",
        b'{"format": "lcons-constraint", "version": 1}',
        b'{"format": "lcons-constraint", "version": 7, "nothing": "else is as today"}',
    ]:
        path.write_bytes(content)
        with pytest.raises(DamagedFile) as caught:
            load(path)
        assert str(path) in str(caught.value)


def test_a_path_without_a_file_is_one_sentence(tmp_path):
    for path in (tmp_path / "missing.json", tmp_path, "a\0b", None):
        with pytest.raises(DamagedFile):
            load(path)


def test_a_file_above_the_limit_is_refused_unread(tmp_path, monkeypatch):
    path = tmp_path / "large.json"
    save(small(), path)
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    with pytest.raises(DamagedFile):
        load(path)


SPACE = PAIRS.space.to_dict()
FEATURE = PAIRS.to_dict()
PART = {"W": [[0.5, 2.0, -1.0, 2.0]], "b": [-3.0]}


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("format", "lcons-other"),
        ("version", True),
        ("version", 0),
        ("version", 7),
        ("extra", 1),
        ("scope", "global"),
        ("provenance", []),
        ("space", {"blocks": []}),
        ("space", {"blocks": [{"name": "a", "kind": "many", "values": ["x"]}]}),
        ("space", {"blocks": [{"name": "a", "kind": "one-hot", "values": "xyz"}]}),
        ("space", {"blocks": [{**SPACE["blocks"][0], "other": False}]}),
        ("space", {**SPACE, "requires": [["source", "x", "y", ["z"]]]}),
        ("space", {"blocks": SPACE["blocks"][:1]}),
        ("feature", {**FEATURE, "kind": "future"}),
        ("feature", {**FEATURE, "extra": 1}),
        ("feature", NgramLabels(("A", "B")).to_dict()),
        ("feature", {**NgramLabels(("A", "B")).to_dict(), "n": 10**9}),
        ("feature", {**Existence(("A",)).to_dict(), "n": 10**9}),
        ("network", {"parts": []}),
        ("network", {"parts": [PART], "K": 1}),
        ("network", {"parts": [{**PART, "W": [[1.0]]}]}),
        ("network", {"parts": [{**PART, "b": [True]}]}),
        ("network", {"parts": [{**PART, "b": [2**53 + 1]}]}),
        ("network", {"parts": [{**PART, "b": [1e300]}]}),
        ("network", {"parts": [{**PART, "W": [{"columns": [4], "values": [1.0]}]}]}),
        ("network", {"parts": [{**PART, "W": [{"columns": [1, 1], "values": [1.0]}]}]}),
        ("network", {"parts": [{**PART, "W": [{"columns": [1], "values": []}]}]}),
    ],
)
def test_content_that_does_not_fit_is_one_sentence_even_with_a_right_checksum(member, value):
    with pytest.raises(DamagedFile) as caught:
        loads(altered(**{member: value}), "f.json")
    assert "f.json" in str(caught.value)


def test_a_feature_of_another_package_that_raises_anything_is_a_damaged_file(monkeypatch):
    def broken(_cls, _data):
        raise ZeroDivisionError("by design")

    text = altered()
    monkeypatch.setattr(Tuples, "from_dict", classmethod(broken))
    with pytest.raises(DamagedFile):
        loads(text)


# Plain data and provenance


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**128), 2**128) | st.text() | st.floats(
    allow_nan=False, allow_infinity=False), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20))  # fmt: skip
@settings(max_examples=50)
def test_plain_data_is_parsed_as_it_was_printed(value):
    check_plain(value, "it")
    assert digest(parse(pretty(value))) == digest(value)


def test_record_is_plain_the_same_every_time_and_has_versions():
    entry = record(seed=3, config={"hidden": 2}, data="abc", packages=["numpy", "no-such-package"])
    assert entry == record(seed=3, config={"hidden": 2}, data="abc", packages=["numpy", "no-such-package"])
    assert entry["versions"]["no-such-package"] == "unknown"
    assert entry["versions"]["numpy"] == np.__version__ == versions()["numpy"]
    assert loads(dumps(small(entry))).provenance == entry
    with pytest.raises(InvalidInput):
        record(config={"x": np.float32(1)})


def test_the_data_hash_is_of_the_vectors_not_of_their_storage():
    dense = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert hash_psi(dense) == hash_psi(SparsePsi.from_dense(dense))
    different = [hash_psi(dense), hash_psi(dense[::-1]), hash_psi(dense, [1, 0]), hash_psi(dense, [0, 1])]
    assert len({*different, hash_psi(dense[:, ::-1]), hash_psi(dense, [1], [0])}) == 6
