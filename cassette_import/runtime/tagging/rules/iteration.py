"""Rules for `iter`, `next` and `reversed`."""

from __future__ import annotations

import builtins
from collections import deque
from typing import Any

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.tagging.computed_metadata import cursor_of_whole, is_computed_from
from cassette_import.runtime.tagging.fast_path import steps_plainly
from cassette_import.runtime.tagging.iterator_metadata import ORDERED_VIEWS, next_item, start_iterator
from cassette_import.runtime.tagging.leaf_call import LeafCall
from cassette_import.runtime.tagging.rule_table import RULES, rule
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain


@hidden
def _reads_where_it_stands(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether an iterator says where it stands: that of an `OrderedDict`, or one that calls a function, does not."""
    return len(arguments) == 1 and id(type(arguments[0])) not in ORDERED_VIEWS


@rule(builtins.iter, while_tagged=True, plain_if=_reads_where_it_stands)
@hidden
def begin(call: LeafCall) -> Any:
    if len(call.arguments) == 2 and not call.keywords and (call.is_watched or _has_rule(call.arguments[0])):
        return iter(_ComparedCallback(call, call.arguments[0]), plain(call.arguments[1]))
    if len(call.arguments) != 1 or call.keywords:
        return call.native()
    return start_iterator(call.store, call.arguments[0])


@hidden
def _has_rule(callback: Any) -> bool:
    return id(split(callback)[0]) in RULES


class _ComparedCallback:
    """A callback whose results the interpreter compares with a sentinel."""

    __slots__ = ("_call", "_function")

    def __init__(self, call: LeafCall, function: Any) -> None:
        self._call = call
        self._function = plain(function)

    @hidden
    def __call__(self) -> Any:
        result = self._call.forward(self._function)
        if plain(self._call.arguments[1]) is not None:
            self._call.compare(result)
        LOCAL.returned = result if type(result) is Tagged else None
        return plain(result)


@rule(list.__iter__, tuple.__iter__, deque.__iter__, set.__iter__, frozenset.__iter__)
@hidden
def begin_by_method(call: LeafCall) -> Any:
    if len(call.arguments) != 1 or call.keywords:
        return call.native()
    return start_iterator(call.store, call.arguments[0], call.function)


@hidden
def _steps_plainly(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    return bool(arguments) and steps_plainly(arguments[0])


@rule(next, plain_if=_steps_plainly, returns_method_result=True)
@hidden
def advance(call: LeafCall) -> Any:
    if not 1 <= len(call.arguments) <= 2 or call.keywords:
        return call.native()
    try:
        iterator = call.arguments[0]
        if type(iterator) is Tagged:
            iterator = start_iterator(call.store, iterator) if is_computed_from(iterator) else plain(iterator)
        return next_item(call.store, iterator)
    except StopIteration:
        if len(call.arguments) == 2:
            return call.arguments[1]
        raise


@rule(reversed, list.__reversed__, deque.__reversed__)
@hidden
def backward(call: LeafCall) -> Any:
    iterator = call.native()
    if is_computed_from(call.arguments[0]):
        call.store.iterators.make(iterator).extra = cursor_of_whole(call.arguments[0], -1)
    return iterator
