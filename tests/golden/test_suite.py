"""The report of a small run of the suite has the layout that it had; its figures are those of `fit`."""

import re
from pathlib import Path

import pytest
from golden_files import Golden, lcons

from lcons_tasks.bundled import bundled

pytestmark = pytest.mark.xdist_group("golden suite")


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    """A folder of one set: the first sentences of the bundled chunks."""
    folder = tmp_path / "sets"
    (folder / "chunks").mkdir(parents=True)
    for part, n in (("train", 40), ("test", 15)):
        sentences = bundled("chunking", f"{part}.txt").read_text(encoding="utf-8").split("\n\n")[:n]
        (folder / "chunks" / f"{part}.conll").write_text("\n\n".join(sentences) + "\n", encoding="utf-8")
    return folder


def masked(text: str, folder: Path) -> str:
    """The text without figures, the width of columns, verdicts and the folder."""
    text = text.replace("\\_", "_").replace(str(folder), "SETS")
    text = re.sub(r"[+-]?\d+(\.\d+)?", "0", text)
    text = re.sub(
        r"\b(better|worse|no clear difference)$|\b(not held|held)\b|[█·]+", "-", text, flags=re.MULTILINE
    )
    return re.sub(r"-{2,}:?", "-", re.sub(r" +", " ", text))


def test_the_report_has_the_same_layout(sets: Path, golden: Golden):
    options = ["--corpus", str(sets), "--size", "8", "--size", "12", "--starts", "2", "--jobs", "1"]
    done = lcons("-q", "run", "suite", *options, "--out", str(sets / "run"))
    assert done.exit_code == 0, done.output
    report = (sets / "run" / "report.md").read_text(encoding="utf-8")
    # The claims name the worst cells, if there are some.
    found = re.sub(r"^(\| \(ours\)[^|]*\|).*$", r"\1", masked(report, sets), flags=re.MULTILINE)
    golden.text("experiments/suite/report.md", found)
    files = sorted(path.relative_to(sets / "run").as_posix() for path in (sets / "run").rglob("*.*"))
    golden.text("experiments/suite/files.txt", "".join(f"{name}\n" for name in files))
