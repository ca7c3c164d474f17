"""What each command prints is what it was: exit code, stdout, warnings and errors.

Every command runs in a copy of `inputs`, where `v0.1.0` is what version 0.1.0 wrote. What else is said on
stderr depends on how long the work takes, and is left out.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from golden_files import EXPECTED, Golden, fingerprint, lcons

from lcons_core import load

CONSTRAINTS = "v0.1.0/constraints"
PAIRS, BIGRAMS, POS = (f"{CONSTRAINTS}/{name}.json" for name in ("pairs", "bigrams", "pos"))
TABLE, EXISTENCE, EDITED = (f"{CONSTRAINTS}/{name}.json" for name in ("table", "existence", "edited"))
HELD_OUT = "--train train.conll --held-out dev.conll"
MORE_PAIRS = "--held-out more-pairs.jsonl --predictions more-pairs.jsonl"

# By name: a line of options and arguments, and perhaps what is piped into it: `< file`.
COMMANDS = {
    "demo": "demo",
    "demo-json": "demo --json",
    "fit": "fit train.conll --unlabelled dev.conll -o tagger",
    "fit-plain-json": "fit train.conll -o tagger --plain --folds 2 --json",
    "fit-scores": "fit dev.conll --scores scores.npz -o chosen",
    "fit-tuples": "fit pairs.jsonl -o tagger",
    "learn-bigrams": "learn train.conll -o out.json -K 3",
    "learn-bigrams-all": "learn train.conll -o out.json -K 3 --recipe all-rules.toml --held-out-end",
    "learn-bigrams-json": "learn train.conll -o out.json -K 3 --json",
    "learn-pos": "learn train.conll -o out.json --feature pos -n 2 -K 4 --dev dev.conll",
    "learn-auto": "learn train.conll -o out.json -K auto --columns word=1,label=-1 --recipe evidence.toml",
    "learn-several": "learn train.conll -o out.json -K 1,2 --seed 3 --recipe two-folds.toml",
    "learn-relabel": "learn train.conll -o out.json --recipe relabel.toml",
    "learn-existence": "learn train.conll -o out.json --recipe cautious.toml",
    "learn-counts": "learn train.conll -o out.json --recipe spans.toml --no-held-out",
    "learn-recipe": "learn --print-recipe",
    "learn-unknown": "learn train.conll -o out.json --recipe unknown.toml",
    "learn-pairs": "learn pairs.jsonl -o out.json --names source,relation -K 2 --no-held-out",
    "learn-table": "learn table.csv -o out.json -K 2",
    "learn-nothing": "learn nothing.conll -o out.json",
    "learn-two-wishes": "learn train.conll -o out.json --held-out-end --no-held-out",
    "scheme": "scheme bioes B-X,I-X,E-X,S-X,O -o out.json --json",
    "scheme-rules": f"scheme rules.txt {PAIRS} -o out.json --json",
    "calibrate": f"calibrate {EXISTENCE} dev.conll -o out.json --alpha 0.2",
    "calibrate-few": f"calibrate {BIGRAMS} dev.conll -o out.json",
    "explain": f"explain {PAIRS}",
    "explain-json": f"explain {BIGRAMS} --json",
    "explain-rules": f"explain {BIGRAMS} --rules",
    "explain-existence": f"explain {EXISTENCE}",
    "explain-edited": f"explain {EDITED}",
    "explain-forbidden": f"explain {PAIRS} --forbidden Location Kill",
    "explain-forbidden-json": f"explain {PAIRS} --forbidden source=Location,relation=Kill --json",
    "explain-allowed": f"explain {PAIRS} --forbidden Person Kill",
    "explain-unknown": f"explain {PAIRS} --forbidden Ship Kill",
    "convert-text": f"convert {PAIRS}",
    "convert-lifted": f"convert {PAIRS} --form lifted",
    "convert-simplified": f"convert {PAIRS} --form simplified",
    "convert-json": f"convert {PAIRS} --json",
    "convert-csv": f"convert {PAIRS} --to csv --form simplified",
    "convert-lp": f"convert {PAIRS} --to lp",
    "convert-lp-rows": f"convert {TABLE} --to lp --form rows",
    "convert-lp-counts": f"convert {CONSTRAINTS}/spans.json --to lp",
    "convert-mps": f"convert {PAIRS} --to mps",
    "convert-file": f"convert {PAIRS} -o out.csv",
    "compare-itself": f"compare {PAIRS} {PAIRS}",
    "compare-rules": f"compare {PAIRS} rules.txt",
    "compare-different": f"compare {PAIRS} other-rules.txt",
    "compare-different-json": f"compare {PAIRS} {EDITED} --json",
    "compare-large": f"compare {CONSTRAINTS}/existence-2.json {CONSTRAINTS}/existence-2.json",
    "compare-strangers": f"compare {PAIRS} {BIGRAMS}",
    "verify": f"verify {PAIRS}",
    "verify-pos": f"verify {POS}",
    "verify-json": f"verify {BIGRAMS} --json",
    "verify-samples": f"verify {CONSTRAINTS}/existence-2.json",
    "diagnose": f"diagnose {BIGRAMS} {HELD_OUT}",
    "diagnose-scores": f"diagnose {POS} {HELD_OUT} --scores scores.npz",
    "diagnose-model": f"diagnose {POS} {HELD_OUT} --model v0.1.0/tagger/model.npz --json",
    "diagnose-predictions": f"diagnose {EXISTENCE} {HELD_OUT} --predictions dev.conll",
    "diagnose-table": f"diagnose {TABLE} --train table.csv",
    "decode-nothing": "decode scores.npz",
    "decode-hard": f"decode scores.npz -c {BIGRAMS}",
    "decode-jsonl": f"decode -c {CONSTRAINTS}/iob2.json < scores.jsonl",
    "decode-soft-json": f"decode scores.npz -c {POS}:0.5 -c {CONSTRAINTS}/iob2.json --json",
    "decode-beam": f"decode scores.jsonl -c {POS}:2 --beam 3 --json",
    "decode-global": f"decode scores.npz -c {EXISTENCE} -c {BIGRAMS} --budget 50 --json",
    "decode-conjunction": f"decode scores.npz -c {CONSTRAINTS}/conjunction.json",
    "decode-stranger": f"decode scores.npz -c {PAIRS}",
    "tag-columns": "tag --model v0.1.0/tagger --columns word,pos dev.conll",
    "tag-json": "tag --model v0.1.0/tagger --columns word,pos --json dev.conll",
    "tag-brackets": "tag --model v0.1.0/tagger --columns word,pos --format brackets dev.conll",
    "tag-together": "tag --model v0.1.0/tagger --columns word,pos --together dev.conll",
    "tag-alone": "tag --model v0.1.0/tagger --no-constraints text.txt",
    "tag-bilstm": "tag --model v0.1.0/tagger-bilstm --columns word,pos --format brackets dev.conll",
    "tag-missing": "tag --model nowhere text.txt",
    "parse": "parse --model v0.1.0/parser references.txt",
    "parse-bibtex": "parse --model v0.1.0/parser --format bibtex < references.txt",
    "parse-csl": "parse --model v0.1.0/parser --format csl references.txt",
    "parse-json": "parse --model v0.1.0/parser --json references.txt",
    "extract": "extract --model v0.1.0/extractor marked.txt",
    "extract-missing": "extract --model nowhere marked.txt",
    "data-list": "data list",
    "data-list-json": "data list --json",
    "report-json": f"report {PAIRS} {EDITED} {BIGRAMS} -o page.html --json",
    "report-nothing": "report nowhere -o page.html",
    "run-unknown": "run chunking --base magic",
}  # fmt: skip
NEED_POS_TAGS = ("extract",)


def use_few_tagged_sentences(patch: pytest.MonkeyPatch) -> None:
    """POS tags come from a tagger that is trained on a few sentences, in a second."""
    lines = Path("train.conll").read_text(encoding="utf-8").split("\n\n")[:12]
    rows = [[line.split() for line in sentence.splitlines()] for sentence in lines]
    tagged = [(tuple(row[0] for row in one), tuple(row[1] for row in one)) for one in rows]
    patch.setattr("lcons_tasks.data.text._pos.PIPELINE", "no_such_pipeline")
    patch.setattr("lcons_tasks.data.text._pos.tagged_corpus", lambda: ("a few sentences", tagged))


def written(folder: Path) -> Iterator[str]:
    """What a command wrote: the arrays of a constraint, else the text."""
    for path in folder.glob("out.*"):
        yield f"out{path.suffix}:"
        yield fingerprint(load(path)) if path.suffix == ".json" else path.read_text(encoding="utf-8").rstrip()


def printed(line: str, folder: Path, cache: Path) -> str:
    """The command line, what it prints, what it warns of, and its exit code."""
    words, _, source = line.partition(" < ")
    stdin = (folder / source).read_text(encoding="utf-8") if source else None
    done = lcons(*shlex.split(words), stdin=stdin)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    remarks = [one for one in done.stderr.splitlines() if re.match(r"warning|Usage|Error|lcons: error", one)]
    parts = [f"$ lcons {line}", done.stdout.rstrip("\n"), *remarks, *written(folder)]
    parts.append(f"exit code {done.exit_code}")
    text = "\n".join(part for part in parts if part) + "\n"
    return text.replace(str(folder), ".").replace(str(cache), "CACHE")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_prints_the_same(
    name: str, golden: Golden, folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    if name in NEED_POS_TAGS:
        use_few_tagged_sentences(monkeypatch)
    golden.text(f"commands/{name}.txt", printed(COMMANDS[name], folder, cache))


def test_nothing_is_kept_of_commands_that_are_not_run():
    assert {path.stem for path in (EXPECTED / "commands").iterdir()} == set(COMMANDS)
