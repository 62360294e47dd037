"""Reports about a run and the processes that it started.

Knows what contexts found and what was specialised; must not know how either came about.
"""
