"""Syntax trees in general: traversal, building nodes, scopes, annotations, and the tree of a code object.

Knows trees, code objects and the spelling of names; must not know events.
"""
