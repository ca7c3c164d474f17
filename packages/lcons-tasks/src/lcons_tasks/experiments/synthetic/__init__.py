"""Synthetic integer programs: constraints that nobody sees, learned from the programs' solutions alone."""
