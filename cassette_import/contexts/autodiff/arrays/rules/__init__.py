"""Derivatives of NumPy's functions as data, a file for each kind of rule.

Knows mathematics and arrays; must not know contexts.
"""
