"""Functions that move, compute and inspect values."""
