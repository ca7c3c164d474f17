"""The `lcons` command from its first moment: Ctrl-C is one line also while modules are loaded."""

import os
import sys


def start() -> None:
    """Runs the command, and ends this process with its exit code."""
    # The matrices are small: threads that wait for the next product cost more time than they save.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from lcons_cli.main import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("lcons: interrupted\n")
        sys.exit(130)
