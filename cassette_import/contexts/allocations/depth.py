"""Depth: what hooks allocate is allocated below as many frames of cassette_import as `tracemalloc` records.

`tracemalloc` finds the line of each recorded frame at each allocation, by a search from the beginning of its function.
In a long function of the program, one allocation takes twenty times as long as in a short one, and a hook has dozens.
So hooks allocate below frames of their own, which have no lines to search.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeAlias, TypeVar

__all__ = ["FRAMES", "below", "without_lines"]

FRAMES: Final = 4
"""How many frames `tracemalloc` records: enough to see on whose behalf the standard library allocates."""

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Called: TypeAlias = Callable[[Any, Any, Any, Any], Any]


def without_lines(function: _Function) -> _Function:
    """Decorator: the lines of a function are not known.

    >>> @without_lines
    ... def quick():
    ...     return 1
    >>> quick(), list(quick.__code__.co_lines())
    (1, [])
    """
    assert isinstance(function, FunctionType)
    function.__code__ = function.__code__.replace(co_linetable=b"")
    return function


@without_lines
def below(
    function: Callable[[Any, Any, Any, Any], Any], a: Any = None, b: Any = None, c: Any = None, d: Any = None
) -> Any:
    """Call a function in Python; with its frame and that of the caller, there are as many frames as are recorded.

    The parameters have names, because a tuple of them would be an allocation in the caller.
    """
    return _further_below(function, a, b, c, d)


@without_lines
def _further_below(function: _Called, a: Any, b: Any, c: Any, d: Any) -> Any:
    return function(a, b, c, d)
