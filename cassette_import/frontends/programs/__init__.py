"""Unmodified programs, run as plain Python runs them.

Knows `__main__`, import paths, processes and their ends; must not know contexts.
"""
