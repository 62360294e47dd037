"""Context types that overload some functions only: what `substitute`, `faults` and `memoize` have in common.

What a context intercepts is a matter of its type, because each type has its code; so each set of targets is a
type, with one overload registered for exactly these functions. All other calls stay as they are written, and cost
what they cost without the context.

Knows how overloads are registered; must not know what they do.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any, ClassVar, Final, TypeVar

from cassette_import import Context, Events, current, recurse
from cassette_import.contexts.common.targets import Aim, by_function
from cassette_import.interpreter.hidden_frames import hidden

__all__ = ["Aimed"]

_Context = TypeVar("_Context", bound="Aimed")
_TYPES: Final[dict[tuple[type, frozenset[int]], Any]] = {}


class Aimed(Context, events=Events.CALLS):
    """A context whose `meet` is called in the place of some functions.

    Subclasses find out their targets in `__new__`, hand them to `at`, and define `meet`, hidden as this file's
    `go_on` is. A subclass of the context type is made for each set of targets.
    """

    inherit: ClassVar[bool] = True
    _aims: tuple[Aim, ...]
    _aims_of: Mapping[int, tuple[Aim, ...]]
    _lock: Lock

    @classmethod
    def at(cls: type[_Context], aims: Iterable[Aim]) -> _Context:
        """An instance, not initialised yet, of the type that overloads these functions."""
        aims = tuple(aims)
        there = [aim for aim in aims if not aim.awaited]
        is_waiting = len(there) < len(aims)
        made: _Context = object.__new__(_waiting_type(cls) if is_waiting else _type_for(cls, there))
        made._aims = aims
        made._aims_of = by_function(there)
        made._lock = Lock()
        return made

    def __copy__(self: _Context) -> _Context:
        made: _Context = object.__new__(type(self))
        vars(made).update(vars(self))
        return made

    def meet(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """A function is called that a target is about; what this returns is the value of the call."""
        raise NotImplementedError

    def aim(self, function: Any, arguments: tuple[Any, ...]) -> Aim | None:
        """The target that this call is one of; None if it is none, or is meant for another receiver."""
        for aim in self._aims_of.get(id(function), ()):
            if not aim.is_bound or aim.hits(arguments):
                return aim
        return None

    @hidden
    def go_on(self, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Make the call as it would be made without this context, which is active in it all the same."""
        if current() is None:
            # Nobody further out has to be asked, and what is no Python of ours stays what it is.
            with self:
                return function(*arguments, **keywords)
        return recurse(self, function, *arguments, **keywords)


def _type_for(context_type: type[Any], aims: Iterable[Aim]) -> type[Any]:
    # The type keeps the functions alive, so that their identities stay theirs.
    key = context_type, frozenset(id(aim.function) for aim in aims)
    if key not in _TYPES:
        _TYPES[key] = made = _like(context_type)
        _overload(made, aims)
    known: type[Any] = _TYPES[key]
    return known


def _like(context_type: type[Any]) -> Any:
    def declare(namespace: dict[str, object]) -> None:
        namespace["__module__"] = context_type.__module__
        namespace["__qualname__"] = context_type.__qualname__
        namespace["__doc__"] = context_type.__doc__

    return types.new_class(context_type.__name__, (context_type,), exec_body=declare)


def _overload(context_type: Any, aims: Iterable[Aim]) -> None:
    functions = [aim.function for aim in aims]
    if functions:
        # Twice the last one: a single Python function would be taken for a hook itself at first.
        context_type.overdub.register(*functions, functions[-1])(context_type.meet)


def _waiting_type(context_type: type[Any]) -> type[Any]:
    """A type for one instance, some of whose targets are in the program's own file: they do not exist before it has
    begun. Until all of them are there it looks at each call, and then at those of the targets only."""
    made: Any = _like(context_type)

    @hidden
    def look(context: Any, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        _look_for_awaited(context, made, look)
        if context.aim(function, arguments) is None:
            return context.go_on(function, arguments, keywords)
        return context.meet(function, *arguments, **keywords)

    made.overdub.register()(look)
    waiting: type[Any] = made
    return waiting


def _look_for_awaited(context: Any, context_type: Any, look: Any) -> None:
    with context._lock:
        arrived = [aim.arrives() for aim in context._aims if aim.awaited]
        if not any(arrived):
            return
        there = [aim for aim in context._aims if not aim.awaited]
        context._aims_of = by_function(there)
        if all(arrived):
            _overload(context_type, there)
            context_type.overdub.remove(look)
