"""Check the types of all tests by mypy, one package after another: several have a test file of the same name.

./tools/venv python tools/test_types.py

Names, attributes, imports and calls are checked in every body. The settings are those of the packages, whose
results are kept and read again, but for the modules of tests (`RELAXED`): signatures may be left out there,
because pytest and hypothesis pass the arguments.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from mypy import api

ROOT = Path(__file__).resolve().parent.parent

# What tests do on purpose, in hundreds of places: they pass wrong values (arg-type), take what may be None
# for granted (union-attr, index, operator, misc), mix types in tables of cases (var-annotated, misc), and
# use libraries without types (import-*).
RELAXED = {
    "check_untyped_defs": True,
    "disallow_any_generics": False,
    "disallow_incomplete_defs": False,
    "disallow_subclassing_any": False,
    "disallow_untyped_calls": False,
    "disallow_untyped_decorators": False,
    "disallow_untyped_defs": False,
    "extra_checks": False,
    "implicit_reexport": True,
    "strict_equality": False,
    "warn_unused_ignores": False,
    "disable_error_code": [
        "arg-type",
        "import-not-found",
        "import-untyped",
        "index",
        "misc",
        "operator",
        "union-attr",
        "var-annotated",
    ],
}


def folders() -> list[Path]:
    """The folders of tests."""
    return [ROOT / "tests", *sorted(ROOT.glob("packages/*/tests"))]


def modules(folder: Path) -> list[str]:
    """The names of the modules below a folder, which are imported from there; others need
    .venv-integrations."""
    found = (path.relative_to(folder).with_suffix("") for path in sorted(folder.rglob("*.py")))
    return [".".join(path.parts) for path in found if "integrations" not in path.parts]


def settings(names: list[str]) -> str:
    """The settings of pyproject.toml, and those of the modules of tests."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in RELAXED.items()]
    own = ["[[tool.mypy.overrides]]", f"module = {json.dumps(names)}", *lines]
    return (ROOT / "pyproject.toml").read_text() + "\n" + "\n".join(own) + "\n"


def main() -> int:
    """1 if mypy finds something in the tests of a package; prints what."""
    codes = []
    os.chdir(ROOT)
    for folder in folders():
        os.environ["MYPYPATH"] = os.pathsep.join(map(str, [folder, *folders()]))
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as config:
            config.write(settings(sorted({name for each in folders() for name in modules(each)})))
            config.flush()
            out, err, code = api.run(
                [f"--config-file={config.name}", "--exclude=/integrations/", str(folder.relative_to(ROOT))]
            )
        print(f"{folder.relative_to(ROOT)}: {(out + err).strip()}", flush=True)
        codes.append(code)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
