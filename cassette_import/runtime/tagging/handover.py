"""How wrappers pass between functions: through returns, yields, and what is sent into a generator.

An overdubbed function returns a plain value, because its caller may be written in C. It leaves the wrapper in the
state of the thread, where an overdubbed caller takes it.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting import symbols
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.names import FLAGS, NAMES
from cassette_import.runtime.tagging.held_metadata import CONTAINERS
from cassette_import.runtime.tagging.shadow_store import drop_unused_since
from cassette_import.runtime.tagging.tag_scopes import active_store
from cassette_import.runtime.tagging.thread_state import LEAVES, LOCAL, SUBJECTS, outside
from cassette_import.runtime.tagging.wrappers import Tagged

_frame: Final = sys._getframe  # of depth 1: the first frame that is not hidden
_MOST_PASSED: Final = 10_000
_CONSUMED_TYPES: Final = frozenset({bool, int})

CONSUMED: Final[list[Callable[[Any, Any], Any]]] = []
"""The function of `consumed_results` for a truth value or number that a frame returns."""

SENDERS: Final[list[Callable[[Any], Any]]] = []
"""`parcels.leaving`, once a thread, job or task has inherited contexts that tag values."""


@hidden
def returned(value: Any) -> Any:
    """The plain value, to be returned or yielded. Its wrapper is left for the caller; an older one is discarded."""
    if type(value) is Tagged:
        if type(value._tagged_value) in _CONSUMED_TYPES:
            value = CONSUMED[0](value, _frame(1))
            if type(value) is not Tagged:
                LOCAL.returned = None
                return value
        if SENDERS:
            value = SENDERS[0](value)
        LOCAL.returned = value
        if LEAVES and (call := LEAVES.get(get_ident())) is not None:  # the leaf may store the value
            call.store.recognised.note(value._tagged_value, value._tagged_metas)
            if len(call.passed) < _MOST_PASSED:
                call.passed[id(value._tagged_metas)] = value
        elif SUBJECTS and (store := active_store()) is not None:  # a pattern may capture the value
            store.recognised.note(value._tagged_value, value._tagged_metas)
        return value._tagged_value
    LOCAL.returned = None
    if LEAVES and is_a(value, CONTAINERS):
        call = LEAVES.get(get_ident())
        if call is not None and len(call.passed) < _MOST_PASSED and call.has_metadata_in(value):
            call.passed[id(value)] = value  # the leaf may compute text of its parts
    return value


@hidden
def returned_before() -> Any:
    """What was left for a caller before code runs that may leave something else."""
    return LOCAL.returned


@hidden
def left_again(value: Any) -> None:
    """Leave what was returned before that code; None if nothing was."""
    if value is not None:
        returned(value)


_STACKS: Final[dict[int, list[Any]]] = {}
"""What frames that read their variables are about to return, an item for each block around the `return`."""


@hidden
def stack_returned(value: Any) -> None:
    """The same in the stack of the frame, for a block that begins."""
    _STACKS.setdefault(id(_frame(1)), []).append(value)


@hidden
def keep_returned(value: Any) -> Any:
    """Keep what is about to be returned out of all blocks that have begun."""
    stack = _STACKS.get(id(_frame(1)), [])
    stack[:] = [value] * len(stack)
    return value


@hidden
def left_from_stack() -> None:
    """Leave what was kept for the innermost block, which ends."""
    key = id(_frame(1))
    if stack := _STACKS.get(key):  # none if the block began as plain code
        left_again(stack.pop())
        if not stack:
            del _STACKS[key]


@hidden
def received(value: Any) -> Any:
    """The value of a `yield` expression, wrapped if a wrapped value was sent."""
    found, LOCAL.sent = LOCAL.sent, None
    return found if found is not None and found._tagged_value is value else value


@hidden
def call_overdubbed(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call an overdubbed function with wrapped arguments; its result is wrapped as it was inside."""
    returned, wants_wrapped = LOCAL.returned, LOCAL.wants_wrapped
    LOCAL.returned, LOCAL.wants_wrapped = None, False
    number = len(LOCAL.held)
    try:
        result = outside(callee, *arguments, **keywords) if LEAVES else callee(*arguments, **keywords)
        found = LOCAL.returned
        if len(LOCAL.held) > number:
            drop_unused_since(number)
        return found if found is not None and found._tagged_value is result else result
    finally:
        LOCAL.returned, LOCAL.wants_wrapped = returned, wants_wrapped


@hidden
def call_overload(handler: Any, context: Any, function: Any, arguments: Any, keywords: Any) -> Any:
    """Call an overload, which contexts further out may overdub."""
    return call_overdubbed(handler, context, function, *arguments, **keywords)


@hidden
def rewrapped(value: Any) -> Any:
    """The value of syntax that calls special methods of the program, wrapped if such a method returned it wrapped."""
    found, LOCAL.returned = LOCAL.returned, None
    return found if found is not None and found._tagged_value is value else value


@hidden
def claimed(value: Any) -> Any:
    """The value of plain syntax during which the first value was tagged: a leaf may have computed it of that value."""
    found, LOCAL.returned = LOCAL.returned, None
    if found is None or found._tagged_value is value:
        return value if found is None else found
    return CLAIM[0](_SYNTAX, found, value)


CLAIM: Final[list[Callable[[Any, Any, Any], Any]]] = []
"""The function of `callback_metadata` for what a leaf has returned, to which the program has returned a wrapper."""

_SYNTAX: Final = "an operation that runs code of the program"


@hidden
def never_wrapped(value: Any) -> Any:
    """The value of syntax whose value is never wrapped: the wrapper left by a special method is discarded."""
    LOCAL.returned = None
    return value


@hidden
def begin_epoch() -> Any:
    """Discard the wrapper that was left last; return the epoch, in which a frame carries out its events from now on."""
    LOCAL.returned = None
    return FLAGS[symbols.EPOCH]


NAMES.update({symbols.BEGIN_EPOCH: begin_epoch})
NAMES.update({symbols.RETURNED: DISPATCH.unless_tagged(returned), symbols.RECEIVED: received})
NAMES.update({symbols.RETURNED_BEFORE: returned_before, symbols.LEFT_AGAIN: left_again})
NAMES.update({symbols.STACK_RETURNED: stack_returned, symbols.KEEP_RETURNED: keep_returned})
NAMES.update({symbols.LEFT_FROM_STACK: left_from_stack})
NAMES.update({symbols.CLAIMED: claimed, symbols.SETTLED: never_wrapped})
