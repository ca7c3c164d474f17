"""Lets the tests of this folder import their helpers, which importlib mode would not find, and interrupt
commands: what a shell starts in the background ignores SIGINT, and so would the commands that tests start.
Progress is not printed here, however slow the machine is."""

import signal
import sys
from pathlib import Path

from lcons_cli import progress

sys.path.insert(0, str(Path(__file__).parent))
signal.signal(signal.SIGINT, signal.default_int_handler)
progress.PATIENCE = 3600.0
