"""The experiments: the four of the paper, each a folder."""
