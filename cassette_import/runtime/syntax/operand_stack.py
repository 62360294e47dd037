"""Values that wait between two parts of a statement, where the rewriter may not use variables: in class bodies, at
module level, in comprehensions, in functions that look at their locals.

Each frame has a stack of its own. An expression that fails leaves its values at the bottom, below those of later
expressions of the same frame, so what is taken is always what was put last by who takes it.

Knows events of the kind `TRUTH`; must not know other kinds.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.active_interception import intercept_if_active

_MOST: Final = 1000
"""Frames that failed keep what waited there; the oldest are forgotten beyond this number."""

_frame = sys._getframe  # of depth 1: the first frame that is not hidden
_stacks: dict[int, list[Any]] = {}
_truth = intercept_if_active(Events.TRUTH)


@hidden
def keep(value: Any) -> Any:
    """Put a value on the stack of the program's frame, and have it."""
    key = id(_frame(1))
    stack = _stacks.get(key)
    if stack is None:
        stack = _stacks[key] = []
        if len(_stacks) > _MOST:
            del _stacks[next(iter(_stacks))]
    stack.append(value)
    return value


@hidden
def kept() -> Any:
    """Take what was put last."""
    key = id(_frame(1))
    stack = _stacks[key]
    value = stack.pop()
    if not stack:
        del _stacks[key]
    return value


@hidden
def kept_below() -> Any:
    """Take what was put before what was put last."""
    return _stacks[id(_frame(1))].pop(-2)


@hidden
def peek() -> Any:
    """What was put last."""
    return _stacks[id(_frame(1))][-1]


@functools.cache
def _unpacker(count: int, star: int | None) -> Callable[[Any], tuple[Any, ...]]:
    """A function that unpacks as the interpreter does, with its errors."""
    names = [f"v{number}" for number in range(count)]
    targets = [f"*{name}" if number == star else name for number, name in enumerate(names)]
    code = f"def unpack(value):\n [{', '.join(targets)}] = value\n return ({', '.join(names)}{',' if names else ''})\n"
    namespace: dict[str, Any] = {}
    exec(code, namespace)
    function: Callable[[Any], tuple[Any, ...]] = namespace["unpack"]
    function.__code__ = hide(function.__code__)
    return function


@hidden
def keep_all(value: Any, count: int, star: int | None) -> None:
    """Unpack a value and put its parts on the stack, the first on top."""
    for part in reversed(_unpacker(count, star)(value)):
        keep(part)


class _Sink:
    """What is stored to an index of it is kept: the target of a loop whose own target is stored to by events."""

    @hidden
    def __setitem__(self, index: Any, value: Any) -> None:
        keep(value)


@hidden
def decided_and(value: Any) -> Any:
    """The truth of an operand of `and`; one that decides is kept."""
    found = _truth(operator.truth)(value)
    if not found:
        keep(value)
    return found


@hidden
def decided_or(value: Any) -> Any:
    """The truth of an operand of `or`; one that decides is kept."""
    found = _truth(operator.truth)(value)
    if found:
        keep(value)
    return found


@hidden
def chain(value: Any) -> bool:
    """Whether a chain of comparisons goes on after `value`; if not, `value` takes the place of the kept operand."""
    if value:
        return True
    kept()
    keep(value)
    return False


@hidden
def chain_tested(value: Any) -> Any:
    """The same where only the truth of the chain is asked for, which is an event."""
    found = _truth(operator.truth)(value)
    if not found:
        kept()
        keep(False)
    return found


BINDINGS: Final[dict[str, Any]] = {
    "@keep": keep,
    "@kept": kept,
    "@kept.below": kept_below,
    "@peek": peek,
    "@keep.all": keep_all,
    "@sink": _Sink(),
    "@and": decided_and,
    "@or": decided_or,
    "@chain": chain,
    "@chain.tested": chain_tested,
}
"""The names that rewritten code finds in `builtins`, see `runtime.bindings`."""
