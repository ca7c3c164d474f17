"""Faults by plan: every operation on the disk of a small command fails once, in turn.

    ./tools/venv python tools/faults.py [--plan NAME ...] [--fault NAME ...] [--every N] [--log FILE]

As SQLite is tested (https://www.sqlite.org/testing.html#anomaly_testing): a run without faults counts the
operations that write (open, write, fsync, mkdir, rename, replace, unlink, rmdir, link), those of stdout
included. Then, for each i, a run in which operation i fails, by each of these faults:

    full    ENOSPC, once              stays   ENOSPC from operation i on, as on a disk that stays full
    broken  EIO, once                 short   half of the bytes are written, the rest is ENOSPC
    kill    the process ends there, with half of the bytes written

and runs with limits on the size of files (C libraries write, too) and on memory, from tight to loose.

A run ends with the result of the run without faults, or with exit code 2 and one line, `lcons: error: ...`.
Then each file that does not have a hidden name is as before the run or as after a run without faults, folders
that are written as a whole are whole, and a run with results.json is complete. The same command again,
without a fault, gives the same bytes as the run without faults, and nothing with a hidden name is left in a
folder that was written to after it.

One process is forked per point from one that has run the command, so a point costs only the command's work.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import errno
import gzip
import importlib.util
import io
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parent.parent
INPUTS = ROOT / "tests/golden/inputs"

FAULTS = {"full": errno.ENOSPC, "stays": errno.ENOSPC, "broken": errno.EIO, "short": errno.ENOSPC, "kill": 0}
# What a full disk refuses; names can still be changed and removed.
NEEDS_SPACE = {"open", "write", "fsync", "mkdir", "link", "symlink"}
# Limits on the size of files in bytes, and on memory in MiB above what the process has.
FILE_SIZES = (0, 1, 64, 512, 1024, 2048, 4096, 8192, 16384, 65536, 2**20)
MEMORY = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024)
KILLED = 137
SECONDS = 300
COUNTED = "operations that write:"
HIDDEN = ".lcons-"
# What Python prints by itself if there is not even memory for a thread to begin, so that it calls no hook.
NO_MEMORY = "Exception ignored in sys.unraisablehook: "

Act = Callable[[], Any]


@dataclass
class Disk:
    """Counts the operations that write below `root`, and lets number `at` fail; with `at` 0, none."""

    root: str
    fault: str = "full"
    at: int = 0
    done: list[str] = field(default_factory=list)

    def operate(self, name: str, path: Any, act: Act, half: Act | None = None) -> Any:
        """The result of `act`, unless it is its turn to fail; `half` does a part of it."""
        self.done.append(f"{name} {path}")
        number = len(self.done)
        again = self.fault == "stays" and 0 < self.at < number and name in NEEDS_SPACE
        if number != self.at and not again:
            return act()
        if half is not None and self.fault == "short":
            # The caller tries to write the rest.
            self.fault, self.at = "stays", number
            return half()
        if self.fault == "kill":
            if half is not None:
                half()
            os._exit(KILLED)
        code = FAULTS[self.fault]
        raise OSError(code, os.strerror(code), str(path))

    def holds(self, path: Any) -> bool:
        """Whether a path, or a descriptor, is of the files that are watched."""
        return isinstance(path, int) or Path(os.fsdecode(path)).absolute().is_relative_to(self.root)

    def install(self) -> None:
        """Takes the place of the functions that write, in this process, for good."""
        for name in ("mkdir", "rmdir", "unlink", "remove", "rename", "replace", "link", "symlink", "fsync"):
            setattr(os, name, self._watched("unlink" if name == "remove" else name, getattr(os, name)))
        os.open = self._watched_descriptor(os.open)
        builtins.open = io.open = self._watched_open(io.open)
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_File(self, 1, "wb", closefd=False)), "utf-8")

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *given: Any, **named: Any) -> Any:
            if not self.holds(path):
                return real(path, *given, **named)
            return self.operate(name, path, partial(real, path, *given, **named))

        return call

    def _watched_descriptor(self, real: Callable[..., int]) -> Any:
        def call(path: Any, flags: int, *given: Any, **named: Any) -> int:
            act = partial(real, path, flags, *given, **named)
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) and self.holds(path)
            return int(self.operate("open", path, act) if writes else act())

        return call

    def _watched_open(self, real: Callable[..., Any]) -> Any:
        def call(
            file: Any,
            mode: str = "r",
            buffering: int = -1,
            encoding: str | None = None,
            errors: str | None = None,
            newline: str | None = None,
            closefd: bool = True,
            opener: Any = None,
        ) -> Any:
            if not set(mode) & set("wax+") or not self.holds(file):
                return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
            plain = mode.replace("b", "").replace("t", "")
            raw = self.operate("open", file, partial(_File, self, file, plain, closefd, opener))
            if buffering == 0:
                return raw
            buffered: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)

        return call


class _File(io.FileIO):
    """A file whose writes are watched."""

    def __init__(self, disk: Disk, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.disk = disk
        self.place = os.fstat(self.fileno())

    def write(self, data: Any, /) -> int:
        real = super().write
        if not os.path.samestat(self.place, os.fstat(self.fileno())):
            return int(real(data))  # the rest of an output that is discarded
        half = partial(real, memoryview(data).cast("B")[: len(data) // 2])
        return int(self.disk.operate("write", self.name, partial(real, data), half))


@dataclass(frozen=True)
class Plan:
    """A command in a folder of its own: `prepare` fills the folder, `run` works in it; `whole` are patterns
    of folders that appear as a whole. `same_again`: run again, it prints the same."""

    name: str
    run: Callable[[], object]
    prepare: Callable[[Path], None]
    whole: tuple[str, ...] = ()
    same_again: bool = True


def command(*arguments: str) -> Callable[[], object]:
    """Runs `lcons` with these arguments."""

    def run() -> None:
        from lcons_cli.main import main

        main(list(arguments), prog_name="lcons")

    return run


def inputs(*names: str) -> Callable[[Path], None]:
    """Copies inputs of the golden tests into a folder."""

    def prepare(folder: Path) -> None:
        for name in names:
            shutil.copy(INPUTS / name, folder / name)

    return prepare


def plans() -> Iterator[Plan]:
    """All plans."""
    learn = ("learn", "train.conll", "--no-held-out", "-K", "2", "-o")
    files = inputs("train.conll", "dev.conll", "scores.jsonl", "pairs.jsonl", "rules.txt")

    def with_constraint(folder: Path) -> None:
        files(folder)
        quietly(folder, command("scheme", "iob2", "train.conll", "-o", "iob2.json"))

    def with_tagger(folder: Path) -> None:
        files(folder)
        quietly(folder, command("fit", "train.conll", "--plain", "-o", "tagger"))

    yield Plan("learn", command(*learn, "new.json"), files)
    yield Plan("learn again", command(*learn, "iob2.json"), with_constraint)
    yield Plan("scheme", command("scheme", "iob2", "train.conll", "-o", "iob2.json"), files)
    yield Plan("convert", command("convert", "iob2.json", "-o", "iob2.csv"), with_constraint)
    yield Plan("convert lp", command("convert", "iob2.json", "-o", "iob2.lp"), with_constraint)
    yield Plan("decode", command("decode", "scores.jsonl", "-c", "iob2.json", "--json"), with_constraint)
    yield Plan("report", command("report", "iob2.json", "-o", "page.html"), with_constraint)
    yield Plan("fit plain", command("fit", "dev.conll", "--plain", "-o", "tagger"), with_tagger, ("tagger",))
    yield Plan("fit", command("fit", "dev.conll", "--folds", "2", "-o", "new"), files, ("new",))
    yield Plan("tag", command("tag", "--model", "tagger", "--columns", "word", "dev.conll"), with_tagger)
    yield Plan("fetch", command("data", "fetch", "toy"), _nothing, same_again=False)
    yield Plan("add", command("data", "add", "toy", "toy.txt"), _write_toy)
    whole = ("cache/stages/*",)
    run = ("run", "iob2", "--size", "5", "--seed", "1", "-K", "1", "--jobs", "1", "--out", "run")
    yield Plan("run", command(*run), _nothing, whole)
    yield Plan("run again", command(*run), _with_run(run), whole)
    yield Plan("kernel", _compile, _nothing)


# The plans that need `toys`.
TOYS = {"fetch", "add", "run", "run again"}


def _nothing(folder: Path) -> None:
    pass


def _write_toy(folder: Path) -> None:
    (folder / "toy.txt").write_text("The DT B-NP\ndog NN I-NP\n\n" * 40)


def _with_run(run: Sequence[str]) -> Callable[[Path], None]:
    """A run of another seed, whose stage is altered."""

    def prepare(folder: Path) -> None:
        quietly(folder, command(*run[:4], "--seed", "2", *run[6:]))
        quietly(folder, command(*run[:-1], "other"))
        shutil.rmtree(folder / "other")
        next((folder / "cache/stages").glob("*/digests.json")).write_text("{}")

    return prepare


def _compile() -> None:
    """A function that is compiled and kept as decoding is."""
    from lcons_decode.kernels._compiled import jit

    jit.FOLDER = str(Path(os.environ["LCONS_CACHE_DIR"]) / "numba/kernels")
    if jit.kernel(_twice)(21) != 42:
        raise ArithmeticError


def _twice(x: int) -> int:
    return x + x


@contextlib.contextmanager
def toys() -> Iterator[None]:
    """A corpus on a server of this process, and an experiment whose learning takes no time."""
    from lcons_cli import data
    from lcons_tasks.data._catalog import CATALOG, Corpus, CorpusFile, Download
    from lcons_tasks.experiments import EXPERIMENTS

    spec = importlib.util.spec_from_file_location("extend_task", ROOT / "tests/test_extend_task.py")
    assert spec is not None
    assert spec.loader is not None
    extend: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = extend
    spec.loader.exec_module(extend)
    extend.learn_constraints = lambda *given, **named: extend.iob2(extend.LABELS)

    class Entry:
        about = "IOB2 from examples."

        @staticmethod
        def load() -> Any:
            return extend.EXPERIMENT

    known: Any = EXPERIMENTS
    known["iob2"] = Entry()
    with tempfile.TemporaryDirectory() as served:
        _write_toy(Path(served))
        text = Path(served, "toy.txt")
        Path(served, "toy.txt.gz").write_bytes(gzip.compress(text.read_bytes(), mtime=0))
        handler = partial(_Quiet, directory=served)
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            address = f"http://127.0.0.1:{server.server_port}/toy.txt.gz"
            file = CorpusFile("toy/toy.txt", Download(address, "gz"), CATALOG["conll2000"].files[0].count)
            catalog: Any = data
            catalog._catalog = lambda: {"toy": Corpus("toy", "a toy", "CC0", (file,))}
            try:
                yield
            finally:
                server.shutdown()
                del known["iob2"]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *given: Any) -> None:
        pass


@dataclass(frozen=True)
class Ended:
    """How a run ended: its exit code (minus the signal that ended it), output and messages."""

    code: int
    out: bytes
    err: str
    operations: tuple[str, ...] = ()


def quietly(folder: Path, run: Callable[[], object]) -> None:
    """Runs in a folder, without faults; raises `RuntimeError` if it fails."""
    ended = forked(folder, run)
    if ended.code:
        raise RuntimeError(ended.err)


def forked(
    folder: Path, run: Callable[[], object], set_up: Callable[[], Disk | None] = lambda: None
) -> Ended:
    """How a run in a folder ends, in a process of its own; `set_up` makes its faults."""
    # Messages go through a pipe, which has no limit on its size as files may have.
    reads, writes = os.pipe()
    out = folder.parent / "stdout"
    child = os.fork()
    if child == 0:
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(writes, 2)
        _work(folder, run, set_up)
    os.close(writes)
    alarm = threading.Timer(SECONDS, os.kill, (child, signal.SIGKILL))
    alarm.daemon = True
    alarm.start()
    with os.fdopen(reads, "rb") as messages:
        err = messages.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    alarm.cancel()
    err, _, operations = err.partition(COUNTED)
    return Ended(os.waitstatus_to_exitcode(status), out.read_bytes(), err, tuple(operations.split()))


def _work(folder: Path, run: Callable[[], object], set_up: Callable[[], Disk | None]) -> NoReturn:
    code = 99
    try:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
        enter(folder)
        disk = set_up()
        try:
            run()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException:
            traceback.print_exc()
            code = 98
        try:
            sys.stdout.flush()
        except OSError as error:
            print(f"the last flush of stdout: {error}", file=sys.stderr)
            code = 120
        if disk is not None:
            print(COUNTED, *(operation.split()[0] for operation in disk.done), file=sys.stderr)
    finally:
        os._exit(code)


def enter(folder: Path) -> None:
    """Makes a folder the place of everything that is written."""
    (folder / "tmp").mkdir(exist_ok=True)
    os.environ["LCONS_CACHE_DIR"] = str(folder / "cache")
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
    os.chdir(folder)


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder by path; not the temporary ones, and not numba's, which name times. What a killed
    process left of those, numba never reads."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith(("tmp/", "cache/numba/")):
            found[name] = path.read_bytes()
    return found


def is_hidden(name: str) -> bool:
    """Whether a path is of something that is being written, a part of a download, or a model of a fit that is
    not done."""
    unfinished = any(part.startswith(HIDDEN) for part in Path(name).parts) or ".part" in Path(name).name
    return unfinished or name.startswith("cache/fits/")


@dataclass(frozen=True)
class Expected:
    """The files before and after a run without faults, and how that ended."""

    before: dict[str, bytes]
    after: dict[str, bytes]
    ended: Ended


def complaints_of_end(ended: Ended, expected: Expected) -> Iterator[str]:
    """What is wrong with how a run with a fault ended."""
    if ended.code == 0:
        if ended.out != expected.ended.out:
            yield "exit code 0 with another output"
        return
    if ended.code == KILLED:
        return
    if ended.code == -signal.SIGABRT and "LLVM ERROR: Unable to allocate" in ended.err:
        return  # out of memory, LLVM ends the process by itself
    err = ended.err.replace(NO_MEMORY, "")
    lines = ended.err.strip().splitlines()
    if ended.code != 2:
        yield f"exit code {ended.code}: {' / '.join(lines[-3:])}"
    elif not lines or not lines[-1].startswith("lcons: error: ") or "bug in lcons" in lines[-1]:
        yield f"no sentence: {' / '.join(lines[-3:])}"
    elif any(sign in err for sign in ("Traceback", "Exception ignored")):
        yield f"a traceback before the sentence: {ended.err[:300]!r}"


def complaints_of_files(
    found: dict[str, bytes], expected: Expected, plan: Plan, complete: bool
) -> Iterator[str]:
    """What is wrong with the files that a run with a fault left."""
    before, after = expected.before, expected.after
    shown = {name: content for name, content in found.items() if not is_hidden(name)}
    for name, content in shown.items():
        if content not in (before.get(name), after.get(name)):
            yield f"{name} is half-written ({len(content)} bytes)"
    if complete and {name: shown.get(name) for name in after} != after:
        yield "exit code 0 with other files"
    removed_first = ("cache/", "run/", *plan.whole)
    for name in before:
        if name not in shown and name in after and not name.startswith(removed_first):
            yield f"{name} is lost"
    for pattern in plan.whole:
        folders = {path for name in found for path in Path(name).parents if path.match(pattern)}
        for folder in folders - {path for path in folders if is_hidden(str(path))}:
            here = {name: text for name, text in shown.items() if Path(name).is_relative_to(folder)}
            wanted = [
                {name: text for name, text in side.items() if Path(name).is_relative_to(folder)}
                for side in (before, after)
            ]
            if here not in wanted:
                yield f"the folder {folder} is incomplete"
    for name, content in shown.items():
        if Path(name).name == "results.json" and content == after.get(name):
            folder = Path(name).parent
            for other, text in after.items():
                if Path(other).is_relative_to(folder) and shown.get(other) != text:
                    yield f"{name} is there, but {other} is not"


def age(folder: Path) -> None:
    """Lets time pass: what a process that has just ended left is not young any more."""
    long_ago = time.time() - 1000
    for path in folder.rglob("*"):
        if HIDDEN in str(path):
            with contextlib.suppress(OSError):
                os.utime(path, (long_ago, long_ago))


def write_beside_hidden(folder: Path) -> None:
    """Writes a file into each folder with something hidden, where the next run had nothing to write; the
    writer removes what is hidden."""
    from lcons_core.storage import replacing

    for path in list(folder.rglob(f"{HIDDEN}*")):
        with replacing(path.parent / "file") as file:
            file.write(b"any")
        (path.parent / "file").unlink()


@dataclass
class Trial:
    """A plan in a scratch folder."""

    plan: Plan
    home: Path

    def fresh(self) -> Path:
        """The folder as it is before each run."""
        folder = self.home / "work"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.home / "start", folder)
        return folder

    def prepare(self) -> Expected:
        """Files and output without faults."""
        start = self.home / "work"
        start.mkdir(parents=True)
        enter(start)
        self.plan.prepare(start)
        # In this process, so that everything is imported and compiled before it is forked.
        shutil.copytree(start, self.home / "start")
        nowhere = io.StringIO()
        streams = contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere)
        with streams[0], streams[1], contextlib.suppress(SystemExit):
            self.plan.run()
        folder = self.fresh()
        before = tree(folder)
        ended = forked(folder, self.plan.run, lambda: self._disk(folder, "full", 0))
        if ended.code:
            raise RuntimeError(f"{self.plan.name} fails without a fault: {ended.err}")
        return Expected(before, tree(folder), ended)

    @staticmethod
    def _disk(folder: Path, fault: str, at: int) -> Disk:
        disk = Disk(str(folder), fault, at)
        disk.install()
        return disk

    def complaints(self, expected: Expected, set_up: Callable[[Path], Disk | None]) -> list[str]:
        """What goes wrong in a run with a fault, and in the next run without."""
        folder = self.fresh()
        ended = forked(folder, self.plan.run, lambda: set_up(folder))
        found = [
            *complaints_of_end(ended, expected),
            *complaints_of_files(tree(folder), expected, self.plan, ended.code == 0),
        ]
        age(folder)
        again = forked(folder, self.plan.run)
        if again.code:
            found.append(f"the next run fails: {' / '.join(again.err.strip().splitlines()[-3:])}")
        elif self.plan.same_again and again.out != expected.ended.out:
            found.append("the next run has another output")
        write_beside_hidden(folder)
        if not again.code:
            files = tree(folder)
            other = sorted(n for n in {*files, *expected.after} if files.get(n) != expected.after.get(n))
            if other:
                found.append(f"after the next run, other files: {', '.join(other[:4])}")
        left = [str(path.relative_to(folder)) for path in folder.rglob(f"{HIDDEN}*")]
        if left:
            found.append(f"left behind: {', '.join(left[:4])}")
        return found


def limit(kind: int, value: int) -> None:
    """Sets a limit of this process."""
    resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))


def limit_files(size: int) -> None:
    """Files of this process cannot grow beyond `size` bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit(resource.RLIMIT_FSIZE, size)


def limit_memory(more: int) -> None:
    """This process can have `more` MiB than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit(resource.RLIMIT_AS, pages * resource.getpagesize() + more * 2**20)


def points(
    operations: Sequence[str], faults: Sequence[str], every: int
) -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """The points of a plan: a name, and what sets up the fault."""
    for fault in FAULTS:
        if fault in faults:
            for at in range(1, len(operations) + 1, every):
                # Elsewhere a short write is a full disk.
                if fault != "short" or operations[at - 1] == "write":
                    yield f"{fault} {at}", partial(Trial._disk, fault=fault, at=at)
    if "size" in faults:
        for size in FILE_SIZES:
            yield f"size {size}", lambda folder, size=size: limit_files(size)  # type: ignore[misc]
    if "memory" in faults:
        for more in MEMORY:
            yield f"memory {more}", lambda folder, more=more: limit_memory(more)  # type: ignore[misc]


def attempt(
    chosen: Iterable[Plan], faults: Sequence[str], every: int, say: Callable[[str], None]
) -> tuple[int, int]:
    """The number of points that were tried, and of those with complaints."""
    tried = wrong = 0
    sys.dont_write_bytecode = True
    here, place = Path.cwd(), tempfile.tempdir
    for plan in chosen:
        with tempfile.TemporaryDirectory(dir=place) as home:
            trial = Trial(plan, Path(home) / "trial")
            start = time.monotonic()
            expected = trial.prepare()
            operations = expected.ended.operations
            own = own_wrong = 0
            for name, set_up in points(operations, faults, every):
                found = trial.complaints(expected, set_up)
                own, own_wrong = own + 1, own_wrong + bool(found)
                for complaint in found:
                    say(f"  {plan.name}, {name}: {complaint}")
            seconds = time.monotonic() - start
            say(
                f"{plan.name}: {len(operations)} operations, {own} points, {own_wrong} wrong, {seconds:.0f} s"
            )
            tried, wrong = tried + own, wrong + own_wrong
            os.chdir(here)
            tempfile.tempdir = place
    return tried, wrong


def main() -> int:
    """0 if no point has complaints."""
    parser = argparse.ArgumentParser(description="Let every operation on the disk fail once.")
    parser.add_argument("--plan", action="append", help="Name of a plan; repeat for several. Default: all.")
    every_fault = [*FAULTS, "size", "memory"]
    parser.add_argument("--fault", action="append", choices=every_fault, help="Repeat for several.")
    parser.add_argument("--every", type=int, default=1, help="Only every N-th operation.")
    parser.add_argument("--log", type=Path, help="A file to append the lines to.")
    given = parser.parse_args()

    def say(line: str) -> None:
        print(line, flush=True)
        if given.log:
            with log.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")

    log = given.log and given.log.absolute()
    chosen = [plan for plan in plans() if not given.plan or plan.name in given.plan]
    with toys() if any(plan.name in TOYS for plan in chosen) else contextlib.nullcontext():
        tried, wrong = attempt(chosen, given.fault or every_fault, given.every, say)
    say(f"all: {tried} points, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
