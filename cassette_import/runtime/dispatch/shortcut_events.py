"""Shortcuts for events at which little can happen: targets with overloads of one context, and higher-order leaves."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Container
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import joined, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.handler_table import Table
from cassette_import.runtime.dispatch.made_takers import MAKERS
from cassette_import.runtime.state import ACTIVE, hook_activation

NEVER, SAME_TYPES, SAME_COUNT = range(3)
"""For which further calls of a target an overload is the same: for none, for those with arguments of the same types, or
for those with as many arguments."""
_NO_KEYWORDS: Final[dict[str, Any]] = {}


class ShortcutTable(dict[int, Any]):
    """Shortcuts by the identity of a target: `table[key]` makes one when a call site asks for it first.

    A context may have hundreds of targets, of which a program calls a few, and get more with each import.

    Attributes
    ----------
    owned:
        The targets that have a shortcut. For others, `table[key]` is the default.
    """

    def __init__(self, owned: Container[int], make: Callable[[int], Callable[..., Any]], default: Any = None) -> None:
        super().__init__()
        self.owned = owned
        self._make = make
        self._default = default

    @hidden
    def __missing__(self, key: int) -> Any:
        found = self[key] = self._make(key) if key in self.owned else self._default
        return found


def make_single_overload_event(
    event: Callable[..., Any], variant: Any, target: Any, level: int, handler: Any, of_target_itself: bool
) -> Callable[..., Any]:
    """The event of a target that has one overload, which takes arguments of any type, and no hooks.

    It is `shortcut(callee, …)`, or for calls of the target itself with positional arguments only, `shortcut(…)`. Calls
    that do not fit the overload run the whole `event`.
    """
    fewest = handler.required
    most = sys.maxsize if handler.has_rest else len(handler.types)
    get, put = ACTIVE.get, ACTIVE.set
    suspend, resume = DISPATCH.suspending

    @hidden
    def overload(*arguments: Any) -> Any:
        """The first call: later ones call the overload itself."""
        nonlocal overload
        handler.is_applied, overload = True, handler.call
        return handler.call(*arguments)

    @hidden
    def shortcut_of_target(*arguments: Any) -> Any:
        activation = get()
        if activation.variant is not variant or not fewest <= len(arguments) <= most:
            return event(target, *arguments)
        if suspend is not None:
            token = suspend(activation, level)
        else:
            known = activation.hook_activations
            token = put(known[level] if known and level in known else hook_activation(activation, level))
        try:
            return overload(activation.contexts[level], target, *arguments)
        finally:
            resume(token)

    def choose(context: Any, arguments: tuple[Any, ...]) -> tuple[Any, int]:
        if not fewest <= len(arguments) <= most:
            return None, NEVER
        handler.is_applied = True
        return handler.call, SAME_COUNT

    run = _in_c(event, variant, target, level, choose) or shortcut_of_target

    @hidden
    def shortcut(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        if keywords:
            return event(callee, *arguments, **keywords)
        if callee is target:
            return run(*arguments)
        function, *leading = split(callee)
        full = joined(leading, arguments)
        if function is not target or type(callee) is functools.partial or not fewest <= len(full) <= most:
            return event(callee, *arguments)
        return run(*full)

    return run if of_target_itself else shortcut


def make_typed_overload_event(
    event: Callable[..., Any], variant: Any, target: Any, level: int, table: Table
) -> Callable[..., Any]:
    """The event of a target that has overloads of one context, and no hooks.

    It is `shortcut(…)`, for calls of the target itself with positional arguments only. Calls that fit no overload run
    the whole `event`.
    """
    get, put, find = ACTIVE.get, ACTIVE.set, table.find
    suspend, resume = DISPATCH.suspending

    @hidden
    def shortcut_of_target(*arguments: Any) -> Any:
        activation = get()
        if activation.variant is not variant:
            return event(target, *arguments)
        context = activation.contexts[level]
        overload = find(context, target, arguments, _NO_KEYWORDS, None, False)
        if overload is None:
            return event(target, *arguments)
        token = suspend(activation, level) if suspend else put(hook_activation(activation, level))
        try:
            return overload(context, target, *arguments)
        finally:
            resume(token)

    def choose(context: Any, arguments: tuple[Any, ...]) -> tuple[Any, int]:
        overload = find(context, target, arguments, _NO_KEYWORDS, None, False)
        return overload, SAME_TYPES if table.depends_on_types(target, arguments) else NEVER

    return _in_c(event, variant, target, level, choose) or shortcut_of_target


def _in_c(
    event: Callable[..., Any],
    variant: Any,
    target: Any,
    level: int,
    choose: Callable[[Any, tuple[Any, ...]], tuple[Any, int]],
) -> Callable[..., Any] | None:
    """The event in C, which chooses the overload; None if it has to be in Python.

    A call from C to Python takes room on the stack of C. Python functions may recurse deeper than that.
    """
    if not DISPATCH.is_used or type(target) is FunctionType:
        return None
    return DISPATCH.OverloadEvent(event, variant, target, level, choose)


def make_leaf_event(event: Callable[..., Any], targets: Container[int]) -> Callable[..., Any]:
    """The event of a higher-order leaf that is no target itself: an event only if an argument is a target."""

    @hidden
    def leaf_event(callee: Any, /, *arguments: Any, **keywords: Any) -> Any:
        for argument in (*arguments, *keywords.values()) if keywords else arguments:
            if callable(argument):
                is_function = type(argument) is FunctionType
                if (id(argument) if is_function else id(split(argument)[0])) in targets:
                    return event(callee, *arguments, **keywords)
        if type(callee) is functools.partial or id(callee) in MAKERS:
            return event(callee, *arguments, **keywords)
        return callee(*arguments, **keywords)

    return leaf_event
