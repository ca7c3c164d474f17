"""Differential tests without end: `tools/soak --help`. The package `soaking` says what is checked."""

import sys

from soaking.run import main

if __name__ == "__main__":
    sys.exit(main())
