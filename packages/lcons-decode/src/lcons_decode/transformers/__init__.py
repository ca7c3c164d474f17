"""Token classifiers of Hugging Face `transformers`, decoded and trained under constraints.

    pipeline("token-classification", ..., pipeline_class=ConstrainedPipeline, constraints=[...])
    ConstrainedTrainer(..., constraints=[...], compute_metrics=decoded_metrics(labels, constraints))

Needs `transformers` and torch.
"""

from lcons_core import MissingExtra

try:
    import transformers as _transformers  # noqa: F401
except ImportError as error:
    raise MissingExtra(
        f"lcons_decode.transformers needs transformers, which cannot be imported ({error}); run:"
        " pip install transformers torch."
    ) from error

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
