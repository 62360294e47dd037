"""The function `evaluate`: runs an unmodified function on numbers that have a meaning."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from cassette_import.activation.tagging import NO_METADATA, metadata, tag
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.algebra.context import Algebra
from cassette_import.errors import NotOverdubbable
from cassette_import.kits.numbers.lost_numbers import UNKNOWN, unshared
from cassette_import.kits.numbers.numeric_values import is_array
from cassette_import.kits.tagged_containers import with_items_read, with_items_tagged
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["Number", "evaluate"]


class Number(NamedTuple):
    """A number with its meaning in a number system.

    Attributes
    ----------
    value:
        The number with which the program computes.
    meaning:
        What the rules of the system compute with.

    Example
    -------
    >>> Number(9.81, "m/s²").meaning
    'm/s²'
    """

    value: Any
    meaning: Any


def evaluate(algebra: Algebra, f: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
    """Run an unmodified function in a number system.

    Parameters
    ----------
    algebra:
        The number system.
    f:
        A function of numbers. Its own module and installed packages are overdubbed.
    args, keywords:
        The arguments: `Number` objects, or anything else; lists, tuples and dicts may hold numbers, too.

    Returns
    -------
    The result of `f`, with a `Number` for each number that has a meaning.

    Raises
    ------
    Meaningless
        If a function without a rule computes a number from one with a meaning, or if a rule refuses its operands. It is
        raised again if the program catches it.

    Example
    -------
    >>> import operator
    >>> class Counted(Algebra):
    ...     "The number of additions that a number took."
    ...     rules = {operator.add: lambda x, y: x + y + 1}
    ...     def lift(self, value):
    ...         return 0
    >>> evaluate(Counted(), sum, [Number(1.0, 0), 2.0, 3.0])
    Number(value=6.0, meaning=2)
    """
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    with algebra.checked():
        given = [_given(algebra, argument) for argument in args]
        named = {name: _given(algebra, argument) for name, argument in keywords.items()}
        result = overdub(algebra, f, *given, **named)
    return _read(algebra, result)


def _given(ctx: Algebra, value: Any) -> Any:
    """An argument, with a tagged number for each `Number`."""
    if type(value) is Number:
        return tag(unshared(value.value), ctx, value.meaning)
    if is_array(value) and value.dtype.kind == "O":
        raise NotOverdubbable("numbers in arrays have no meaning: give lists of numbers")
    return with_items_tagged(ctx, value, functools.partial(_given, ctx))


def _read(ctx: Algebra, value: Any) -> Any:
    """A result, with a `Number` for each number that has a meaning."""
    found, bare = metadata(value, ctx), plain(value)
    if found is UNKNOWN and not isinstance(bare, (list, tuple, dict)):
        return bare
    if found is not NO_METADATA and found is not UNKNOWN:
        return Number(bare, found)
    return with_items_read(ctx, value, functools.partial(_read, ctx))
