"""Constraint files as a function of batches, for Ray Data, Dask, Spark and datasets.

    Decoder(constraint files, labels) : batch with scores -> batch with labels

A batch has one row per sequence. It is a dict of columns, a pyarrow table, a pandas frame or a list of
records, and the answer is of the same type. pyarrow and pandas are not needed for the other types.
"""

from lcons_decode.batches._answers import ANSWERS, Answers
from lcons_decode.batches._batch import BatchFunction
from lcons_decode.batches._decoder import EMISSION, Decoder

__all__ = ["ANSWERS", "EMISSION", "Answers", "BatchFunction", "Decoder"]
