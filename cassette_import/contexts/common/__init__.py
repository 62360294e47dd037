"""What several ready-made contexts need: options, targets, names of functions, reports and text.

Knows contexts, events, the verbs, callables and hidden frames; must not know any ready-made context.
"""
