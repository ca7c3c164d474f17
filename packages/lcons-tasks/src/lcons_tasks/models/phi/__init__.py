"""phi: what the base models read of words, references and pairs of candidates."""
