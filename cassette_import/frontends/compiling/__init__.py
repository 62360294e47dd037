"""Compiling ahead of time: cache files for whole packages, before any run needs them."""
