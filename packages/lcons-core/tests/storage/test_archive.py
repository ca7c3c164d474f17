"""Arrays of npz files: what is there is read; what a file only claims is refused, before it is allocated."""

import contextlib
import io
import os
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from lcons_core import DamagedFile
from lcons_core._files import open_regular
from lcons_core.storage._archive import Archive, explained, opened_archive


def packed(method=zipfile.ZIP_STORED, **members):
    """An archive of arrays, or of bytes as they are."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, member in members.items():
            if not isinstance(member, bytes):
                content = io.BytesIO()
                np.save(content, member)
                member = content.getvalue()
            archive.writestr(f"{name}.npy", member)
    out.seek(0)
    return out


def npy(header, content=b""):
    """An npy file with any header."""
    text = header.encode("latin1").ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def read(source, name="a"):
    with explained():
        return Archive(source).array(name)


SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
KINDS = st.sampled_from(["<f8", "<f4", "<i8", "|b1", "<U3", "|S2"])


@given(
    arrays.arrays(KINDS, SHAPES), st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]), st.booleans()
)
def test_arrays_are_as_numpy_wrote_them(array, method, by_columns):
    written = np.asfortranarray(array) if by_columns else array
    found = read(packed(method, a=written))
    assert found.dtype == array.dtype
    assert found.shape == np.shape(written)
    assert found.tobytes() == np.ascontiguousarray(written).tobytes()


@pytest.mark.parametrize("order", "CF")
def test_rows_come_one_after_another(order):
    array = np.arange(12.0).reshape(4, 3)
    member = Archive(packed(a=np.array(array, order=order))).member("a")
    assert np.array_equal(member.rows(1), array[:1])
    assert np.array_equal(member.rows(3), array[1:])


HUGE = {
    "more than there is": "{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000,)}",
    "less than nothing": "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
    "two negatives": "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}",
    "beyond 64 bits": "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 99999999, 99999999)}",
    "no tuple": "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
    "long strings": "{'descr': '<U999999999', 'fortran_order': False, 'shape': (9,)}",
    "objects": "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "deep": "(" * 3000,
    "no header": "",
    "unknown type": "{'descr': '<q7', 'fortran_order': False, 'shape': (1,)}",
}


@pytest.mark.parametrize("claim", HUGE.values(), ids=HUGE)
def test_false_claims_are_refused(claim):
    with pytest.raises(DamagedFile):
        read(packed(a=npy(claim, bytes(8))))


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch):
    monkeypatch.setattr("lcons_core.storage._archive.MOST_UNPACKED", 10**6)
    bomb = packed(zipfile.ZIP_DEFLATED, a=np.zeros(10**6))
    assert len(bomb.getvalue()) < 10**5
    with pytest.raises(DamagedFile):
        read(bomb)
    assert len(read(packed(a=np.zeros(10**6)))) == 10**6  # its bytes are in the file


@pytest.mark.parametrize("offset", [2**40, 2**63])
def test_a_member_at_an_offset_that_no_file_has_is_damage(offset):
    content = packed(a=np.zeros(1)).getvalue()
    entry, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    extra = struct.pack("<HHQ", 1, 8, offset)  # where zip64 states it
    listed = bytearray(content[entry:end] + extra)
    listed[30:32], listed[42:46] = struct.pack("<H", len(extra)), b"\xff" * 4
    last = bytearray(content[end:])
    last[12:16] = struct.pack("<I", len(listed))
    with pytest.raises(DamagedFile):
        read(io.BytesIO(content[:entry] + listed + last))


@pytest.mark.parametrize(("place", "value"), [(0, b"\x01\x00"), (2, b"\x63\x00")], ids=["locked", "method"])
def test_a_member_that_is_encrypted_or_packed_by_another_method_is_damage(place, value):
    content = bytearray(packed(a=np.zeros(1)).getvalue())
    for first in (6, content.index(b"PK\x01\x02") + 8):  # the flags of the member, and in the list of members
        content[first + place : first + place + 2] = value
    with pytest.raises(DamagedFile):
        read(io.BytesIO(content))


def test_two_members_of_one_name_are_refused():
    out = packed(a=np.zeros(1))
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("a.npy", b"")
    with pytest.raises(DamagedFile):
        Archive(out)
    out = packed(a=np.zeros(1))
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("a", b"")
    with pytest.raises(DamagedFile):
        Archive(out)


def test_members_that_nobody_asks_for_are_not_read():
    archive = Archive(packed(a=np.zeros(2), b=b"no array"))
    assert archive.names == ("a", "b")
    assert archive.array("a").tolist() == [0, 0]
    with explained(), pytest.raises(DamagedFile):
        archive.array("c")


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 255)), min_size=1, max_size=5))
def test_changed_bytes_are_damaged_or_an_array_of_the_file_s_size(changes):
    content = bytearray(packed(a=np.arange(6.0)).getvalue())
    for place, value in changes:
        content[place % len(content)] = value
    with contextlib.suppress(DamagedFile):
        assert read(io.BytesIO(bytes(content))).nbytes <= len(content)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are POSIX's")
def test_only_regular_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular(path)
    (tmp_path / "file").write_bytes(packed(a=np.ones(1)).getvalue())
    with opened_archive(tmp_path / "file") as archive:
        assert archive.array("a").tolist() == [1]


def test_characters_that_do_not_exist_are_refused():
    for order in "<>":
        text = npy(f"{{'descr': '{order}U1', 'fortran_order': False, 'shape': (1,), }}", b"\x11" * 4)
        with pytest.raises(DamagedFile):
            read(packed(a=text))
