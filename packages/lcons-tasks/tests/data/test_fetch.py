"""Fetching: resumed, checked, unpacked and whole, or one sentence and nothing at the final path."""

import errno
import gzip
import hashlib
import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import zipfile
from urllib.request import Request

import pytest
from corpus_server import serving

from lcons_tasks.data import Corpus, CorpusFile, Download, FetchFailed, fetch, read_columns
from lcons_tasks.data import _download as downloading

TEXT = "".join(f"w{i} NN B-NP\n\n" for i in range(20_000)).encode()
HALF = len(TEXT) // 2


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


def count(path):
    return sum(1 for _ in read_columns(path))


def toy(address, unpack="as it is", member="", sent=None, content=None):
    file = CorpusFile("toy/toy.txt", Download(address, unpack, member, sent), count, content)
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


def test_a_fetched_file_is_whole_and_nothing_else_is_left(folder, target):
    seen = []
    with serving(TEXT) as served:
        (kept,) = fetch("toy", lambda *progress: seen.append(progress), catalog=toy(served.address))
    assert kept.path == target
    assert target.read_bytes() == TEXT
    assert left_over(folder) == ["toy.txt"]
    assert seen[-1] == ("toy/toy.txt", len(TEXT), len(TEXT))


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
    ("unpack", "content"),
    [
        ("gz", TEXT),
        ("gz", gzip.compress(TEXT)[:-20]),
        ("tar.gz", tar(other=TEXT)),
        ("tar.gz", gzip.compress(TEXT)),
        ("zip", zipped(other=TEXT)),
        ("zip", TEXT),
        ("as it is", b"<html>moved</html>"),
        ("as it is", b"\n"),
        ("as it is", b""),
    ],
)
def test_a_damaged_or_other_file_is_refused_and_removed(folder, unpack, content):
    with serving(content) as served, pytest.raises(FetchFailed, match=r"^expected .*; |removed"):
        fetch("toy", catalog=toy(served.address, unpack, "toy.txt" if unpack != "gz" else ""))
    assert left_over(folder) == []
    assert not (folder / "pins.json").exists()


def test_a_cut_download_is_resumed_where_it_stopped(folder, target):
    with serving(TEXT, cut_after=HALF) as served:
        catalog = toy(served.address)
        with pytest.raises(FetchFailed, match=r"the connection was cut .* resumes where it stopped"):
            fetch("toy", catalog=catalog)
        assert left_over(folder) == ["toy.txt.part", "toy.txt.part.json"]
        served.cut_after = None
        fetch("toy", catalog=catalog)
    assert served.requests == [None, f"bytes={HALF}-"]
    assert target.read_bytes() == TEXT
    assert left_over(folder) == ["toy.txt"]


@pytest.mark.parametrize(
    "how", [{"ranges": False}, {"wrong_range": True}, {"etag": None}, {"etag": 'W/"1"'}], ids=str
)
def test_a_server_that_cannot_resume_sends_the_whole_again(target, how):
    with serving(TEXT, cut_after=HALF, **how) as served:
        catalog = toy(served.address, content=sha256(TEXT))
        with pytest.raises(FetchFailed, match="cut"):
            fetch("toy", catalog=catalog)
        served.cut_after = None
        fetch("toy", catalog=catalog)
    assert target.read_bytes() == TEXT


def test_a_file_that_changed_between_two_halves_is_not_mixed(target):
    other = TEXT.replace(b"NN", b"JJ")
    with serving(TEXT, cut_after=HALF) as served:
        with pytest.raises(FetchFailed, match="cut"):
            fetch("toy", catalog=toy(served.address))
        served.content, served.etag, served.cut_after = other, '"2"', None
        fetch("toy", catalog=toy(served.address))
    assert target.read_bytes() == other


def test_a_part_of_another_address_is_not_continued(target):
    with serving(TEXT, cut_after=HALF) as served, pytest.raises(FetchFailed, match="cut"):
        fetch("toy", catalog=toy(served.address))
    with serving(TEXT) as served:
        fetch("toy", catalog=toy(served.address))
    assert served.requests == [None]
    assert target.read_bytes() == TEXT


@pytest.mark.parametrize("memory", ["", "[]", "{}", '{"address": 1}', '{"validator": 1, "total": "x"}'])
def test_a_part_whose_memory_is_damaged_is_not_continued(target, memory):
    target.parent.mkdir(parents=True)
    (target.parent / "toy.txt.part").write_bytes(b"x" * 10)
    (target.parent / "toy.txt.part.json").write_text(memory)
    with serving(TEXT) as served:
        fetch("toy", catalog=toy(served.address))
    assert served.requests == [None]
    assert target.read_bytes() == TEXT


def test_a_part_that_is_complete_is_not_asked_for_again(folder, target):
    with serving(TEXT) as served:
        part = folder / "part"
        folder.mkdir()
        downloading.download(served.address, part, lambda *_: None)
        downloading.download(served.address, part, lambda *_: None)
    assert served.requests == [None]
    assert part.read_bytes() == TEXT


def test_a_part_longer_than_the_file_starts_again(target):
    with serving(TEXT) as served:
        part = target.parent / "toy.txt.part"
        target.parent.mkdir(parents=True)
        part.write_bytes(TEXT + b"more")
        memory = {"address": served.address, "validator": '"1"', "total": None}
        (target.parent / "toy.txt.part.json").write_text(json.dumps(memory))
        fetch("toy", catalog=toy(served.address))
    assert served.requests == [f"bytes={len(TEXT) + 4}-", None]
    assert target.read_bytes() == TEXT


@pytest.mark.parametrize("which", ["sent", "content"])
def test_a_wrong_checksum_removes_the_download(folder, which):
    with serving(TEXT) as served:
        catalog = toy(served.address, **{which: "0" * 64})
        with pytest.raises(FetchFailed, match=f"expected sha256 {'0' * 64} of .* found {sha256(TEXT)}"):
            fetch("toy", catalog=catalog)
    assert left_over(folder) == []


def test_the_first_download_is_pinned_and_says_so(folder):
    with serving(TEXT) as served:
        (kept,) = fetch("toy", catalog=toy(served.address))
        assert kept.remark.startswith(f"pinned sha256 {sha256(TEXT)}, as none is published")
        assert json.loads((folder / "pins.json").read_text()) == {served.address: sha256(TEXT)}
        (kept,) = fetch("toy", again=True, catalog=toy(served.address))
    assert kept.remark == "checksum as pinned by the first download"


def test_a_later_download_that_differs_from_the_pin_is_refused(folder, target):
    with serving(TEXT) as served:
        catalog = toy(served.address)
        fetch("toy", catalog=catalog)
        served.content = TEXT + b"more NN B-NP\n"
        with pytest.raises(
            FetchFailed, match=r"as pinned in .*pins.json .* remove that line and fetch again"
        ):
            fetch("toy", again=True, catalog=catalog)
    assert target.read_bytes() == TEXT
    assert left_over(folder) == ["toy.txt"]


def test_damaged_pins_are_not_ignored(folder, target):
    folder.mkdir()
    (folder / "pins.json").write_text("[]")
    with serving(TEXT) as served, pytest.raises(FetchFailed, match=r"pins\.json"):
        fetch("toy", catalog=toy(served.address))
    assert not target.exists()


def test_a_server_that_does_not_state_the_size_is_read_to_the_end(target):
    with serving(TEXT, length=False) as served:
        fetch("toy", catalog=toy(served.address))
    assert target.read_bytes() == TEXT


def test_a_file_that_is_here_is_not_downloaded_again():
    with serving(TEXT) as served:
        fetch("toy", catalog=toy(served.address))
        (kept,) = fetch("toy", catalog=toy(served.address))
    assert kept.remark == "already here"
    assert len(served.requests) == 1


@pytest.mark.parametrize("status", [404, 503])
def test_an_http_error_is_one_sentence(folder, status):
    with serving(TEXT, status=status) as served, pytest.raises(FetchFailed) as error:
        fetch("toy", catalog=toy(served.address))
    assert f"expected a file at {served.address}, found HTTP {status}" in str(error.value)
    assert "lcons data add" in str(error.value)
    assert left_over(folder) == []


@pytest.mark.parametrize(
    "address", ["http://example.org/x", "ftp://example.org/x", "file:///etc/hosts", "data:,x", "x", ""]
)
def test_only_https_is_fetched(address, folder):
    with pytest.raises(FetchFailed, match="expected an address that begins with https://"):
        fetch("toy", catalog=toy(address))
    with serving(TEXT, elsewhere=address or "file:///") as served:
        with pytest.raises(FetchFailed):
            fetch("toy", catalog=toy(served.address))
        assert len(served.requests) == 1 or address == "x"  # which is relative to the server's address
    assert left_over(folder) == []


def test_redirects_lead_to_secure_addresses_and_never_from_them_to_this_machine():
    follow = downloading._Redirects().redirect_request
    given = (None, 302, "Found", {})
    for secure in ("https://example.org/a", "http://127.0.0.1/a"):
        assert follow(Request(secure), *given, "https://example.org/b").full_url == "https://example.org/b"
    assert follow(Request("http://127.0.0.1/a"), *given, "http://127.0.0.1/b") is not None
    with pytest.raises(FetchFailed, match="leads to an address that begins with https://"):
        follow(Request("https://example.org/a"), *given, "http://127.0.0.1/b")
    for elsewhere in ("http://example.org/b", "ftp://127.0.0.1/b"):
        with pytest.raises(FetchFailed, match="expected an address that begins with https://"):
            follow(Request("http://127.0.0.1/a"), *given, elsewhere)


def test_redirects_in_a_circle_are_one_line(folder):
    with serving(TEXT, elsewhere="/again") as served, pytest.raises(FetchFailed) as error:
        fetch("toy", catalog=toy(served.address))
    assert "infinite loop" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_reason_of_a_server_is_printable_and_short():
    assert downloading._one_line("a\x1b[31m\r\nb\u202e") == "a [31m b"
    assert len(downloading._one_line("x" * 1000)) == 200


@pytest.mark.parametrize("length", [True, False])
def test_a_file_without_end_is_given_up(length, folder, monkeypatch):
    monkeypatch.setattr(downloading, "MAX_BYTES", 1000)
    too_many = pytest.raises(FetchFailed, match="at most 1,000 bytes")
    with serving(b"x" * 1001, length=length) as served, too_many:
        fetch("toy", catalog=toy(served.address))
    part = folder / "toy" / "toy.txt.part"
    assert not part.exists() or part.stat().st_size <= 1000


def test_a_small_download_that_unpacks_to_too_much_is_given_up(folder, monkeypatch):
    monkeypatch.setattr(downloading, "MAX_BYTES", 1000)
    with (
        serving(gzip.compress(b"x" * 10**5)) as served,
        pytest.raises(FetchFailed, match="unpacks to more than 1,000 bytes"),
    ):
        fetch("toy", catalog=toy(served.address, "gz"))
    assert left_over(folder) == []


def test_no_network_is_one_sentence(folder):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/file"
        with pytest.raises(FetchFailed, match=r"expected an answer from .*, got none \(.*refused"):
            fetch("toy", catalog=toy(address))
    assert left_over(folder) == []


def test_a_silent_server_is_given_up(monkeypatch):
    monkeypatch.setattr(downloading, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(FetchFailed, match="got none"):
            fetch("toy", catalog=toy(address))


def test_a_full_disk_while_downloading_keeps_the_part(folder, target, monkeypatch):
    write_all = downloading._write_all

    def full(file, chunk):
        write_all(file, chunk[:10])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with serving(TEXT) as served:
        with monkeypatch.context() as patch:
            patch.setattr(downloading, "_write_all", full)
            with pytest.raises(FetchFailed, match=r"No space left on device; make room"):
                fetch("toy", catalog=toy(served.address))
        assert left_over(folder) == ["toy.txt.part", "toy.txt.part.json"]
        fetch("toy", catalog=toy(served.address))
    assert served.requests[1] == "bytes=10-"
    assert target.read_bytes() == TEXT


LIMITED = """
import resource, sys
from lcons_tasks.data import Corpus, CorpusFile, Download, FetchFailed, fetch
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
file = CorpusFile("toy/toy.txt", Download(sys.argv[1], "gz"), lambda path: 1)
try:
    fetch("toy", catalog={"toy": Corpus("toy", "a toy", "CC0", (file,))})
except FetchFailed as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no resource limits")
def test_a_disk_that_fills_while_unpacking_leaves_the_download_for_the_next_time(folder, target):
    with serving(gzip.compress(TEXT)) as served:
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, served.address], capture_output=True, text=True, timeout=60
        )
        assert done.stdout.startswith(f"cannot write to {str(folder)!r}: File too large; make room"), done
        assert left_over(folder) == ["toy.txt.part", "toy.txt.part.json"]
        fetch("toy", catalog=toy(served.address, "gz"))
    assert served.requests == [None]
    assert target.read_bytes() == TEXT


def test_a_cache_that_cannot_be_made_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(FetchFailed, match="cannot write to"):
        fetch("toy", catalog=toy("http://127.0.0.1:1/"))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_two_fetches_do_not_write_one_part(folder):
    import fcntl

    folder.mkdir()
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(FetchFailed, match="another fetch"):
            fetch("toy", catalog=toy("http://127.0.0.1:1/"))
