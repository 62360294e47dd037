"""Rewriting: a function's syntax tree becomes one whose call sites and other events consult the active context.

Knows syntax trees, and which hooks there are (`Shape`); must not know contexts, activations, running code or files.
"""
