"""Trained models with their constraints, ready for use: tagger, extractor and reference parser.

A name is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
