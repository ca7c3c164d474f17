"""The `lcons` command from its first moment: Ctrl-C is one line also while modules are loaded."""

import sys


def start() -> None:
    """Runs the command, and ends this process with its exit code."""
    try:
        from lcons_cli.main import main

        main()
    except KeyboardInterrupt:
        sys.stderr.write("lcons: interrupted\n")
        sys.exit(130)
