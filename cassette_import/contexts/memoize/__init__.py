"""The context `Memoize`, which caches the results of chosen functions."""

from cassette_import.contexts.memoize.context import Memoize
from cassette_import.contexts.memoize.stores import LockError

__all__ = ["LockError", "Memoize"]
