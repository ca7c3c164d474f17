"""`lcons parse`: 1.9 times as fast as version 0.1.0 on 10,000 references, 2.3 times on 100,000; flat memory.

These ratios are 3,000 and 5,000 references a second where 0.1.0 had about 1,600 and 2,150 on two cores; both
are printed. 0.1.0 reads only taggers of its own (`--released`); without one, the rates are compared.
The references are those of Cora in LCONS_DATA_DIR, else the bundled ones, drawn again and again
with other digits and with other words in place of a fifth. The command reads a file and writes CSL-JSON on
all cores, as a user runs it, its start included. The two versions run in turn, and the medians of their CPU
times are compared. Where the tagger reads POS tags, which spaCy finds at its own pace, the target is that of
parsing with the tags given, in one process. The peak memory is that of the largest process.

Run: .venv/bin/python tools/bench/parse.py --model FOLDER [--released FOLDER]
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from released import Run, compare, run_lcons
from timing import report

from lcons_cli.console import POS, pos_tagger, say_nothing, tagged_corpus, tags_many
from lcons_contrib.references import to_csl
from lcons_tasks.apps import references as parser
from lcons_tasks.apps._tagger import ConstrainedTagger, load_constrained_tagger
from lcons_tasks.bundled import bundled
from lcons_tasks.data import find, read_references
from lcons_tasks.data.text._clues import CLUE, clue_or_shape
from lcons_tasks.data.text._tokens import reference_tokens

REFERENCES = 10_000
TIMES_AS_MANY = 10
REPEATS = 3
LEAST_RATIO, LEAST_RATIO_OF_MANY = 1.9, 2.3
LEAST_A_SECOND, LEAST_OF_MANY = 3_000, 5_000
MOST_MEMORY = 1.5
SHARE = 0.2

_DIGIT = re.compile("[0-9]")
_WORD = re.compile(r"\b[a-z]{4,}\b")


def varied(texts: Sequence[str], size: int, seed: int = 0) -> Iterator[str]:
    """References like those given, with other digits and some other words."""
    rng = random.Random(seed)
    words = [word for text in texts for word in _WORD.findall(text)]
    for _ in range(size):
        text = _DIGIT.sub(lambda _: str(rng.randrange(10)), rng.choice(texts))
        yield _WORD.sub(lambda word: rng.choice(words) if rng.random() < SHARE else word.group(), text)


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
    if CLUE in tagger.columns:
        xs = [{**x, CLUE: list(map(clue_or_shape, own))} for x, own in zip(xs, tokens, strict=True)]
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
    options.add_argument("--released", help="the folder of a tagger that 0.1.0 has written")
    given = options.parse_args()
    model, models = given.model, {True: given.released, False: given.model}
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
        sides = []
        for file, repeats in ((path, REPEATS), (longer, 1)):

            def run(released: bool, own: Path = file) -> Run:
                if models[released] is None:
                    return Run(*[float("nan")] * 3)
                return run_lcons(["parse", "-q", "--model", models[released], str(own)], released)

            sides.append(compare(run, repeats))
        alone = profile(tagger, list(varied(texts, REFERENCES)))
    met = []
    parts = zip(
        (REFERENCES, TIMES_AS_MANY * REFERENCES),
        sides,
        (LEAST_RATIO, LEAST_RATIO_OF_MANY),
        (LEAST_A_SECOND, LEAST_OF_MANY),
        strict=True,
    )
    for number, (old, new), ratio, rate in parts:
        print(
            f"   {number:,} references: {number / new.seconds:,.0f} a second"
            f" (0.1.0: {number / old.seconds:,.0f}; wanted on two cores: {rate:,}),"
            f" {1e6 * new.cpu / number:,.0f} us of CPU a reference (0.1.0: {1e6 * old.cpu / number:,.0f})"
        )
        if given.released is None:
            what = f"{number:,} references, a second over {rate:,}"
            met.append(report(what, number / new.seconds / rate, at_least=1))
        elif POS not in tagger.columns:
            met.append(report(f"{number:,} references, speed over 0.1.0", old.cpu / new.cpu, at_least=ratio))
    if POS in tagger.columns:
        what = f"references a second over {LEAST_A_SECOND:,}, in one process with POS tags given"
        met.append(report(what, alone / LEAST_A_SECOND, at_least=1))
    usual, tenfold = (new.memory for _, new in sides)
    print(f"   peak memory: {usual:,.0f} MB, ten times as many {tenfold:,.0f} MB")
    met.append(report("peak memory of ten times as many references", tenfold / usual, at_most=MOST_MEMORY))
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
