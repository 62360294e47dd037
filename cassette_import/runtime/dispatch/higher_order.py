"""Higher-order leaves: functions that are not overdubbed, and call the functions that they get as arguments.

Such a call has no call site in the program. It is an event because the leaf gets a callable that runs the event, in
place of the target. The list is data; add to it with ``HIGHER_ORDER.add(function)``.

Knows functions of the standard library; must not know events.
"""

from __future__ import annotations

import bisect
import builtins
import contextvars
import functools
import heapq
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final


class Leaves:
    """A set of functions, by identity.

    >>> import statistics
    >>> statistics.mean in HIGHER_ORDER
    False
    """

    def __init__(
        self, functions: Iterable[Callable[..., Any]], by_keyword_only: Iterable[Callable[..., Any]] = ()
    ) -> None:
        self.positional = {id(function): function for function in functions}
        self.by_id = {**self.positional, **{id(function): function for function in by_keyword_only}}
        self.listeners: list[Callable[[], None]] = []

    def add(self, function: Callable[..., Any]) -> None:
        """Declare that `function` calls functions that it gets as arguments.

        Parameters
        ----------
        function:
            A function that is not overdubbed, of an extension module for example.

        Raises
        ------
        TypeError
            If it cannot be called.

        >>> leaves = Leaves([map, filter])
        >>> leaves.add(sorted)
        >>> sorted in leaves
        True
        """
        if not callable(function):
            raise TypeError(f"a leaf must be callable, not {function!r}")
        self.by_id[id(function)] = self.positional[id(function)] = function
        for listener in self.listeners:
            listener()

    def __contains__(self, function: object) -> bool:
        return id(function) in self.by_id

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(list(self.by_id.values()))

    def __len__(self) -> int:
        return len(self.by_id)


HIGHER_ORDER: Final = Leaves(
    [
        map,
        filter,
        builtins.iter,
        functools.reduce,
        itertools.accumulate,
        itertools.dropwhile,
        itertools.filterfalse,
        itertools.groupby,
        itertools.starmap,
        itertools.takewhile,
        operator.call,
        re.sub,
        re.subn,
        re.Pattern.sub,
        re.Pattern.subn,
        contextvars.Context.run,
        heapq.nlargest,
        heapq.nsmallest,
    ],
    by_keyword_only=[
        sorted,
        min,
        max,
        list.sort,
        bisect.bisect,
        bisect.bisect_left,
        bisect.bisect_right,
        bisect.insort,
        bisect.insort_left,
        bisect.insort_right,
        heapq.merge,
    ],
)
"""The leaves whose callbacks are events, if overloads or hooks are registered for them."""
