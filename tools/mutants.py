"""Mutation testing of the theorem's modules: which small faults do the tests not notice?

    ./tools/venv python tools/mutants.py [--module NAME] [--survivors FILE] [--list]

Each mutant is one module with one change: a comparison moved to its boundary or negated, an operator or a
function replaced by its opposite, a number increased by 1, a condition negated, a statement left out. The
tests of the theorem run against it; a mutant that fails no test survives. Mutants that cannot fail any test,
because they are the same function or only slower, are listed with a reason in `mutants.txt`; they are run,
too, and must survive. The share is that of killed mutants among all others, and must be at least 95 %.

One process is forked per mutant from one that has loaded and collected everything; there the mutant's code
replaces that of the loaded functions. Only tests that call the changed function run, quick ones first, until
one fails. Which tests count is fixed below and draws are derandomized, so a busy machine gives the same
table: time decides only the order, and the limit that ends endless loops is one of CPU time.
Errors, annotations, docstrings, protocols and overloads are not mutated.

mutmut is not used: version 3.8 skips every function with a decorator, so every property of a network (d,
parts, rounded, exponent, ...), and needs an attribute of test items that pytest 9 no longer has.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "packages" / "lcons-core"
SOURCES = PACKAGE / "src" / "lcons_core"
# The modules, and the tests that each is held to.
MODULES = {
    "_theorem": ("test_theorem1.py", "test_forms.py", "test_affine_sets.py", "test_testing.py"),
    "_network": ("test_affine_sets.py", "test_theorem1.py", "test_testing.py", "test_constraint.py"),
    "_arithmetic": ("test_arithmetic.py", "test_affine_sets.py", "test_magnitude.py"),
}
# Tests that are left out: they are slow, or are not about these modules.
LEFT_OUT = (
    "drawn",
    "of_their_space",
    "fit_their",
    "constraints_are",
    "extra_is_named",
    "large_domain_is_explained",
)
SELECTION = " and ".join(f"not {name}" for name in LEFT_OUT)
EXAMPLES = 12
# Keywords that guard against faults elsewhere or change only how an object is printed.
GUARDS = ("strict", "repr", "frozen", "eq", "copy")
EQUIVALENT = Path(__file__).with_suffix(".txt")
LEAST_SHARE = 0.95
PATIENCE = 3  # a mutant that needs so many times the CPU time of its tests is noticed, too
LARGEST_PROCESS = 2**33  # bytes: an endless loop must not fill the memory

OPPOSITES: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
_PAIRS = (
    "min max",
    "argmin argmax",
    "minimum maximum",
    "all any",
    "zeros ones",
    "ceil floor",
    "add subtract",
)
NAMES = dict(pair.split()[::step] for pair in _PAIRS for step in (1, -1))


@dataclass(frozen=True)
class Mutant:
    """One change of a module; `name` says where and what, and stays the same if lines move."""

    module: str
    name: str
    where: str
    source: str


def mutants(module: str) -> Iterator[Mutant]:
    """All mutants of a module of lcons_core, in the order of their lines."""
    tree = ast.parse((SOURCES / f"{module}.py").read_text(encoding="utf-8"))
    seen: Counter[str] = Counter()
    for where, statement, node in _places(tree, ""):
        for change in _changes(node):
            before = ast.unparse(node)
            undo = change()
            try:
                after, source = ast.unparse(node), ast.unparse(tree)
            finally:
                undo()
            name = f"{module} {where}: {_line(before)} -> {_line(after)}"
            if len(before) < 12 and not isinstance(node, ast.stmt):
                name += f"  in  {_line(ast.unparse(statement))}"
            seen[name] += 1
            yield Mutant(module, name if seen[name] == 1 else f"{name} ({seen[name]})", where, source)


def _line(text: str) -> str:
    first, *rest = text.split("\n")
    return first + (" ..." if rest else "")


def _places(node: ast.AST, where: str) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """(qualified name, statement, node) of everything that may be mutated."""
    for statement in _statements(node):
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            if not _is_declaration(statement):
                yield from _places(statement, f"{where}.{statement.name}".lstrip("."))
            continue
        if isinstance(statement, ast.Import | ast.ImportFrom | ast.Raise) or _is_text(statement):
            continue
        yield where or "module", statement, statement
        for child in _expressions(statement):
            yield where or "module", statement, child
        yield from _places(statement, where)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for name in ("body", "orelse", "handlers", "finalbody"):
        for child in getattr(node, name, []) if not isinstance(node, ast.IfExp | ast.Lambda) else []:
            if isinstance(child, ast.ExceptHandler):
                yield from _statements(child)
            else:
                yield child


def _is_declaration(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Protocols, overloads and abstract methods have no behaviour."""
    named = [ast.unparse(n) for n in (*node.decorator_list, *getattr(node, "bases", []))]
    return bool({"Protocol", "overload", "abstractmethod"} & set(named))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions of a statement, without those of statements inside it and without annotations."""
    for name, value in ast.iter_fields(statement):
        if name in ("annotation", "returns", "type_comment", "body", "orelse", "handlers", "finalbody"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.expr | ast.withitem):
                guards = {k.value for k in ast.walk(child) if isinstance(k, ast.keyword) and k.arg in GUARDS}
                yield from (node for node in ast.walk(child) if node not in guards)


def _changes(node: ast.AST) -> Iterator[Any]:
    """Functions that change a node in place and return a function that restores it."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign):
        for other in OPPOSITES.get(type(node.op), ()):
            yield lambda other=other: _set(node, "op", other())
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            for other in OPPOSITES.get(type(op), ()):
                changed = [*node.ops[:i], other(), *node.ops[i + 1 :]]
                yield lambda changed=changed: _set(node, "ops", changed)
    if isinstance(node, ast.UnaryOp):
        yield lambda: _become(node, node.operand)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield lambda: _set(node, "value", not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield lambda: _set(node, "value", node.value + 1)
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield lambda: _set(node, "id", NAMES[node.id])
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield lambda: _set(node, "attr", NAMES[node.attr])
    if isinstance(node, ast.If | ast.IfExp | ast.While) and not isinstance(node.test, ast.Compare):
        negated = ast.UnaryOp(ast.Not(), node.test)
        yield lambda: _set(node, "test", negated)
    if isinstance(node, ast.Expr | ast.AugAssign) and not _is_text(node):
        yield lambda: _become(node, ast.Pass())


def _set(node: ast.AST, name: str, value: Any) -> Any:
    old = getattr(node, name)
    setattr(node, name, value)
    return lambda: setattr(node, name, old)


def _become(node: ast.AST, other: ast.AST) -> Any:
    """Turns a node into another one, in place."""
    kind, fields = node.__class__, dict(node.__dict__)
    replacement = copy.copy(other.__dict__)
    node.__dict__.clear()
    node.__class__ = other.__class__
    node.__dict__.update(replacement)

    def undo() -> None:
        node.__dict__.clear()
        node.__class__ = kind
        node.__dict__.update(fields)

    return undo


def apply(mutant: Mutant) -> None:
    """Gives the functions of the loaded module the mutant's code and defaults; also changes constants."""
    loaded = sys.modules[f"lcons_core.{mutant.module}"]
    fresh = ModuleType(loaded.__name__)
    fresh.__file__ = loaded.__file__
    sys.modules[loaded.__name__] = fresh  # dataclasses look for it
    try:
        exec(compile(mutant.source, f"{mutant.module}.py", "exec"), fresh.__dict__)
    finally:
        sys.modules[loaded.__name__] = loaded
    _copy(fresh, loaded, loaded.__name__)


def _copy(source: Any, target: Any, module: str) -> None:
    for name, value in list(vars(source).items()):
        old = vars(target).get(name)
        new_function, old_function = _function(value), _function(old)
        if new_function is not None and old_function is not None:
            if old_function.__module__ == module:
                old_function.__code__ = new_function.__code__
                old_function.__defaults__ = new_function.__defaults__
        elif isinstance(value, type) and isinstance(old, type) and old.__module__ == module:
            _copy(value, old, module)
        elif isinstance(value, bool | int | float | str) and not name.startswith("__"):
            setattr(target, name, value)


def _function(value: Any) -> FunctionType | None:
    for name in ("fget", "func", "__func__"):
        value = getattr(value, name, value)
    return value if isinstance(value, FunctionType) and value.__closure__ is None else None


def called(run: Callable[[], None]) -> set[tuple[str, str]]:
    """The functions of the modules that `run` calls, as (module, qualified name)."""
    codes: set[CodeType] = set()
    sys.setprofile(lambda frame, event, _: codes.add(frame.f_code) if event == "call" else None)
    try:
        run()
    finally:
        sys.setprofile(None)
    paths = {str(SOURCES / f"{module}.py"): module for module in MODULES}
    return {
        (paths[code.co_filename], code.co_qualname.replace("<locals>.", ""))
        for code in codes
        if code.co_filename in paths
    }


class Laboratory:
    """A pytest plugin: collects the tests once, then runs them in one forked process per mutant, quick tests
    first, until one fails."""

    def __init__(self, chosen: Sequence[Mutant]) -> None:
        self.chosen, self.code = chosen, 2
        self.failed = False
        self.calls: dict[Any, set[tuple[str, str]]] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed |= bool(report.failed)

    def pytest_runtestloop(self, session: Any) -> bool:
        if session.testsfailed:
            return True
        took = {}
        for item in session.items:
            begun = time.process_time()
            self.calls[item] = called(partial(self._run, item))
            took[item] = time.process_time() - begun
            if self.failed:
                print(f"\n{item.nodeid} fails without a mutant; repair it first")
                return True
        self.functions = set().union(*self.calls.values())
        self.items, self.took = sorted(took, key=took.__getitem__), took
        print(
            f"\n{len(self.chosen)} mutants, {len(took)} tests of {sum(took.values()):.1f} CPU s", flush=True
        )
        self.code = report(self.chosen, self.outcome)
        return True

    def outcome(self, mutant: Mutant) -> str:
        """What became of the mutant: survived (all tests pass), killed, or endless (too much CPU time)."""
        child = os.fork()
        if not child:
            os._exit(self._exit_code(mutant))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return {0: "survived", -signal.SIGXCPU: "endless"}.get(code, "killed")

    def _exit_code(self, mutant: Mutant) -> int:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        own = [item for item in self.items if self._concerns(item, mutant)]
        patience = 2 + int(PATIENCE * sum(self.took[item] for item in own))
        resource.setrlimit(resource.RLIMIT_CPU, (patience, patience + 5))
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST_PROCESS, LARGEST_PROCESS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            apply(mutant)
            for item in own:
                self._run(item)
                if self.failed:
                    return 1
        except BaseException:
            return 1
        return 0

    def _concerns(self, item: Any, mutant: Mutant) -> bool:
        """Whether the test is one of the module's and calls the function; any does for code outside them."""
        function = (mutant.module, mutant.where)
        own = item.path.name in MODULES[mutant.module]
        return own and (function not in self.functions or function in self.calls[item])

    def _run(self, item: Any) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)


def read_equivalent() -> dict[str, str]:
    """Names of equivalent mutants, with the reason: two lines each, the second indented."""
    found: dict[str, str] = {}
    name = ""
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("    "):
            found[name] = line.strip()
        else:
            name = line
            found[name] = ""
    return found


def find_stale(chosen: Sequence[Mutant]) -> list[str]:
    """Listed names of the chosen modules that are no mutant's, or that have no reason."""
    modules, names = {mutant.module for mutant in chosen}, {mutant.name for mutant in chosen}
    return [
        name
        for name, reason in read_equivalent().items()
        if name.split()[0] in modules and (name not in names or not reason)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    import pytest
    from hypothesis import HealthCheck, Phase, settings

    parser = argparse.ArgumentParser(description="Mutation testing of the theorem's modules.")
    parser.add_argument("--module", choices=MODULES, action="append", help="one module (may be repeated)")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--containing", default="", help="only mutants whose name contains this text")
    parser.add_argument(
        "--survivors", type=Path, help="only those that survived in this output of a run before"
    )
    options = parser.parse_args(arguments)
    chosen = [
        mutant
        for module in options.module or MODULES
        for mutant in mutants(module)
        if options.containing in mutant.name
    ]
    if options.survivors is not None:
        before = options.survivors.read_text(encoding="utf-8").splitlines()
        chosen = [mutant for mutant in chosen if f"survived: {mutant.name}" in before]
    if options.list:
        print("\n".join(mutant.name for mutant in chosen))
        return 0
    if not options.containing and options.survivors is None and (stale := find_stale(chosen)):
        print("\n".join(f"listed, but no mutant of that name or no reason: {name}" for name in stale))
        return 1
    settings.register_profile(
        "mutants",
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),  # some are of elapsed time
        phases=[Phase.explicit, Phase.generate],
    )
    laboratory = Laboratory(chosen)
    flags = ["-p", "no:terminal", "-p", "no:xdist", "-p", "no:cacheprovider", "--hypothesis-profile=mutants"]
    files = {name for module in options.module or MODULES for name in MODULES[module]}
    tests = [str(PACKAGE / "tests" / name) for name in sorted(files)]
    pytest.main([*flags, "-k", SELECTION, *tests], plugins=[laboratory])
    return laboratory.code


def report(chosen: Sequence[Mutant], outcome: Callable[[Mutant], str]) -> int:
    """Runs the mutants and prints the survivors and the share of the killed; 0 if enough are killed."""
    started, equivalent = time.monotonic(), read_equivalent()
    tally: Counter[tuple[str, str]] = Counter()
    wrong = 0
    for mutant in chosen:
        found, listed = outcome(mutant), mutant.name in equivalent
        tally[mutant.module, "equivalent" if listed else found] += 1
        tally["all", "equivalent" if listed else found] += 1
        if listed and found != "survived":
            wrong += 1
            print(f"listed, but {found}: {mutant.name}", flush=True)
        elif not listed and found != "killed":
            print(f"{found}: {mutant.name}", flush=True)
    print(f"module          mutants  killed  endless  survived  equivalent  share   ({_minutes(started)})")
    for module in (*dict.fromkeys(mutant.module for mutant in chosen), "all"):
        killed, endless, survived, same = (
            tally[module, kind] for kind in ("killed", "endless", "survived", "equivalent")
        )
        share = (killed + endless) / max(killed + endless + survived, 1)
        total = killed + endless + survived + same
        print(f"{module:15s} {total:7d} {killed:7d} {endless:8d} {survived:9d} {same:11d}  {share:.1%}")
    return 0 if share >= LEAST_SHARE and not wrong else 1


def _minutes(started: float) -> str:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = time.process_time() + used.ru_utime + used.ru_stime
    return f"{(time.monotonic() - started) / 60:.1f} min, {cpu / 60:.1f} of CPU"


if __name__ == "__main__":
    sys.exit(main())
