"""A format of labelled data of another package: a function under the entry points `lcons.readers`."""

import importlib.metadata
from pathlib import Path

from lcons_tasks.own_data import read_data


def read_pairs(path):
    """(words, labels) of each line, such as `Ann/PER sings/O`."""
    for line in Path(path).read_text().splitlines():
        pairs = [word.rsplit("/", 1) for word in line.split()]
        yield [word for word, _ in pairs], [label for _, label in pairs]


def test_lcons_reads_a_format_of_another_package(monkeypatch, tmp_path):
    entry = importlib.metadata.EntryPoint(".pairs", f"{__name__}:read_pairs", "lcons.readers")
    monkeypatch.setattr(importlib.metadata.EntryPoint, "load", lambda self: read_pairs)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [entry])
    (tmp_path / "train.pairs").write_text("Ann/PER sings/O\n")
    [sentence] = read_data(tmp_path / "train.pairs").instances
    assert (sentence.x, sentence.y) == ({"word": ("Ann", "sings")}, ("PER", "O"))
