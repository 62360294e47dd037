"""Shortcuts for methods of builtin types that are targets: what calls them is found once for each type and method."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType, ModuleType, NoneType
from typing import Any

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import IMMUTABLE
from cassette_import.runtime.dispatch.callee_stability import BUILTINS, stands_in_its_module
from cassette_import.runtime.dispatch.event_runner import EventRunner
from cassette_import.runtime.dispatch.known_callees import KnownCallees


def make_intercept_directly(calls: EventRunner, known: KnownCallees) -> Callable[[Any], Any]:
    """`intercept(callee)` for call sites without keywords and splats.

    Python's own errors about these (`f(*1)`) cannot occur, so a plain function may replace the callee.
    """
    shortcuts, owned, intercept = calls.shortcuts, calls.shortcuts.owned, calls.intercept_positional
    names, leaf_events = calls.plan.builtin_names, calls.leaf_events
    methods: dict[tuple[type, str], tuple[Callable[..., Any], bool]] = {}
    """What calls a method, by type and name, and whether its first argument is the receiver, or else the callee."""

    @hidden
    def intercept_directly(callee: Any) -> Any:
        if id(callee) in owned:
            shortcut = shortcuts[id(callee)]
            if known.remember is not None:
                known.remember(callee, shortcut, None)
            return shortcut
        if id(type(callee)) not in BUILTINS or callee.__name__ not in names:
            return intercept(callee)
        receiver = callee.__self__
        kind = type(receiver)
        if type(kind) is not type or kind is type or kind is ModuleType or kind is NoneType:
            return intercept(callee)
        key = kind, callee.__name__
        if key in methods:
            event, takes_receiver = methods[key]
            if known.remember is not None:
                known.remember(callee, event, "receiver" if takes_receiver else "callee")
            return MethodType(event, receiver if takes_receiver else callee)
        found = intercept(callee)
        if found is not callee and (kind.__flags__ & IMMUTABLE or stands_in_its_module(kind)):
            shortcut = shortcuts[id(split(callee)[0])]
            if shortcut is not None:
                methods[key] = shortcut, True
            elif found.func in leaf_events:
                methods[key] = found.func, False
        return found

    return intercept_directly
