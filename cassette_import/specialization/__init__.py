"""Specialisation: live functions get compiled bodies for the contexts in which they run, from source or the disk cache.

Knows source, code objects and variants; must not know what contexts and hooks do at events.
"""
