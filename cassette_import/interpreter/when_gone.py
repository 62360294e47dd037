"""Calls that happen when an object is gone.

`weakref.finalize` does this too, but its first use in a process registers the end of all finalizers with `atexit`. If
cassette_import used it first, the program's finalizers would run later at the end of the process than in the plain run.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final, ParamSpec

P = ParamSpec("P")

_references: Final[dict[int, weakref.ref[Any]]] = {}  # by their identity: the hash of a reference is that of its object


def when_gone(item: Any, function: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Call a function once an object is gone, unless the process ends before."""

    def call(dead: weakref.ref[Any]) -> None:
        del _references[id(dead)]
        function(*args, **kwargs)

    reference = weakref.ref(item, call)
    _references[id(reference)] = reference
