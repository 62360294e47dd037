"""Helpers of several tests: contexts, processes, comparisons with plain runs."""
