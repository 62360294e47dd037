"""Options of ready-made contexts: events as text, and one list of options for `__new__` and `__init__`."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from typing import Any, Final, TypeVar

from cassette_import.activation.context import Context
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.rewriting.events import Events

__all__ = ["check_number", "derived_type", "further_options_of", "options_of", "type_with_events"]

# ---- options of ready-made contexts: events as text, and one list of options for `__new__` and `__init__`

_New = TypeVar("_New", bound=Callable[..., object])


def check_number(name: str, value: object, of: str = "", least: int = 0) -> None:
    """Raise an error in one line if the value of an option is no integer, or too small.

    Parameters
    ----------
    name, value:
        The option.
    of:
        What it is a number of, such as ``"call sites"``.
    least:
        The smallest number that makes sense.

    Raises
    ------
    ValueError
        If it is no such number. A truth value is none.

    >>> check_number("limit", "many", "lines")
    Traceback (most recent call last):
        ...
    ValueError: limit is a number of lines, not 'many'
    """
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if is_number and value >= least:  # type: ignore[operator]  # it is a number
        return
    if is_number and least == 0:
        raise ValueError(f"{name} must not be less than 0, and is {value}")
    what = f"{name} is a number" + (f" of {of}" if of else "") + (f" from {least} on" if least else "")
    raise ValueError(f"{what}, not {value!r}")


def options_of(initialise: Callable[..., None]) -> Callable[[_New], _New]:
    """Decorate a `__new__` that takes some options of `__init__`, and ignores the others as keyword arguments.

    `inspect.signature` of the class then shows the options of `__init__`.

    >>> import inspect
    >>> class Point:
    ...     def __init__(self, *, x=0):
    ...         self.x = x
    ...     @options_of(__init__)
    ...     def __new__(cls, **options):
    ...         return super().__new__(cls)
    >>> inspect.signature(Point)
    <Signature (*, x=0)>
    """

    def decorate(new: _New) -> _New:
        described: Any = new
        described.__wrapped__ = initialise
        return new

    return decorate


def further_options_of(initialise: Callable[..., None]) -> Callable[[_New], _New]:
    """Decorate a `from_options` that passes its `**options` on to `__init__`, below `classmethod`.

    `inspect.signature` then shows its own options and the keyword-only ones of `__init__`, so that a wrong option is
    noticed before the context is made.
    """

    def decorate(from_options: _New) -> _New:
        import inspect  # not needed by contexts without a `from_options`

        own = inspect.signature(from_options)
        kinds = inspect.Parameter
        parameters = [each for each in own.parameters.values() if each.kind is not kinds.VAR_KEYWORD]
        parameters += [
            each.replace(annotation=kinds.empty)  # `__init__` checks the values itself
            for each in inspect.signature(initialise).parameters.values()
            if each.kind is kinds.KEYWORD_ONLY
        ]
        described: Any = from_options
        described.__signature__ = own.replace(parameters=parameters)
        return from_options

    return decorate


def _parsed_events(text: str) -> Events:
    """The events that a text names, separated by ``+`` or ``|``.

    >>> _parsed_events("calls+operators") == Events.CALLS | Events.OPERATORS
    True
    """
    chosen = Events.NONE
    for name in re.split(r"[+|]", text):
        try:
            chosen |= Events[name.strip().upper()]
        except KeyError:
            known = ", ".join(member.lower() for member in Events.__members__)
            meant = suggestion(name.strip(), map(str.lower, Events.__members__))
            raise ValueError(f"no kind of events is called {name.strip()!r}; there are {known}{meant}") from None
    return chosen


# ---- context types derived at run time: what a context intercepts belongs to its type, so each choice needs a type

_Context = TypeVar("_Context", bound=Context)
_BY_EVENTS: Final[dict[tuple[type, Events], Any]] = {}


def derived_type(context_type: type[_Context], **declaration: object) -> Any:
    """A subclass that goes by the name, module and documentation of the context type.

    Parameters
    ----------
    context_type:
        The base class.
    declaration:
        The keywords of the class statement, such as `events`.
    """

    def declare(namespace: dict[str, object]) -> None:
        namespace["__module__"] = context_type.__module__
        namespace["__qualname__"] = context_type.__qualname__
        namespace["__doc__"] = context_type.__doc__

    return types.new_class(context_type.__name__, (context_type,), declaration, declare)


def type_with_events(context_type: type[_Context], events: Events | str | None) -> type[_Context]:
    """The context type that intercepts these events; the given one if `events` is None.

    Equal choices share one type, and so the compiled bodies of functions.
    """
    if events is None:
        return context_type
    key = context_type, _parsed_events(events) if isinstance(events, str) else events
    if key not in _BY_EVENTS:
        _BY_EVENTS[key] = derived_type(context_type, events=key[1])
    derived: type[_Context] = _BY_EVENTS[key]
    return derived
