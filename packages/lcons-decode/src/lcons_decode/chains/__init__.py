"""Decoders of label chains: Viterbi, beams, exact constrained search, n-best lists, marginals.

    constraints -> ChainConstraints.of(constraints, labels)
    scores + ChainConstraints -> lay_out -> kernels -> Decoding, or arrays of label indices (`viterbi_ids`)

Compile constraints once and use them for all sequences: they cache their result for each kind of window.
"""
