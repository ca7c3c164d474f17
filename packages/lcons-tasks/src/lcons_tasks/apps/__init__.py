"""Trained models with their constraints, ready for use: tagger, extractor and reference parser.

A name is imported when it is first used.
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from lcons_tasks.apps._batch_tagger import TaggerDecoder as TaggerDecoder
    from lcons_tasks.apps._extractor import Extractor as Extractor
    from lcons_tasks.apps._extractor import load_extractor as load_extractor
    from lcons_tasks.apps._tagger import ConstrainedTagger as ConstrainedTagger
    from lcons_tasks.apps._tagger import load_constrained_tagger as load_constrained_tagger

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "_batch_tagger": ["TaggerDecoder"],
        "_extractor": ["Extractor", "load_extractor"],
        "_tagger": ["ConstrainedTagger", "load_constrained_tagger"],
    },
)
