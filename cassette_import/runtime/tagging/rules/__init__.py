"""How tags follow values through leaves: one file for each kind of leaf.

Knows leaves of the standard library; must not know contexts.
"""
