"""Wrong input: exit code 2, nothing on stdout, no traceback, and nothing is written."""

import os
import shlex

import pytest
from constraint_files import run, write_files

COMMANDS = """
learn nothing.conll -o out.json
learn train.conll -o nowhere/out.json
learn train.conll -o train.conll
learn train.conll -o out.json --dev train.conll --no-held-out
learn train.conll -o out.json -K 0
learn train.conll -o out.json --feature pairs
learn train.conll -o out.json --recipe unknown.toml
learn train.conll -o out.json --recipe wrong.toml
learn train.conll -o out.json --recipe train.conll
learn train.conll -o LONG
learn LONG -o out.json
learn loop -o out.json
learn pipe -o out.json
learn many.conll -o out.json
audit many.conll
fit many.conll -o out.json
learn train.conll -o pipe
fit train.conll -o loop
fit train.conll -o pipe
run chunking --out loop
fit pairs.jsonl -o out.json
fit train.conll -o train.conll
fit train.conll -o out.json --scores empty --plain
tag --model nowhere train.conll
tag --model . train.conll
tag --together --jobs 2 train.conll
evaluate . train.conll
audit train.conll --page train.conll
explain damaged.json
explain pairs.json --forbidden
explain pairs.json --forbidden Ship Kill
decode scores.jsonl -c pairs.json
decode scores.jsonl --choose
decode scores.jsonl -c iob2.json:soft
decode scores.jsonl -c iob2.json --json
decode scores.jsonl -o out.json
diagnose pairs.json --train train.conll --model a --scores b
diagnose pairs.json --train pairs.jsonl
diagnose pairs.json --train train.conll --held-out train.conll
scheme iob3 B-X,O -o out.json
scheme iob2 ,, -o out.json
scheme iob2 B-X,O -n 2 -o out.json
convert pairs.json --scores train.conll -o out.json
convert wide.json
convert pairs.json -o pairs.json
compare pairs.json bits.json
compare rules.txt rules.txt
verify pipe
report nowhere -o out.json
report pairs.json -o - --json
parse --model nowhere train.conll
extract --model nowhere train.conll
data fetch nothing
run chunking --ratio 2 --out out.json
run chunking --decoder beam-of-light --out out.json
""".strip().splitlines()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files of every kind, some of them bad."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LCONS_CACHE_DIR", str(tmp_path / "cache"))
    write_files(tmp_path)
    (tmp_path / "empty").write_text("")
    (tmp_path / "train.conll").write_text("Ann B-PER\nsings O\n\n" * 6)
    (tmp_path / "many.conll").write_text("".join(f"w L{i}\n\n" for i in range(20_001)))
    (tmp_path / "pairs.jsonl").write_text('{"tuples": [["Person", "Kill"]]}\n')
    (tmp_path / "rules.txt").write_text("source Person cannot go with relation Kill\n")
    (tmp_path / "unknown.toml").write_text("hiden = 2\n")
    (tmp_path / "wrong.toml").write_text('caution = "much"\n')
    scores = '{"labels": ["B-X", "I-X", "O"]}\n{"emission": [[0, 0, 1]], "words": ["a"], "score": ["b"]}\n'
    (tmp_path / "scores.jsonl").write_text(scores)
    assert run("scheme", "iob2", "B-X,I-X,O", "-o", "iob2.json").exit_code == 0
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize("line", COMMANDS)
def test_wrong_input_has_exit_code_2_and_changes_nothing(line, folder):
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = run(*shlex.split(line.replace("LONG", "x" * 300)))
    assert (done.exit_code, done.stdout) == (2, "")
    assert isinstance(done.exception, SystemExit)
    assert "rror: " in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
