"""CPython itself: hidden frames, the heap, callables, namespaces, the clock, tracers and profilers."""
