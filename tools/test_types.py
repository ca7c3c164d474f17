"""Check the types of all tests by mypy, one package after another: several have a test file of the same name.

./tools/venv python tools/test_types.py
"""

import sys
from pathlib import Path

from mypy import api

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """1 if mypy finds something in the tests of a package; prints what."""
    codes = []
    for folder in ["tests", *sorted(f"packages/{path.name}/tests" for path in ROOT.glob("packages/*"))]:
        out, err, code = api.run([f"--config-file={ROOT / 'tests/mypy.ini'}", str(ROOT / folder)])
        print(f"{folder}: {(out + err).strip()}", flush=True)
        codes.append(code)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
