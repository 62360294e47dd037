"""Syntax trees in general: traversal, building nodes, scopes, annotations, and the tree of a code object."""
