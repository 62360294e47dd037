"""Events: which hooks and overloads a callee and its arguments select, and how they run.

Knows callables; must not know syntax.
"""
