"""Benchmarks: the cost of running programs in every state: see `compare.py`."""
