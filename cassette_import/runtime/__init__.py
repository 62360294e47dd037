"""What rewritten code calls while it runs.

Knows activations and hooks; must not know source or how code is made.
"""
