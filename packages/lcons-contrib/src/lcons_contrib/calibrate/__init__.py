"""Thresholds with a guarantee (`thresholds`), networks from valid examples alone (`one_class`), and the
command `lcons calibrate`."""
