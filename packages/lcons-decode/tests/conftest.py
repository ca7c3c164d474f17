"""Allows the tests of this folder to import `chain_strategies`, which importlib mode does not find."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
