"""Compiling ahead of time: cache files for whole packages, before any run needs them.

Knows packages and contexts; must not know the command line, or how functions are specialised.
"""
