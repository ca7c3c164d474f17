"""lcons-contrib: one folder per neighbour of lcons. Nothing in the other packages imports it.

Its commands and readers register under the entry points `lcons.commands` and `lcons.readers`, as those of any
other package would.
"""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("lcons-contrib")
