"""Which modules are overdubbed: the finder, what was selected, what was decided and why.

Knows the import system and the registry; must not know contexts.
"""
