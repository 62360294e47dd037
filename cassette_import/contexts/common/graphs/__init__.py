"""Graphs of functions that call each other, as text, pictures and pages.

Knows functions, edges and their costs; must not know which context recorded them.
"""
