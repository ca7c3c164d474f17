"""Files and folders appear whole or not at all."""

import errno
import os

import pytest

from lcons_core._files import replacing, replacing_folder


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
