"""The operand stack: holds values between two parts of a statement where the rewriter may not use variables.

That is so in class bodies, at module level, in comprehensions, and in functions that read their `locals()`. Each frame
of the program has a stack. An expression that fails leaves its values at the bottom, below those of later expressions
of the same frame, so an expression pops only what it has pushed itself.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.active_interception import intercept_if_active

_MOST_STACKS: Final = 1000
"""A frame that fails leaves its stack behind; beyond this number the oldest stacks are dropped."""

_frame = sys._getframe  # of depth 1: the first frame that is not hidden
_stacks: dict[int, list[Any]] = {}
_intercept = intercept_if_active(Events.TRUTH)


@hidden
def push(value: Any) -> Any:
    """Push a value on the stack of the program's frame; return it."""
    key = id(_frame(1))
    stack = _stacks.get(key)
    if stack is None:
        stack = _stacks[key] = []
        if len(_stacks) > _MOST_STACKS:
            del _stacks[next(iter(_stacks))]
    stack.append(value)
    return value


@hidden
def pop() -> Any:
    """Remove and return the last value."""
    key = id(_frame(1))
    stack = _stacks[key]
    value = stack.pop()
    if not stack:
        del _stacks[key]
    return value


@hidden
def pop_below() -> Any:
    """Remove and return the last value but one."""
    return _stacks[id(_frame(1))].pop(-2)


@hidden
def peek() -> Any:
    """The last value."""
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
def push_parts(value: Any, count: int, star: int | None) -> None:
    """Unpack a value and push its parts, the first on top."""
    for part in reversed(_unpacker(count, star)(value)):
        push(part)


class _Pusher:
    """Pushes what is assigned to an index of it: the target of a loop whose own targets are assigned to by events."""

    @hidden
    def __setitem__(self, index: Any, value: Any) -> None:
        push(value)


@hidden
def decided_and(value: Any) -> Any:
    """The truth of an operand of `and`; an operand that decides is pushed."""
    found = _intercept(operator.truth)(value)
    if not found:
        push(value)
    return found


@hidden
def decided_or(value: Any) -> Any:
    """The truth of an operand of `or`; an operand that decides is pushed."""
    found = _intercept(operator.truth)(value)
    if found:
        push(value)
    return found


@hidden
def chain(value: Any) -> bool:
    """Whether a chain of comparisons continues after `value`; if not, `value` replaces the operand that was pushed."""
    if value:
        return True
    pop()
    push(value)
    return False


@hidden
def chain_tested(value: Any) -> Any:
    """The same where only the truth of the chain is used, which is an event."""
    found = _intercept(operator.truth)(value)
    if not found:
        pop()
        push(False)
    return found


BINDINGS: Final[dict[str, Any]] = {
    symbols.KEEP: push,
    symbols.KEPT: pop,
    symbols.KEPT_BELOW: pop_below,
    symbols.PEEK: peek,
    symbols.KEEP_ALL: push_parts,
    symbols.SINK: _Pusher(),
    symbols.AND: decided_and,
    symbols.OR: decided_or,
    symbols.CHAIN: chain,
    symbols.CHAIN_TESTED: chain_tested,
}
"""The values of the symbols of this module, see `runtime.bindings`."""
