"""Measure how a source tree is built: one line per row of the table that the architecture is held to.

    ./tools/venv python tools/house.py [--tree PATH] [--json] [--verbose]

Parses `packages/*/src/**/*.py` under PATH (default: this checkout) and imports none of it, so any two
versions can be compared. Each row is printed with the rule that measures it; `--verbose` lists what was
counted. Every import counts: at the top of a module, in a function, or for type checkers alone.
"""

import argparse
import ast
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

Graph = Mapping[str, set[str]]
# A module and the name of one of its definitions.
Definition = tuple[str, str]


def words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


PREPOSITIONS = words(
    "about above across after against along among around at before behind below beneath beside between beyond"
    " by down during for from in inside into near of off on onto out outside over past through to toward"
    " under until up upon via with within without"
)
# Words in -ing that name no activity, and two that the planned tree keeps: those are counted and reported.
NOUNS = words("king ring spring string thing wing")
KEPT = words("testing training")
# The sets that a point is in or not, before they answer one protocol.
SETS = words("RectifierNetwork Conjunction LinearInequalities SimplifiedRows Rules")
# What can be said of how a constraint is learned. Who says this many is a way to say it.
LEARNING = words(
    "hidden negatives many min_support caution by_frequency weights learning_rate decay epochs restarts folds"
    " cv patience temperature batch_size class_weight"
)
A_WAY = 5
PSI, ARRAYS = re.compile(r"\bSparsePsi\b"), re.compile(r"\b(Floats|Ints|Bools|NDArray)\b")
# What psi rows may have beside them: whose they are, or how much they count (for each label, or in all).
OWNED = re.compile(r"(^|_)(owners?|weights?|valid|invalid)$")
LAYS_OUT = re.compile(r"(^|_)table$|Table$")
# In the folder of a task: what runs it and lays its results out. All else there is the task itself.
APPARATUS = words("cell task summary render report experiment")
ENGINES = ("lcons_tasks.experiment", "lcons_tasks.experiments")
REPORT = "lcons_tasks.report"
# Of `lcons run`: not the logic of a run, and what runs only when it is asked for.
LIBRARIES = tuple(f"lcons_tasks.{name}" for name in ("models", "corpus", "data", "text", "bundled"))
OPTIONAL = "lcons_tasks.diagnosis"
# The line of an import that is no statement.
LAZY = 0
# Other names of a task's folder.
ALIASES = {"entity_relation": "er"}


@dataclass(frozen=True)
class Module:
    """A file: its dotted name, whether it is an `__init__`, and its source."""

    name: str
    path: Path
    is_package: bool
    text: str
    tree: ast.Module

    @property
    def stem(self) -> str:
        """The last part of its name, without a leading underscore."""
        return self.name.rpartition(".")[2].lstrip("_")

    @property
    def package(self) -> str:
        """The distributed package that it belongs to, such as `lcons_core`."""
        return self.name.partition(".")[0]

    @property
    def lines(self) -> int:
        """As `wc -l` counts them."""
        return self.text.count("\n")


@dataclass(frozen=True)
class Import:
    """One name (None: the module itself) that one statement of a module imports from `source`."""

    importer: str
    source: str
    name: str | None
    statement: tuple[str, int]


@dataclass(frozen=True)
class Row:
    """What is measured, the figure, the rule, and what was counted."""

    row: str
    measured: str
    rule: str
    found: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tree:
    """The modules of all packages, by name."""

    modules: Mapping[str, Module]

    @classmethod
    def read(cls, root: Path) -> "Tree":
        """The tree under `root`."""
        modules = {}
        for path in sorted(root.glob("packages/*/src/**/*.py")):
            parts = path.relative_to(root).with_suffix("").parts[3:]
            is_package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if is_package else parts)
            text = path.read_text(encoding="utf-8")
            modules[name] = Module(name, path, is_package, text, ast.parse(text))
        return cls(modules)

    @cached_property
    def imports(self) -> list[Import]:
        """All imports of modules of the tree; a table of lazy re-exports is read as imports."""
        found = []
        for module in self.modules.values():
            found += list(self._imports(module, module.tree))
            if module.is_package:
                found += self._lazy(module)
        return found

    def _imports(self, module: Module, tree: ast.AST) -> Iterator[Import]:
        for node in ast.walk(tree):
            for source, name, _ in self.statement(module, node):
                yield Import(module.name, source, name, (module.name, getattr(node, "lineno", 0)))

    def statement(self, module: Module, node: ast.AST) -> Iterator[tuple[str, str | None, str]]:
        """(module, name, what it is called here) of an import statement; nothing of another node."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in self.modules:
                    yield alias.name, None, alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.name.split(".")
                above = parts[: len(parts) - node.level + module.is_package]
                base = ".".join([*above, *([base] if base else [])])
            if base in self.modules:
                for alias in node.names:
                    yield base, alias.name, alias.asname or alias.name

    def _lazy(self, module: Module) -> Iterator[Import]:
        """Re-exports by a table of {name: module} or {module: names}, or by a stub file beside."""
        statement = (module.name, LAZY)
        for node in ast.walk(module.tree):
            for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
                keys, values = strings(key, {}), strings(value, {})
                for homes, names in ((keys, values), (values[:1], keys)):
                    for home in (
                        one for text in homes for one in (text, f"{module.name}.{text.lstrip('.')}")
                    ):
                        if home in self.modules:
                            yield from (Import(module.name, home, name, statement) for name in names)
        stub = module.path.with_suffix(".pyi")
        if stub.exists():
            for one in self._imports(module, ast.parse(stub.read_text(encoding="utf-8"))):
                yield replace(one, statement=statement)

    @cached_property
    def public(self) -> dict[str, set[str]]:
        """`__all__` of each package and public subpackage."""
        return {
            module.name: exported(module) | {one.name or "" for one in self.imports if lazily(one, module)}
            for module in self.modules.values()
            if module.is_package and not any(part.startswith("_") for part in module.name.split("."))
        }

    @cached_property
    def _reexports(self) -> dict[Definition, Import]:
        return {
            (one.importer, one.name): one
            for one in self.imports
            if one.name is not None and self.modules[one.importer].is_package
        }

    def target(self, source: str, name: str | None) -> str:
        """The module that an import names."""
        inner = f"{source}.{name}"
        return inner if inner in self.modules and (source, name) not in self.definitions else source

    def home(self, source: str, name: str | None) -> str:
        """The module that an import reaches, past the re-exports of packages."""
        seen: set[Definition] = set()
        while name is not None and (source, name) in self._reexports and (source, name) not in seen:
            if (source, name) in self.definitions or f"{source}.{name}" in self.modules:
                break
            seen.add((source, name))
            source = self._reexports[source, name].source
        return self.target(source, name)

    def graph(self, past_reexports: bool, from_packages: bool = True) -> dict[str, set[str]]:
        """Which modules each module imports; `past_reexports`, the ones that define what is imported."""
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        reach = self.home if past_reexports else self.target
        for one in self.imports:
            if from_packages or not self.modules[one.importer].is_package:
                found[one.importer].add(reach(one.source, one.name))
        return {name: targets - {name} for name, targets in found.items()}

    @cached_property
    def definitions(self) -> dict[Definition, list[ast.stmt]]:
        """The functions, classes and assignments at the top of each module."""
        found: dict[Definition, list[ast.stmt]] = defaultdict(list)
        for module in self.modules.values():
            for name, node in defined(module.tree.body):
                found[module.name, name].append(node)
        return dict(found)

    @cached_property
    def classes(self) -> list[tuple[str, ast.ClassDef]]:
        """(module, class) of every class."""
        return [
            (module.name, node)
            for module in self.modules.values()
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ClassDef)
        ]

    def within(self, *folders: str) -> list[Module]:
        """The modules of folders, and those of such names."""
        return [module for module in self.modules.values() if inside(module.name, folders)]

    @cached_property
    def tasks(self) -> dict[str, str]:
        """The folders of tasks by name: those in `lcons_tasks` that hold the paper's figures."""
        return {
            folder.rpartition(".")[2]: folder
            for module in self.modules.values()
            for folder in [module.name.rpartition(".")[0]]
            if module.package == "lcons_tasks" and module.stem == "paper"
        }

    def named_after(self, task: str) -> list[Module]:
        """The modules outside the folder of a task that have its name, such as `of_chunking`."""
        return [
            module
            for module in self.modules.values()
            if module.package == "lcons_tasks"
            and not inside(module.name, self.tasks.values())
            and any(re.search(rf"(^|_){name}$", module.stem) for name in names_of(task))
        ]

    def reached(self, entries: Iterable[Definition], cut: Collection[str] = ()) -> set[str]:
        """The modules whose definitions are used by `entries`, by what those use, and so on, without entering
        the folders `cut`. Annotations are not followed; a class is used whole."""
        waiting = [entry for entry in entries if entry in self.definitions]
        seen = set(waiting)
        while waiting:
            name, own = waiting.pop()
            for node in self.definitions[name, own]:
                for used in self._used(self.modules[name], node) - seen:
                    if not inside(used[0], cut):
                        seen.add(used)
                        waiting.append(used)
        return {name for name, _ in seen}

    @cached_property
    def _bound(self) -> dict[str, dict[str, tuple[str, str | None]]]:
        """What is imported outside functions and classes, by the name it has in each module."""
        return {
            module.name: {
                local: imported
                for top in module.tree.body
                if not isinstance(top, ast.FunctionDef | ast.ClassDef)
                for local, imported in self._bindings(module, top)
            }
            for module in self.modules.values()
        }

    def _bindings(self, module: Module, node: ast.AST) -> Iterator[tuple[str, tuple[str, str | None]]]:
        for inner in ast.walk(node):
            for source, name, local in self.statement(module, inner):
                # `import a.b` binds a.
                yield local, (local, None) if source.startswith(f"{local}.") else (source, name)

    def _used(self, module: Module, node: ast.stmt) -> set[Definition]:
        """The definitions of the tree that a definition names."""
        bound = {**self._bound[module.name], **dict(self._bindings(module, node))}
        found = set()
        for chain in chains(node):
            if (module.name, chain[0]) in self.definitions:
                found.add((module.name, chain[0]))
            elif chain[0] in bound:
                found.add(self._resolved(bound[chain[0]], chain[1:]))
        return {one for one in found if one in self.definitions}

    def _resolved(self, imported: tuple[str, str | None], attributes: Sequence[str]) -> Definition:
        """The definition that a name, or an attribute of an imported module, stands for."""
        source, name = imported
        at = self.home(source, name)
        if name is not None and (at, name) in self.definitions:
            return at, name
        for attribute in attributes:
            at = self.home(at, attribute)
            if (at, attribute) in self.definitions:
                return at, attribute
        return at, ""


def strings(node: ast.expr | None, names: Mapping[str, ast.expr]) -> list[str]:
    """The strings that an expression lists: a display of them, the keys of a table, `sorted(TABLE)`."""
    match node:
        case ast.Constant(value=str(value)):
            return [value]
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Call(args=parts):
            return [one for part in parts for one in strings(part, names)]
        case ast.Dict(keys=keys):
            return [one for key in keys for one in strings(key, names)]
        case ast.Starred(value=value):
            return strings(value, names)
        case ast.BinOp(left=left, right=right):
            return strings(left, names) + strings(right, names)
        case ast.Name(id=name) if name in names:
            return strings(names[name], {key: value for key, value in names.items() if key != name})
    return []


def exported(module: Module) -> set[str]:
    """`__all__`, as far as it is written down."""
    names: dict[str, ast.expr] = {}
    found: set[str] = set()
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                names[name] = value
            case ast.AugAssign(target=ast.Name(id="__all__"), value=value):
                found |= set(strings(value, names))
    return found | set(strings(names.get("__all__"), names))


def lazily(one: Import, module: Module) -> bool:
    """Whether a package re-exports by `lazy_loader`, whose `__all__` is what it attaches."""
    return one.importer == module.name and one.statement[1] == LAZY and "attach" in module.text


def defined(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """(name, node) of what statements define, those of `if` and `try` too."""
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node
            case ast.Assign(targets=targets):
                yield from (
                    (one.id, node) for t in targets for one in ast.walk(t) if isinstance(one, ast.Name)
                )
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node
            case ast.If(body=inner, orelse=other) | ast.Try(body=inner, orelse=other):
                yield from defined([*inner, *other])


def chains(node: ast.AST) -> Iterator[list[str]]:
    """The names that code uses, with their attributes: `np.linalg.norm` is [np, linalg, norm]."""
    parts: list[str] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        parts.insert(0, inner.attr)
        inner = inner.value
    if isinstance(inner, ast.Name):
        yield [inner.id, *parts]
        return
    for field, value in ast.iter_fields(inner):
        if field not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from chains(child)


def inside(name: str, folders: Iterable[str]) -> bool:
    """Whether a module is one of the folders or in one."""
    return any(name == folder or name.startswith(f"{folder}.") for folder in folders)


def names_of(task: str) -> list[str]:
    """What a task is called."""
    return [task, task.replace("_", "-"), *([ALIASES[task]] if task in ALIASES else [])]


def components(graph: Graph) -> list[list[str]]:
    """The strongly connected components, those that are imported before those that import them (Tarjan)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def longest_chain(graph: Graph) -> list[list[str]]:
    """A longest path of imports, importer first; modules that import each other are one step."""
    parts = components(graph)
    of = {node: i for i, part in enumerate(parts) for node in part}
    tails: list[list[list[str]]] = []
    for i, part in enumerate(parts):
        others = {of[other] for node in part for other in graph[node]} - {i}
        tails.append([part, *max((tails[j] for j in sorted(others)), key=len, default=[])])
    return max(tails, key=len, default=[])


def importers(graph: Graph) -> dict[str, set[str]]:
    """Which modules import each module."""
    found: dict[str, set[str]] = {name: set() for name in graph}
    for name, targets in graph.items():
        for target in targets:
            found[target].add(name)
    return found


def size(tree: Tree) -> Row:
    modules = tree.modules.values()
    by_package = Counter(module.package for module in modules)
    lines = sum(module.lines for module in modules)
    return Row(
        "source lines / files",
        f"{lines:,} / {len(tree.modules)}",
        "packages/*/src/**/*.py, lines as `wc -l` counts them",
        tuple(
            f"{name}: {sum(m.lines for m in modules if m.package == name):,} / {number}"
            for name, number in sorted(by_package.items())
        ),
    )


def activities(tree: Tree) -> Row:
    def is_activity(stem: str) -> bool:
        last = stem.rpartition("_")[2]
        return (last.endswith("ing") and last not in NOUNS) or stem in PREPOSITIONS

    named = [module for module in tree.modules.values() if is_activity(module.stem)]
    files = [module.name for module in named if not module.is_package]
    folders = [module.name for module in named if module.is_package]
    kept = [module for module in named if not module.is_package and module.stem in KEPT]
    return Row(
        "files named after an activity",
        f"{len(files)}, {len(kept)} of them kept ({', '.join(sorted(KEPT))})",
        "the last word of a file's name ends in -ing, or the name is a preposition; folders are listed and"
        f" not counted ({len(folders)} here), because a task may be called `chunking`",
        (*sorted(files), *(f"folder {name}" for name in sorted(folders))),
    )


def single_importers(tree: Tree) -> Row:
    found = importers(tree.graph(past_reexports=True, from_packages=False))
    single = {name: by for name, by in found.items() if len(by) == 1}
    return Row(
        "modules with a single importer",
        f"{len(single)}",
        "an import counts for the module that defines the name, past the re-exports of an `__init__`; an"
        " `__init__` does not count as an importer",
        tuple(f"{name} <- {next(iter(by))}" for name, by in sorted(single.items())),
    )


def chain(tree: Tree) -> Row:
    ways = [longest_chain(tree.graph(past_reexports=past)) for past in (False, True)]
    through, past = (max(len(way) - 1, 0) for way in ways)
    return Row(
        "longest import chain",
        f"{past}; {through} through the re-exports of packages",
        "imports from the first module to the last; modules that import each other are one. First, each name"
        " leads to its definition; then, a package's `__init__` is a link that leads to all it re-exports,"
        " even if it imports a name only when that is used",
        tuple(" = ".join(part) for part in ways[1]),
    )


def past_public(tree: Tree) -> Row:
    """The contract between packages."""
    others = [
        one
        for one in tree.imports
        if one.statement[1] != LAZY and tree.modules[one.importer].package != one.source.partition(".")[0]
    ]
    past = [one for one in others if not is_public(tree, one)]
    below = [one for one in others if "." in one.source]
    statements = [{one.statement for one in some} for some in (past, others)]
    deep = {one.statement for one in below if one.source.count(".") > 1}
    return Row(
        "imports from one package past another's public names",
        f"{len(past)} of {len(others)}; {len(below)} below the package itself",
        "imported names, once per statement; public is what `__all__` of a package, or of a subpackage"
        " without an underscore, lists, and such a subpackage itself. Below the package itself: from any of"
        f" its modules or subpackages. By statement: {len(statements[0])} of {len(statements[1])}, and"
        f" {len(deep)} go two levels deep",
        tuple(f"{one.importer}:{one.statement[1]}: {one.name} of {one.source}" for one in past),
    )


def is_public(tree: Tree, one: Import) -> bool:
    """Whether an import keeps to what another package offers."""
    if one.name is None:
        return one.source in tree.public
    offered = one.name in tree.public.get(one.source, ())
    return offered or (one.source in tree.public and f"{one.source}.{one.name}" in tree.public)


def subpackage_cycles(tree: Tree) -> Row:
    graph: dict[str, set[str]] = defaultdict(set)
    for name, targets in tree.graph(past_reexports=True).items():
        own = ".".join(name.split(".")[:2])
        for other in (".".join(target.split(".")[:2]) for target in targets):
            if "." in own and "." in other and own != other:
                graph[own].add(other)
                graph[other] |= set()
    groups = [part for part in components(graph) if len(part) > 1]
    return Row(
        "cycles between subpackages",
        f"{len(groups)} groups",
        "folders and modules directly below a package that import each other, in a circle of any length; the"
        " package's own `__init__` is left out",
        tuple(", ".join(part) for part in groups),
    )


def fields_of(node: ast.ClassDef) -> dict[str, str]:
    """The annotated fields of a class, with their types as written; class variables are none."""
    found = {}
    for inner in node.body:
        match inner:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind):
                found[name] = ast.unparse(kind)
    return {name: kind for name, kind in found.items() if not kind.startswith("ClassVar")}


def ways_to_learn(tree: Tree) -> Row:
    types = {f"{name}.{node.name}": fields_of(node) for name, node in tree.classes if not is_estimator(node)}
    functions = {
        f"{name}.{own}": node
        for (name, own), nodes in tree.definitions.items()
        for node in nodes
        if isinstance(node, ast.FunctionDef)
    }
    said = {name: LEARNING.intersection(fields) for name, fields in types.items()}
    for name, node in functions.items():
        said[name] = LEARNING.intersection(one.arg for one in (*node.args.args, *node.args.kwonlyargs))
    ways = {name for name, words in said.items() if len(words) >= A_WAY}
    inner = {
        part
        for way in ways & set(types)
        for part in ways & set(types) - {way}
        if any(mentions(kind, part.rpartition(".")[2]) for kind in types[way].values())
    }
    ways -= inner
    called = {way.rpartition(".")[2] for way in ways & set(types)}
    fills = {
        way for way in ways & set(functions) if any(used[0] in called for used in chains(functions[way]))
    }
    return Row(
        "ways to say how a constraint is learned",
        f"{len(ways)}, of which {len(fills)} only to fill another in",
        f"classes with at least {A_WAY} fields, and functions with as many parameters, among"
        f" {', '.join(sorted(LEARNING))}; not an estimator with `fit`, and not the type of a field of another"
        " way",
        tuple(
            f"{way}: {', '.join(sorted(said[way]))}{' (fills another in)' if way in fills else ''}"
            for way in sorted(ways)
        ),
    )


def is_estimator(node: ast.ClassDef) -> bool:
    """Whether a class learns from labelled vectors, in the manner of scikit-learn."""
    return any(isinstance(inner, ast.FunctionDef) and inner.name == "fit" for inner in node.body)


def psi_row_types(tree: Tree) -> Row:
    found = {}
    for name, node in tree.classes:
        fields = fields_of(node)
        rows = [field for field, kind in fields.items() if PSI.search(kind)]
        beside = [field for field, kind in fields.items() if OWNED.search(field) and ARRAYS.search(kind)]
        if rows and beside:
            found[f"{name}.{node.name}"] = [*rows, *beside]
    return Row(
        'types for "psi rows with an owner or a weight"',
        f"{len(found)}",
        "classes with a field of type SparsePsi and an array whose name ends in owner, weight, valid or"
        " invalid",
        tuple(f"{name}: {', '.join(fields)}" for name, fields in sorted(found.items())),
    )


def layouts(tree: Tree) -> Row:
    found: dict[str, list[str]] = {}
    for task, folder in sorted(tree.tasks.items()):
        for module in [*tree.within(folder), *tree.named_after(task)]:
            imported = {
                local
                for node in ast.walk(module.tree)
                for source, _, local in tree.statement(module, node)
                if not inside(source, [folder])
            }
            made = {
                used[-1]
                for node in ast.walk(module.tree)
                if isinstance(node, ast.Call)
                for used in chains(node.func)
                if LAYS_OUT.search(used[-1]) and used[0] in imported
            }
            if made:
                found.setdefault(task, []).append(f"{module.name}: {', '.join(sorted(made))}")
    number = sum(map(len, found.values()))
    return Row(
        "places where a results table is laid out",
        f"{number} ({', '.join(f'{task} {len(own)}' for task, own in found.items())})" if found else "0",
        "modules in a task's folder, and modules elsewhere named after the task, that call something from"
        " outside the folder whose name ends in table or Table",
        tuple(line for own in found.values() for line in own),
    )


def apparatus(tree: Tree) -> Row:
    reached = tree.reached(entries(tree, tree.tasks.values()))
    engine = [module for module in tree.within(*ENGINES) if not inside(module.name, tree.tasks.values())]
    own: dict[str, list[Module]] = defaultdict(list)
    for module in tree.within(*tree.tasks.values()):
        lays_out = any(one.importer == module.name and inside(one.source, [REPORT]) for one in tree.imports)
        if module.stem in APPARATUS or (lays_out and module.stem != "paper"):
            own["apparatus"].append(module)
        else:
            own["tasks" if module.name in reached or module.is_package else "beside"].append(module)
    own["apparatus"] += [module for task in tree.tasks for module in tree.named_after(task)]
    lines = {name: sum(module.lines for module in own[name]) for name in ("apparatus", "tasks", "beside")}
    shared = sum(module.lines for module in engine)
    return Row(
        "lines of apparatus for lines of tasks",
        f"{lines['apparatus']:,} for {lines['tasks']:,}; {shared:,} more of shared engine",
        f"apparatus: files in the tasks' folders named {', '.join(sorted(APPARATUS))} or importing {REPORT}"
        " (except `paper`), and files elsewhere named after a task; tasks: the other files of these folders"
        f" that `lcons run` reaches ({lines['beside']:,} lines are not reached); engine: the rest of"
        f" {' or '.join(ENGINES)}",
        tuple(f"{kind}: {m.name} {m.lines}" for kind, some in own.items() for m in some)
        + tuple(f"engine: {m.name} {m.lines}" for m in engine),
    )


def entries(tree: Tree, folders: Iterable[str]) -> list[Definition]:
    """Where `lcons run` begins: its command, and the experiments, which it may find by name only."""
    starts = {
        name
        for name, module in tree.modules.items()
        if (module.package == "lcons_cli" and module.stem == "run")
        or (module.stem == "experiment" and inside(name, folders))
    }
    return [one for one in tree.definitions if one[0] in starts]


def followed(tree: Tree, task: str = "chunking") -> Row:
    folder = tree.tasks.get(task, "")
    others = [one for one in tree.tasks.values() if one != folder]
    found = tree.reached(entries(tree, [folder]), [*others, OPTIONAL])
    own = {
        name
        for name in found
        if name.startswith(("lcons_tasks", "lcons_cli")) and not inside(name, LIBRARIES)
    }
    return Row(
        f"files to follow `lcons run {task}` to its page: all / own logic",
        f"{len(found)} / {len(own)}",
        "files of the definitions that the run command and the task's `experiment` use, that those use, and"
        " so on, without other tasks and without the diagnosis, which is optional. Own logic: the files of"
        " lcons_cli and lcons_tasks, without models and data",
        tuple(f"{'own' if name in own else 'all'}: {name}" for name in sorted(found)),
    )


def to_add_a_task(tree: Tree) -> Row:
    folders = tree.tasks.values()
    stems = Counter(
        stem
        for folder in folders
        for stem in {module.stem for module in tree.within(folder) if not module.is_package}
    )
    most = max(len(folders) - 1, 1)
    shared = sorted(stem for stem, number in stems.items() if number >= most)
    beside = Counter(len(tree.named_after(task)) for task in tree.tasks).most_common(1)
    outside = beside[0][0] if beside else 0
    edits = [
        module.name
        for module in tree.modules.values()
        if not inside(module.name, folders)
        and sum(any(mentions(module.text, name) for name in names_of(task)) for task in tree.tasks)
        >= most
        > 1
    ]
    return Row(
        "files to add a task",
        f"{len(shared) + outside}, and edits in {len(edits)} more",
        f"file names that at least {most} of {len(folders)} tasks share ({', '.join(shared)}), without"
        f" `__init__`, and {outside} elsewhere named after the task; edits: modules elsewhere whose text"
        " names as many tasks",
        tuple(edits),
    )


def mentions(text: str, name: str) -> bool:
    """Whether a name stands in a text as a word, or as a part of an identifier."""
    return re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", text) is not None


def calls(tree: Tree, name: str, number: int) -> Iterator[tuple[Module, ast.Call]]:
    """The calls of a builtin with at least so many arguments."""
    for module in tree.modules.values():
        for node in ast.walk(module.tree):
            match node:
                case ast.Call(func=ast.Name(id=called), args=args) if called == name and len(args) >= number:
                    yield module, node


def set_tests(tree: Tree) -> Row:
    found = [
        f"{module.name}:{node.lineno}: {ast.unparse(node)}"
        for module, node in calls(tree, "isinstance", 2)
        if SETS & {part for used in chains(node.args[1]) for part in used}
    ]
    return Row(
        "`isinstance` tests against the types of sets",
        f"{len(found)}",
        f"calls that name {', '.join(sorted(SETS))}",
        tuple(found),
    )


def duck_tests(tree: Tree) -> Row:
    found = [
        f"{module.name}:{node.lineno}: {ast.unparse(node)}"
        for builtin in ("getattr", "hasattr")
        for module, node in calls(tree, builtin, 2)
        if [used[-1] for used in chains(node.args[0])] == ["feature"]
    ]
    return Row(
        "`getattr` and `hasattr` tests of features",
        f"{len(found)}",
        "calls whose first argument is called feature, or is an attribute of that name",
        tuple(found),
    )


MEASURES: tuple[Callable[[Tree], Row], ...] = (
    size,
    activities,
    single_importers,
    chain,
    past_public,
    subpackage_cycles,
    ways_to_learn,
    psi_row_types,
    layouts,
    apparatus,
    followed,
    to_add_a_task,
    set_tests,
    duck_tests,
)


def measure(root: Path) -> list[Row]:
    """All rows of the tree under `root`."""
    tree = Tree.read(root)
    return [one(tree) for one in MEASURES]


def shown(rows: Sequence[Row], verbose: bool) -> str:
    """The rows as a Markdown table, and below it what each of them means."""
    cells = [("row", "measured"), *((row.row, row.measured) for row in rows)]
    widths = [max(len(cell[i]) for cell in cells) for i in range(2)]
    lines = [f"| {a.ljust(widths[0])} | {b.ljust(widths[1])} |" for a, b in cells]
    lines.insert(1, f"|{'-' * (widths[0] + 2)}|{'-' * (widths[1] + 2)}|")
    for row in rows:
        lines += ["", f"{row.row}: {row.rule}."]
        lines += [f"  {line}" for line in row.found if verbose]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure how a source tree is built.")
    parser.add_argument("--tree", type=Path, default=ROOT, metavar="PATH", help="the checkout to measure")
    parser.add_argument("--json", action="store_true", help="print rows, rules and what was counted as JSON")
    parser.add_argument("--verbose", action="store_true", help="list what was counted")
    given = parser.parse_args(arguments)
    if not any(given.tree.glob("packages/*/src")):
        parser.error(
            f"expected a checkout with packages/*/src, found none in {str(given.tree)!r}; name another"
        )
    rows = measure(given.tree)
    if given.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        print(shown(rows, given.verbose))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
