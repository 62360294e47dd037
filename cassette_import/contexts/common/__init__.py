"""What several ready-made contexts need: options, targets, names of functions, reports and text.

Knows the public interface of cassette_import, callables and hidden frames; must not know any ready-made context.
"""
