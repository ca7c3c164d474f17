"""Ctrl-C and `kill` end every command, which first removes what it has not finished.

Python raises `KeyboardInterrupt` wherever the command is at that moment. That may be a destructor or a
callback of C code, which cannot raise, or a library that catches everything: the interrupt is lost there. So
it is raised again until the outermost frame of the command has seen it: at once where Python reports a lost
one, otherwise after some seconds. An interrupt while the command cleans up leaves hidden files at worst; the
next command removes them.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

# The exit codes that shells use for a command that Ctrl-C or `kill` ended.
INTERRUPTED, TERMINATED = 130, 143
# Cleaning up takes less time, as a rule.
AGAIN_SECONDS, LOST_SECONDS = 5.0, 0.01


class Terminated(KeyboardInterrupt):
    """The command was asked to end by SIGTERM; it ends as if by Ctrl-C, so that nothing is left behind."""


def catch_signals() -> None:
    """Lets SIGINT and SIGTERM raise, again and again, until `seen`; a signal that is ignored stays so."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)
    before = sys.unraisablehook

    def lost(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            _raise_again(_kind_of(unraisable.exc_value), LOST_SECONDS)
        else:
            before(unraisable)

    sys.unraisablehook = lost


def seen(stop: BaseException) -> int:
    """The exit code of a command that `stop` ended, after one line on stderr; it is not raised again."""
    _cancel()
    killed = isinstance(stop, Terminated)
    # A terminal shows `^C` at the start of the line.
    line_end = "\n" * (sys.stderr.isatty() and not killed)
    sys.stderr.write(f"{line_end}lcons: {'terminated' if killed else 'interrupted'}\n")
    return TERMINATED if killed else INTERRUPTED


def end_at_once() -> None:
    """From now on Ctrl-C ends this process without a word: all that is left is to end."""
    _cancel()
    if signal.getsignal(signal.SIGINT) in (_stop, signal.default_int_handler):
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _kind_of(stop: BaseException | None) -> type[KeyboardInterrupt]:
    return Terminated if isinstance(stop, Terminated) else KeyboardInterrupt


def _stop(number: int, frame: Any) -> None:
    kind = Terminated if number == signal.SIGTERM else KeyboardInterrupt
    _raise_again(kind, AGAIN_SECONDS)
    raise kind


def _raise_again(kind: type[KeyboardInterrupt], seconds: float) -> None:
    # A timer's signal, not a thread: a thread cannot be started everywhere that a signal arrives.
    if hasattr(signal, "setitimer"):

        def again(number: int, frame: Any) -> None:
            raise kind

        signal.signal(signal.SIGALRM, again)
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)


def _cancel() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)
