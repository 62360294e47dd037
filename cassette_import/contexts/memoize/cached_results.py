"""Cached results, which the program cannot change: immutable values, and mutable ones as pickle writes them.

Knows pickle, and keys; must not know functions or stores.
"""

from __future__ import annotations

import io
import pickle
from types import FunctionType
from typing import Any

from cassette_import.contexts.memoize.argument_keys import IMMUTABLE, PROTOCOL, CannotCache, Key, on_one_line

__all__ = ["CachedResult", "cached_result"]


class CachedResult:
    """A result in the cache: an immutable value, or the bytes that pickle writes for it."""

    __slots__ = ("is_pickled", "stored")

    def __init__(self, stored: Any, is_pickled: bool) -> None:
        self.stored = stored
        self.is_pickled = is_pickled

    def value(self) -> Any:
        """The result; if it is mutable, a new copy."""
        return pickle.loads(self.stored) if self.is_pickled else self.stored

    def pickled(self) -> bytes:
        """The result as bytes for a file."""
        return self.stored if self.is_pickled else pickle.dumps(self.stored, PROTOCOL)


def cached_result(result: Any, key: Key) -> CachedResult:
    """A result in a form that can be cached.

    Raises
    ------
    CannotCache
        If it cannot be copied, or contains an argument: a copy would not contain the same object.
    """
    if type(result) in IMMUTABLE or isinstance(result, (FunctionType, type)):
        return CachedResult(result, is_pickled=False)
    file = io.BytesIO()
    pickler = pickle.Pickler(file, PROTOCOL)
    try:
        pickler.dump(result)
        pickle.loads(file.getvalue())
    except Exception as error:  # a class may raise anything while it is pickled
        raise CannotCache(f"its result cannot be copied: {on_one_line(error)}") from None
    key.check_not_in(pickler.memo.copy())
    if type(result) is tuple and all(type(item) in IMMUTABLE for item in result):
        return CachedResult(result, is_pickled=False)
    return CachedResult(file.getvalue(), is_pickled=True)
