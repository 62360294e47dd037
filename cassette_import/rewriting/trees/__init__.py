"""Trees as such: walking, building, scopes, finding the tree of a code object.

Knows trees and code objects; must not know events.
"""
