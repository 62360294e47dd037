"""Specialisation: live functions get compiled bodies for the contexts in which they run, from source or the disk cache.

Knows source and code objects; must not know contexts or hooks.
"""
