"""What people start: the command line, programs, reports, the pytest plugin, notebooks.

Knows contexts and installing; must not know how code is rewritten.
"""
