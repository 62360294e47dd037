"""The ways to start cassette_import: command line, pytest plugin, notebook magics.

Knows contexts and installations; must not know how code is rewritten.
"""
