"""`Memoize`."""

from cassette_import.contexts.memoize.context import Memoize

__all__ = ["Memoize"]
