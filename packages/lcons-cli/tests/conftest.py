"""Lets the tests of this folder import their helpers, which importlib mode would not find, and interrupt
commands: what a shell starts in the background ignores SIGINT, and so would the commands that tests start."""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
signal.signal(signal.SIGINT, signal.default_int_handler)
