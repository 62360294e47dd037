"""The command line, a file for each command that is more than a few lines.

Knows programs and reports; must not know how contexts work.
"""
