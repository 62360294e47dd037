"""Compiled bodies: which functions have one, how it is made, kept on disk and put into live functions.

Knows source and code objects; must not know contexts or hooks.
"""
