"""The paths of a function through its branches, each recorded as a trace.

Every number of the box takes one of the paths, or raises an exception.
"""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable
from typing import Any, Final

from cassette_import.activation.tagging import metadata
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.common.compositions import COMPOSITIONS
from cassette_import.contexts.common.lost_numbers import UNKNOWN
from cassette_import.contexts.common.tagged_containers import with_items_read
from cassette_import.contexts.contract.context import Node, Unreachable
from cassette_import.contexts.contract.overloads import PathRecorder
from cassette_import.contexts.contract.rules import FOLDS, RULES
from cassette_import.contexts.contract.traces import Box, Trace
from cassette_import.errors import CassetteError, NotOverdubbable
from cassette_import.interpreter.callables import python_function
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["Path", "check_function", "paths"]

_MISTAKES: Final = (TypeError, NameError, AttributeError, ImportError, NotImplementedError, RecursionError)
"""Exceptions that are mistakes of the program: they do not say that a function has no value for these numbers."""


class Path:
    """What a function computes on one path: the trace, and whether the result is a tuple of numbers."""

    def __init__(self, trace: Trace, is_tuple: bool) -> None:
        self.trace = trace
        self.is_tuple = is_tuple


def check_function(f: Callable[..., Any]) -> None:
    """Raise an error if a function cannot be recorded."""
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    if python_function(f) is None and not any(f in rules for rules in (RULES, FOLDS, COMPOSITIONS)):
        raise NotOverdubbable(f"{f!r} has no Python source, and no rule is known that contracts it")


def paths(f: Callable[..., Any], box: Box, max_paths: int) -> list[Path]:
    """All paths that some number of a box may take to a result.

    Raises
    ------
    TooManyPaths
        If there are more than `max_paths`; paths that end in an exception count, too.
    NotContracted
        If a function without a rule computes something from the numbers.
    """
    pending: list[list[int]] = [[]]
    found: list[Path] = []
    runs = 0
    while pending:
        decisions = pending.pop()
        room = max_paths - runs - 1 - len(pending)
        recorder = PathRecorder(box, decisions, room=room, paths=max_paths)
        path = _recorded(f, recorder)
        runs += 1
        if path is not None:
            found.append(path)
        pending += recorder.other_paths
    return found


def _recorded(f: Callable[..., Any], recorder: PathRecorder) -> Path | None:
    """One path; None if no number takes it, or if it ends in an exception."""
    try:
        with recorder.checked():
            result = overdub(recorder, f, *recorder.arguments())
        outputs = _outputs(recorder, result)
    except Unreachable:
        return None
    except (CassetteError, *_MISTAKES):
        if recorder.unreachable:
            return None
        raise
    except Exception:
        return None  # the function has no value there
    if recorder.unreachable:
        return None
    nodes = [outputs] if isinstance(outputs, Node) else outputs
    trace = Trace(recorder.box, recorder.start, recorder.steps, recorder.conditions, [node.place for node in nodes])
    return Path(trace, is_tuple=not isinstance(outputs, Node))


def _outputs(recorder: PathRecorder, result: Any) -> Any:
    """The nodes of a result: one, or a list."""
    node = _read(recorder, result)
    if isinstance(node, Node):
        return node
    if isinstance(plain(result), (list, tuple)):
        return list(with_items_read(recorder, result, functools.partial(_number, recorder)))
    raise TypeError(f"the function must return a number or a tuple of numbers, not {plain(result)!r}")


def _read(recorder: PathRecorder, value: Any) -> Node | None:
    found, bare = metadata(value, recorder), plain(value)
    if isinstance(found, Node):
        return found
    if found is UNKNOWN or not isinstance(bare, numbers.Real) or bare != bare:
        return None
    return recorder.constant(bare)


def _number(recorder: PathRecorder, value: Any) -> Node:
    node = _read(recorder, value)
    if node is None:
        raise TypeError(f"the function must return a number or a tuple of numbers, which {plain(value)!r} is not")
    return node
