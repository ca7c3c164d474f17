"""Decoders of label chains: Viterbi, beams, exact constrained search, n-best lists, marginals."""
