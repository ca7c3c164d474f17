"""The `lcons` command from its first moment to its last: Ctrl-C is one line also while modules are loaded."""

import sys


def start() -> None:
    """Runs the command, and ends this process with its exit code."""
    try:
        from lcons_cli.interrupts import end_at_once

        try:
            from lcons_cli.main import main

            main()
        finally:
            end_at_once()
    except KeyboardInterrupt as stop:
        from lcons_cli.interrupts import seen

        sys.exit(seen(stop))
