"""Specialisation: live functions get compiled bodies for the contexts in which they run, from source or the disk
cache.
"""
