"""Lets the tests of this folder import `paper_tables` and others, which importlib mode would not find."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
