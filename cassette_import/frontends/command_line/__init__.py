"""The command line: its parser, and a module for each command that is more than a few lines.

Knows programs and results; must not know how contexts work.
"""
