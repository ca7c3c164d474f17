"""Token classifiers of Hugging Face `transformers`, decoded and trained under constraints.

    pipeline("token-classification", ..., pipeline_class=ConstrainedPipeline, constraints=[...])
    ConstrainedTrainer(..., constraints=[...], compute_metrics=decoded_metrics(labels, constraints))

Needs `transformers` and torch, which are imported at the first use of a name.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lcons_core import MissingExtra

if TYPE_CHECKING:
    from lcons_decode.transformers._pipeline import ConstrainedPipeline
    from lcons_decode.transformers._trainer import (
        UNLABELLED,
        ConstrainedTrainer,
        ExpectedPenaltyMixin,
        decoded_metrics,
    )

__all__ = [
    "UNLABELLED",
    "ConstrainedPipeline",
    "ConstrainedTrainer",
    "ExpectedPenaltyMixin",
    "decoded_metrics",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "_pipeline" if name == "ConstrainedPipeline" else "_trainer"
    try:
        return getattr(import_module(f"{__name__}.{home}"), name)
    except ImportError as error:
        raise MissingExtra(
            f"lcons_decode.transformers needs transformers and torch, which cannot be imported ({error});"
            " run: pip install transformers torch accelerate."
        ) from error
