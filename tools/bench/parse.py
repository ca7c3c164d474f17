"""`lcons parse` on 10,000 references: at least 2,000 a second end to end, and memory that stays flat.

The references are those of Cora in LCONS_DATA_DIR, else the bundled ones, drawn again and again with other
digits and with other words in place of a fifth. The command reads a file and writes CSL-JSON on all cores, as
a user runs it; its start is in the time, and medians of several runs are compared. Where the tagger reads POS
tags, which spaCy finds at its own pace, the target is that of parsing with the tags given, in one process.
The peak memory is that of the largest process.

Run: .venv/bin/python tools/bench/parse.py --model FOLDER
"""

from __future__ import annotations

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from timing import report

from lcons_cli.console import POS, pos_tagger, say_nothing, tagged_corpus, tags_many
from lcons_tasks.apps._tagger import ConstrainedTagger, load_constrained_tagger
from lcons_tasks.apps.references import _parser as parser
from lcons_tasks.apps.references import to_csl
from lcons_tasks.bundled import bundled
from lcons_tasks.data import find, read_references
from lcons_tasks.data.text._tokens import reference_tokens

REFERENCES = 10_000
TIMES_AS_MANY = 10
REPEATS = 3
LEAST_A_SECOND = 2_000
MOST_MEMORY = 1.5
SHARE = 0.2
LCONS = (sys.executable, "-c", "from lcons_cli.main import main; main()", "parse", "-q")

_DIGIT = re.compile("[0-9]")
_WORD = re.compile(r"\b[a-z]{4,}\b")


def varied(texts: Sequence[str], size: int, seed: int = 0) -> Iterator[str]:
    """References like those given, with other digits and some other words."""
    rng = random.Random(seed)
    words = [word for text in texts for word in _WORD.findall(text)]
    for _ in range(size):
        text = _DIGIT.sub(lambda _: str(rng.randrange(10)), rng.choice(texts))
        yield _WORD.sub(lambda word: rng.choice(words) if rng.random() < SHARE else word.group(), text)


class Run(NamedTuple):
    """What the command took: seconds, seconds of all cores together, and MB at its peak."""

    seconds: float
    core_seconds: float
    memory: float


def run(model: str, path: Path) -> Run:
    """The command on a file."""
    start = time.perf_counter()
    process = subprocess.Popen([*LCONS, "--model", model, path], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"lcons parse ended with {process.returncode}")
    seconds = time.perf_counter() - start
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**10)


def measured(work: Callable[[], object]) -> float:
    """Seconds of this process's own time."""
    start = time.process_time()
    work()
    return time.process_time() - start


def profile(tagger: ConstrainedTagger, lines: Sequence[str]) -> float:
    """Prints where the time of a reference goes in one process; parsed references a second, tags given."""
    tokens = [[token.text for token in reference_tokens(line)] for line in lines]
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    seconds: dict[str, float] = {}
    if POS in tagger.columns:
        pos = pos_tagger(tagged_corpus, say_nothing)
        words = [tuple(own) for own in tokens]
        seconds["POS tags"] = measured(lambda: known.update(zip(words, tags_many(pos, words), strict=True)))
    xs = [{"word": own, **({POS: known[tuple(own)]} if known else {})} for own in tokens]
    tags = (lambda sentences: [known[tuple(own)] for own in sentences]) if known else None
    list(parser.parse(tagger, lines[: parser.CHUNK_ITEMS], tags))  # compiles, and loads what is lazy
    chunks = [xs[i : i + parser.CHUNK_ITEMS] for i in range(0, len(xs), parser.CHUNK_ITEMS)]
    seconds["scores of the model"] = measured(lambda: [tagger.model.scores(chunk) for chunk in chunks])
    seconds["scores and decoding"] = measured(lambda: [tagger.ids(chunk) for chunk in chunks])
    parsed: list[parser.ParsedReference] = []
    seconds["lines to fields"] = measured(lambda: parsed.extend(parser.parse(tagger, lines, tags)))
    seconds["fields to CSL"] = measured(lambda: [to_csl(reference.pieces) for reference in parsed])
    for what, taken in seconds.items():
        print(f"   {what}: {1e6 * taken / len(lines):,.0f} us a reference")
    return len(lines) / (seconds["lines to fields"] + seconds["fields to CSL"])


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--model", default="runs/citation/parser", help="the folder of a tagger")
    model = options.parse_args().model
    found = find("cora")
    source = found[0] if found else bundled("citation", "references.txt")
    texts = [reference.text for reference in read_references(source)]
    tagger = load_constrained_tagger(model)
    print(
        f"-- {REFERENCES:,} references drawn from {len(texts)} of {source.name}, {os.cpu_count()} cores,"
        f" decoder {tagger.decoder}, {len(tagger.constraints)} constraints"
    )
    with tempfile.TemporaryDirectory() as folder:
        path, longer = Path(folder) / "references.txt", Path(folder) / "longer.txt"
        for file, size in ((path, REFERENCES), (longer, TIMES_AS_MANY * REFERENCES)):
            file.write_text("".join(f"{line}\n" for line in varied(texts, size)), encoding="utf-8")
        runs = [run(model, path) for _ in range(REPEATS)]
        usual = Run(*map(statistics.median, zip(*runs, strict=True)))
        tenfold = run(model, longer)
        alone = profile(tagger, list(varied(texts, REFERENCES)))
    rate = REFERENCES / usual.seconds
    print(
        f"   end to end: {rate:,.0f} references a second (median of {REPEATS}),"
        f" {1e6 * usual.core_seconds / REFERENCES:,.0f} us of all cores together a reference"
    )
    print(f"   ten times as many: {TIMES_AS_MANY * REFERENCES / tenfold.seconds:,.0f} references a second")
    print(f"   peak memory: {usual.memory:,.0f} MB, ten times as many {tenfold.memory:,.0f} MB")
    what = "end to end"
    if POS in tagger.columns:
        rate, what = alone, "in one process with POS tags given"
    met = [
        report(f"references a second over {LEAST_A_SECOND:,}, {what}", rate / LEAST_A_SECOND, at_least=1),
        report(
            "peak memory of ten times as many references", tenfold.memory / usual.memory, at_most=MOST_MEMORY
        ),
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
