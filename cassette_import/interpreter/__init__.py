"""CPython itself: hidden frames, the heap, callables, namespaces, the clock, tracers and profilers.

Knows CPython; must not know anything of the packages above.
"""
