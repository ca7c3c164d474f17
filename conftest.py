"""Hypothesis draws the same examples every run; `--hypothesis-profile=explore` draws others.

Compiled kernels are kept in the user's cache, also for tests that give lcons another cache: compiling takes
most of a minute.
"""

import os
from pathlib import Path

import platformdirs
from hypothesis import settings

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(platformdirs.user_cache_dir("lcons", False)) / "numba"))

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("ci")
