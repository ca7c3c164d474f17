"""Files and folders appear whole or not at all, and what killed processes left is removed."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lcons_core._atomic import _own_prefix
from lcons_core.storage import replacing, replacing_folder

HIDDEN = _own_prefix()
WRITE = """
import sys, time
from pathlib import Path
from lcons_core.storage import replacing, replacing_folder

with replacing_folder(Path(sys.argv[1], "folder")) as folder, replacing(Path(sys.argv[1], "file")) as file:
    (folder / "half").write_text("x")
    print("ready", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def writer(tmp_path):
    """A process that is writing a file and a folder."""
    with subprocess.Popen([sys.executable, "-c", WRITE, tmp_path], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        long_ago = time.time() - 1000
        for path in (*tmp_path.iterdir(), *tmp_path.glob("*/lock")):
            os.utime(path, (long_ago, long_ago))
        yield process
        process.kill()


def write(folder: Path, name: str = "mine") -> None:
    with replacing(folder / name) as file:
        file.write(b"y")


@pytest.mark.skipif(sys.platform == "win32", reason="locks are POSIX's")
def test_what_a_killed_process_left_is_removed_and_what_a_live_one_writes_stays(writer, tmp_path):
    write(tmp_path)
    assert len(list(tmp_path.glob(".lcons-*"))) == 2
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.skipif(sys.platform == "win32", reason="locks are POSIX's")
@pytest.mark.parametrize("lock", [True, False])
def test_a_folder_whose_replacement_was_killed_is_put_back(tmp_path, lock):
    old = tmp_path / f"{HIDDEN}x/before/mine"
    old.mkdir(parents=True)
    (old / "only copy").touch()
    if lock:
        (tmp_path / f"{HIDDEN}x/lock").touch()
    for path in (tmp_path / f"{HIDDEN}x", *tmp_path.glob(f"{HIDDEN}x/lock")):
        os.utime(path, (0, 0))
    write(tmp_path, "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "other"]
    assert (tmp_path / "mine/only copy").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="locks are POSIX's")
def test_the_only_copy_of_a_replaced_folder_is_never_removed(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    hidden = tmp_path / f"{HIDDEN}x"
    (hidden / "before/mine").mkdir(parents=True)
    (hidden / "lock").touch()
    os.utime(hidden / "lock", (0, 0))
    monkeypatch.setattr(os, "rename", fail)
    write(tmp_path)
    assert (hidden / "before/mine").is_dir()


def test_a_replacement_that_cannot_be_put_in_place_leaves_the_old_folder(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/old").touch()
    rename = os.rename

    def fail(source, target):
        if str(source).endswith("made"):
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
