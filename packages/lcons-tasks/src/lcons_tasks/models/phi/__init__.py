"""phi, the features of the base models: of words, of references, and of candidates and their pairs."""
