"""Fetching: checked, unpacked and whole, or one sentence and nothing at the final path."""

import gzip
import hashlib
import io
import socket
import tarfile
import zipfile

import pytest
from corpus_server import serving

from lcons_tasks.data import FetchFailed, fetch
from lcons_tasks.data import _fetch as fetching
from lcons_tasks.data._catalog import Corpus, CorpusFile

TEXT = "".join(f"w{i} NN B-NP\n\n" for i in range(20_000)).encode()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def tar(**members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo("folder/" + name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zipped(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def toy(address, unpack="as it is", member="", sent=None, content=None):
    file = CorpusFile("toy/toy.txt", address, "columns", unpack, member, content, sent)
    return {"toy": Corpus("toy", "a toy", "CC0", (file,))}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "data"


@pytest.fixture
def target(folder):
    return folder / "toy" / "toy.txt"


def left_over(folder):
    """What is in the corpus's folder."""
    return sorted(path.name for path in (folder / "toy").iterdir())


@pytest.mark.parametrize("length", [True, False])
def test_a_fetched_file_is_whole_and_nothing_else_is_left(folder, target, length):
    seen = []
    with serving(TEXT, length=length) as served:
        (kept,) = fetch("toy", lambda *progress: seen.append(progress), catalog=toy(served.address))
    assert kept.path == target
    assert target.read_bytes() == TEXT
    assert left_over(folder) == ["toy.txt"]
    assert seen[-1] == ("toy/toy.txt", len(TEXT), len(TEXT) if length else None)


@pytest.mark.parametrize(
    ("unpack", "member", "content"),
    [
        ("gz", "", gzip.compress(TEXT)),
        ("tar.gz", "toy.txt", tar(other=b"x", **{"toy.txt": TEXT})),
        ("zip", "toy.txt", zipped(other=b"x", **{"toy.txt": TEXT})),
    ],
)
def test_archives_are_unpacked(target, unpack, member, content):
    with serving(content) as served:
        (kept,) = fetch("toy", catalog=toy(served.address, unpack, member, sha256(content), sha256(TEXT)))
    assert target.read_bytes() == TEXT
    assert kept.remark == "checksum as published"


@pytest.mark.parametrize(
    ("content", "how", "server"),
    [
        (TEXT, {"unpack": "gz"}, {}),
        (gzip.compress(TEXT)[:-20], {"unpack": "gz"}, {}),
        (tar(other=TEXT), {"unpack": "tar.gz", "member": "toy.txt"}, {}),
        (gzip.compress(TEXT), {"unpack": "tar.gz", "member": "toy.txt"}, {}),
        (zipped(other=TEXT), {"unpack": "zip", "member": "toy.txt"}, {}),
        (TEXT, {"unpack": "zip", "member": "toy.txt"}, {}),
        (b"<html>moved</html>", {}, {}),
        (b"\n", {}, {}),
        (b"", {}, {}),
        (TEXT, {"sent": "0" * 64}, {}),
        (TEXT, {"content": "0" * 64}, {}),
        (TEXT, {}, {"cut_after": len(TEXT) // 2}),
        (TEXT, {}, {"status": 404}),
    ],
)
def test_a_damaged_cut_or_other_file_is_refused_and_removed(folder, content, how, server):
    with serving(content, **server) as served, pytest.raises(FetchFailed):
        fetch("toy", catalog=toy(served.address, **how))
    assert left_over(folder) == []


def test_a_file_that_is_here_is_not_downloaded_again():
    with serving(TEXT) as served:
        fetch("toy", catalog=toy(served.address))
        (kept,) = fetch("toy", catalog=toy(served.address))
    assert kept.remark == "already here"
    assert served.requests == 1


@pytest.mark.parametrize(
    "address", ["http://example.org/x", "ftp://example.org/x", "file:///etc/hosts", "data:,x", "x", ""]
)
def test_only_https_is_fetched(address, folder):
    with pytest.raises(FetchFailed):
        fetch("toy", catalog=toy(address))
    with serving(TEXT, elsewhere=address or "file:///") as served:
        with pytest.raises(FetchFailed):
            fetch("toy", catalog=toy(served.address))
        assert served.requests == 1 or address == "x"  # which is relative to the server's address
    assert left_over(folder) == []


@pytest.mark.parametrize(
    ("length", "unpack", "content"),
    [
        (True, "as it is", b"x" * 10**6),
        (False, "as it is", b"x" * 10**6),
        (True, "gz", gzip.compress(b"x" * 10**5)),
    ],
)
def test_a_file_without_end_is_given_up(length, unpack, content, folder, monkeypatch):
    monkeypatch.setattr(fetching, "MAX_BYTES", 1000)
    with serving(content, length=length) as served, pytest.raises(FetchFailed):
        fetch("toy", catalog=toy(served.address, unpack))
    assert left_over(folder) == []


@pytest.mark.parametrize("pause", [None, 0.01])
def test_a_server_that_is_silent_or_slow_is_given_up(folder, monkeypatch, pause):
    monkeypatch.setattr(fetching, "TIMEOUT", 0.2)
    with serving(TEXT, pause=pause) if pause else socket.create_server(("127.0.0.1", 0)) as server:
        address = server.address if pause else f"http://127.0.0.1:{server.getsockname()[1]}/file"
        with pytest.raises(FetchFailed):
            fetch("toy", catalog=toy(address))
    assert left_over(folder) == []
