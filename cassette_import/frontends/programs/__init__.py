"""Unmodified programs, run as plain Python runs them.

Knows `__main__`, import paths and the ways out of a process; must not know contexts.
"""
