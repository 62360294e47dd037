"""What code does, compared and identified: instructions, lines, names, variables and constants, without file names."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, EllipsisType, NoneType
from typing import Any, Final

from cassette_import.interpreter import code_objects

__all__ = ["essence", "is_same"]

_ELSEWHERE: Final = ~(
    code_objects.NESTED
    | code_objects.METHOD
    | code_objects.ITERABLE_COROUTINE
    | code_objects.VARARGS
    | code_objects.VARKEYWORDS
)
"""Without the flags that say where a function stands, that `types.coroutine` has marked it, or that it takes `*args` or
`**kwargs`: copies of hooks leave out what a hook does not read."""


def essence(code: CodeType) -> tuple[Any, ...]:
    """What code does, functions and classes in it included. Its `repr` is the same in all processes of one Python.

    The number of positional-only parameters is left out: copies of hooks have another one.
    """
    return (
        code.co_name,
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_cellvars,
        code.co_freevars,
        code.co_argcount,
        code.co_kwonlyargcount,
        code.co_flags & _ELSEWHERE,
        code.co_exceptiontable,
        *map(_constant, code.co_consts),
    )


def is_same(code: CodeType, other: CodeType) -> bool:
    """Whether two code objects do the same, at the same lines."""
    # CPython's comparison of code takes twice as long for each level of functions within functions.
    return essence(code) == essence(other) and [*_lines(code)] == [*_lines(other)]


def _lines(code: CodeType) -> Iterator[tuple[int, int | None]]:
    """The offsets at which lines begin. Columns depend on `-X no_debug_ranges`, also those in a `.pyc`."""
    previous: int | None = -1
    for start, _, line in code.co_lines():
        if line != previous:
            yield start, line
            previous = line
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _lines(const)


_PLAIN: Final = frozenset((str, bytes, int, float, complex, bool, NoneType, EllipsisType))


def _constant(const: Any) -> Any:
    """A constant by its type and `repr`: 1, 1.0 and True are different ones, so are 0.0 and -0.0, and NaN is itself."""
    kind = type(const)
    if kind in _PLAIN:
        return repr(const)
    if kind is CodeType:
        return essence(const)
    if kind is tuple:
        return ("tuple", *map(_constant, const))
    if kind is frozenset:
        return ("frozenset", *sorted(map(_constant, const), key=repr))
    if kind is slice:
        return ("slice", *map(_constant, (const.start, const.stop, const.step)))
    return kind.__name__, id(const)  # somebody has put it there: its code is not run
