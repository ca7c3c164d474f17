"""lcons-tasks: read labelled data, train a tagger, constrain it, diagnose it, and run the experiments.

    data -> models -> own_data -> diagnosis -> apps -> report -> experiments

Each folder is a public subpackage; the names most people need are here too. A name is imported when it is
first used: spaCy, torch and numba take seconds to import.
"""

from typing import TYPE_CHECKING, Any

import lazy_loader

if TYPE_CHECKING:
    from lcons_tasks.apps import ConstrainedTagger as ConstrainedTagger
    from lcons_tasks.apps import load_constrained_tagger as load_constrained_tagger
    from lcons_tasks.apps import load_extractor as load_extractor
    from lcons_tasks.data import Sentence as Sentence
    from lcons_tasks.data import read_columns as read_columns
    from lcons_tasks.diagnosis import choose as choose
    from lcons_tasks.diagnosis import diagnose as diagnose
    from lcons_tasks.fitted import FitSettings as FitSettings
    from lcons_tasks.fitted import FittedTagger as FittedTagger
    from lcons_tasks.fitted import fit as fit
    from lcons_tasks.models import LinearSettings as LinearSettings
    from lcons_tasks.models import load_tagger as load_tagger
    from lcons_tasks.models import train_bilstm as train_bilstm
    from lcons_tasks.models import train_chain_svm as train_chain_svm
    from lcons_tasks.models import train_linear as train_linear
    from lcons_tasks.own_data import learn as learn
    from lcons_tasks.own_data import read_data as read_data
    from lcons_tasks.stats import chunk_f1 as chunk_f1

_find, _, _names = lazy_loader.attach(
    __name__,
    submod_attrs={
        "apps": ["ConstrainedTagger", "load_constrained_tagger", "load_extractor"],
        "data": ["Sentence", "read_columns"],
        "diagnosis": ["choose", "diagnose"],
        "fitted": ["FitSettings", "FittedTagger", "fit"],
        "models": ["LinearSettings", "load_tagger", "train_bilstm", "train_chain_svm", "train_linear"],
        "own_data": ["learn", "read_data"],
        "stats": ["chunk_f1"],
    },
)
__all__ = ["__version__", *_names]


def __getattr__(name: str) -> Any:
    if name != "__version__":
        return _find(name)
    from importlib.metadata import version

    return version("lcons-tasks")


def __dir__() -> list[str]:
    return sorted(__all__)
