"""The inner loops of the decoders, compiled by numba at the first call and cached on disk.

    Layout(chain, lists, units) -> _compiled.constrained_many, beam_many, ... -> labels, scores, How

Importing `_compiled` imports numba, so callers do so where they decode. The loops run without the interpreter
lock, so that threads can share the rows of a batch.
"""
