"""CPython as it is: frames, the heap, callables, the clock, tools that watch.

Knows CPython; must not know anything of the packages above.
"""
