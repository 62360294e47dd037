"""Syntax trees in general: traversal, building nodes, scopes, annotations, and the tree of a code object.

Knows trees and code objects; must not know events.
"""
