"""From a syntax tree to one whose events consult a context. Pure: trees in, trees out.

Knows trees; must not know contexts, activations or files.
"""
