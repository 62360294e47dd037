"""The context `Memoize`, which caches the results of chosen functions.

Knows arguments and results, and where they are stored; must not know what the functions do.
"""

from cassette_import.contexts.memoize.context import Memoize
from cassette_import.contexts.memoize.stores import LockError

__all__ = ["LockError", "Memoize"]
