"""What a table of handlers becomes at events: hooks that are ready to be called, and the choice of an overload.

Knows tables of handlers, and what hooks look at; must not know variants, activations or source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from cassette_import.interpreter.callables import PROPERTIES
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.primitives import EVENT_OF, NAME_OF
from cassette_import.runtime.dispatch.handler_table import Table
from cassette_import.runtime.dispatch.hook_analysis import only_keeps, reads_no_arguments, without_rest
from cassette_import.runtime.dispatch.hook_functions import HOOK_FUNCTIONS, LEADING, positional_only
from cassette_import.runtime.dispatch.suspension import of_arity, suspended


def single_overloads(tables: list[dict[str, Table]], everything: bool) -> dict[int, tuple[int, Any]]:
    """The targets at which nothing happens but one overload of one context: level and handler, by identity."""
    found: dict[int, tuple[int, Any]] = {}
    if everything or any(table.untargeted or table.method for own in tables for table in own.values()):
        return found
    hooked = {key for own in tables for kind, table in own.items() if kind != "overdub" for key in table.targets}
    for number, own in enumerate(tables):
        for key, target in own["overdub"].targets.items():
            handler = own["overdub"].only_handler(target)
            elsewhere = sum(key in other["overdub"].targets for other in tables)
            if handler is not None and key not in hooked and elsewhere == 1:
                found[key] = number, handler
    return found


def nothing(*arguments: Any, **keywords: Any) -> None:
    """The hook of a context that has none for this kind of event."""


def target_events(tables: Iterable[Table], primitives: set[str]) -> Events:
    """The kinds of events that the targets of a context's handlers occur in; operators' names are added to
    `operators`."""
    kinds = Events.NONE
    for table in tables:
        for identity in table.targets:
            kinds |= Events.CALLS
            if identity in PROPERTIES:  # reading the attribute is calling it
                primitives.add("getattr")
                kinds |= Events.ATTRIBUTES
            name = NAME_OF.get(identity)
            if name is not None:
                primitives.add(name)
                kinds |= EVENT_OF[name]
    return kinds


def hook_for(table: Table, number: int, asked: bool, context_type: type, leading: int) -> Callable[..., Any] | None:
    """What to call for an event: the method, which sees every event asked for, and the registered handler that fits
    best."""
    method = positional_only(table.method, leading) if asked and table.method is not None else None
    handlers = bool(table.targets) or (asked and bool(table.untargeted))
    if method is not None and not handlers:
        assert table.method is not None
        return _method_hook(table.method, number, context_type, leading)
    if not handlers:
        return None
    find, targets = table.find, table.targets
    if leading == 2:

        def choose(context: Any, function: Any, /, *arguments: Any, **keywords: Any) -> None:
            if method is not None:
                method(context, function, *arguments, **keywords)
            if asked or id(function) in targets:
                handler = find(context, function, arguments, keywords)
                if handler is not None:
                    handler(context, function, *arguments, **keywords)

        return suspended(choose, number)

    def choose_after(context: Any, outcome: Any, function: Any, /, *arguments: Any, **keywords: Any) -> None:
        if asked or id(function) in targets:
            handler = find(context, function, arguments, keywords, outcome)
            if handler is not None:
                handler(context, outcome, function, *arguments, **keywords)
        if method is not None:
            method(context, outcome, function, *arguments, **keywords)

    return suspended(choose_after, number)


def is_blind_to_arguments(table: Table, kind: str) -> bool:
    """Whether all there is for a kind of hook is a method that never looks at the arguments of calls."""
    if table.method is None:
        return not table.handlers
    return not table.handlers and reads_no_arguments(table.method, LEADING[kind])


def hook_alone(table: Table, kind: str, number: int, context_type: type) -> Callable[..., Any]:
    """Such a hook for call sites that do not give it any."""
    if table.method is None:
        return nothing
    made = positional_only(table.method, LEADING[kind])
    assert isinstance(made, FunctionType)
    made = without_rest(made)
    HOOK_FUNCTIONS.add(made)
    return made if _reaches_nothing(table.method, context_type) else of_arity(suspended(made, number), LEADING[kind])


def _method_hook(method: Callable[..., Any], number: int, context_type: type, leading: int) -> Callable[..., Any]:
    """A hook method, suspended unless it provably cannot reach overdubbed code."""
    made = positional_only(method, leading)
    return made if _reaches_nothing(method, context_type) else suspended(made, number)


def _reaches_nothing(method: Callable[..., Any], context_type: type) -> bool:
    """Whether a hook reaches no overdubbed code: its type says so, or it can be seen."""
    return context_type.leaf_hooks or only_keeps(method, context_type)  # type: ignore[attr-defined]


def finder(table: Table, asked: bool) -> Callable[..., Callable[..., Any] | None] | None:
    """`find(context, function, arguments, keywords)` → the overload for a call, or None."""
    method = positional_only(table.method, 2) if asked and table.method is not None else None
    if method is None and not table.handlers:
        return None
    if not table.handlers:
        return lambda context, function, arguments, keywords: method
    find, targets = table.find, table.targets

    def choose(context: Any, function: Any, arguments: Any, keywords: Any) -> Callable[..., Any] | None:
        found = find(context, function, arguments, keywords) if asked or id(function) in targets else None
        return found or method

    return choose
