"""Higher-order leaves: functions that are not overdubbed, and call the functions that they get as arguments.

Such a call has no call site in the program. It is an event because the leaf gets a callable that runs the event, in
place of the target. The list is data; add to it with ``HIGHER_ORDER.add(function)``. Some leaves keep the functions,
and call them later: `CALLBACK_TAKERS`.
"""

from __future__ import annotations

import bisect
import builtins
import contextvars
import functools
import heapq
import itertools
import operator
import re
import weakref
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.callee_proxy import Callee, shown_callee
from cassette_import.runtime.state import ACTIVE

__all__ = [
    "CALLBACK_TAKERS",
    "FIRST_CALLBACKS",
    "HIGHER_ORDER",
    "MAKERS",
    "REGISTERS",
    "Leaves",
    "follow",
    "is_dispatcher",
    "making",
    "takers_by_module",
]

# ---- functions that `functools` makes, and that take callbacks to keep them
#
# They are what `lru_cache(maxsize=8)` returns, and the attribute `register` of a function of `singledispatch`. No table
# has them. So they are followed where they are made or found: they get code that hands on what runs the event of a
# target, in place of the target. They stay the same function objects.

_CALLS: Final = int(Events.CALLS)
MAKERS: Final = frozenset(map(id, (functools.lru_cache, functools.cache, functools.singledispatch)))
"""The functions that make them, or wrap a callback, by identity."""
_NAMESPACE: Final = vars(functools)
_DISPATCHER: Final = "singledispatch.<locals>.wrapper"
_REGISTER: Final = "singledispatch.<locals>.register"
_TAKERS: Final = ("lru_cache.<locals>.decorating_function", _REGISTER)
"""The functions that take callbacks, by the qualified names of their code: that changes if it is overdubbed."""


_originals: Final[weakref.WeakSet[FunctionType]] = weakref.WeakSet()
"""What functions were before they got other code."""


def making(maker: Callable[..., Any]) -> Callable[..., Any]:
    """One of the `MAKERS`, in whose place this makes something that is followed."""
    return functools.partial(_make, maker)


@hidden
def _make(maker: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    made = maker(*arguments, **keywords)
    follow(made)
    return _unveiled(made)


@hidden
def follow(made: Any) -> None:
    """Follow what a function takes, if it is one of these or has one."""
    if is_dispatcher(made):
        made = made.__dict__.get("register")
    if not _is_of_functools(made) or made.__code__.co_qualname not in _TAKERS:
        return
    if made.__code__.co_filename != _TEMPLATE.co_filename and made not in _originals:
        _divert(made)


@hidden
def is_dispatcher(function: Any) -> bool:
    """Whether a function is one of `functools.singledispatch`."""
    return _is_of_functools(function) and function.__code__.co_qualname == _DISPATCHER


@hidden
def _is_of_functools(function: Any) -> bool:
    return type(function) is FunctionType and function.__globals__ is _NAMESPACE


def _diverted(*arguments: Any, **keywords: Any) -> Any:
    # For the type checker: the handler takes the place of the text.
    return ("handler" if True else None)(*arguments, **keywords)  # type: ignore[operator,redundant-expr]


_TEMPLATE: Final = hide(_diverted.__code__)


@hidden
def _divert(taker: Any) -> None:
    """Have a function hand on what runs events of targets."""
    original = FunctionType(taker.__code__, taker.__globals__, taker.__name__, taker.__defaults__, taker.__closure__)
    original.__qualname__, original.__doc__ = taker.__qualname__, taker.__doc__
    _originals.add(original)
    handler = functools.partial(_take, original)
    taker.__wrapped__ = original  # for its signature and its source
    taker.__code__ = _TEMPLATE.replace(
        co_consts=tuple([handler if const == "handler" else const for const in _TEMPLATE.co_consts]),
        co_name=original.__code__.co_name,
        co_qualname=original.__code__.co_qualname,
        co_freevars=original.__code__.co_freevars,
    )


@hidden
def _take(original: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    first = 0
    if original.__code__.co_qualname == _REGISTER and arguments and is_a(arguments[0], type):
        first = 1  # the class for which a function is registered
    taken = {name: value if name == "cls" else _as_event(value) for name, value in keywords.items()}
    return _unveiled(shown_callee(original(*arguments[:first], *map(_as_event, arguments[first:]), **taken)))


@hidden
def _unveiled(made: Any) -> Any:
    """A wrapper that was made, which shows the function that it wraps, and not what runs its event."""
    namespace = getattr(made, "__dict__", None)
    wrapped = namespace.get("__wrapped__") if namespace else None
    if namespace and type(wrapped) is Callee:
        function = shown_callee(wrapped)
        namespace.update({**getattr(function, "__dict__", {}), **namespace, "__wrapped__": function})
    return made


@hidden
def _as_event(value: Any) -> Any:
    """What runs the event of a target of the active contexts; any other value itself."""
    variant = ACTIVE.get().variant
    if variant is None or variant.tagging or not callable(value):
        return value
    runner = variant.runners[_CALLS]
    return Callee(runner.event, value) if id(split(value)[0]) in runner.plan.targets else value


# ---- higher-order leaves: functions that are not overdubbed, and call the functions that they get as arguments


class Leaves:
    """A set of functions, by identity.

    >>> import statistics
    >>> statistics.mean in HIGHER_ORDER
    False
    """

    def __init__(
        self, functions: Iterable[Callable[..., Any]], by_keyword_only: Iterable[Callable[..., Any]] = ()
    ) -> None:
        self.positional = {id(function): function for function in functions}
        self.by_id = {**self.positional, **{id(function): function for function in by_keyword_only}}
        self.first: dict[int, int] = {}
        """For some of them, the index of the first argument that they call: others may be functions, too."""
        self.registers: set[int] = set()
        """Those whose first argument is a class that they do not call, or else a function (`REGISTERS`)."""
        self.keepers: set[int] = set()
        """Those that keep what they call."""
        self.listeners: list[Callable[[], None]] = []

    def add_takers(self, takers: Iterable[tuple[str, Callable[..., Any]]]) -> None:
        """Add functions of `CALLBACK_TAKERS`, with their names there."""
        new = {id(function): (name, function) for name, function in takers if id(function) not in self.by_id}
        if new:
            for key, (name, function) in new.items():
                self.by_id[key] = self.positional[key] = function
                self.first[key] = FIRST_CALLBACKS.get(name, 0)
                if name in REGISTERS:
                    self.registers.add(key)
            self.keepers |= new.keys()
            for listener in self.listeners:
                listener()

    def add_subclasses(self) -> None:
        """Add subclasses of classes that keep functions, as far as they have the constructors of these."""
        owners: list[Any] = [self.by_id[key] for key in self.keepers if type(self.by_id[key]) is type]
        found: list[Any] = []
        while owners:
            subclasses: list[Any] = type.__subclasses__(owners.pop())
            inheriting = [
                subclass
                for subclass in subclasses
                if type(subclass) is type and not {"__init__", "__new__"} & vars(subclass).keys()
            ]
            owners += inheriting
            found += inheriting
        self.add_takers(("", subclass) for subclass in found)

    def add(self, function: Callable[..., Any]) -> None:
        """Declare that `function` calls functions that it gets as arguments.

        Parameters
        ----------
        function:
            A function that is not overdubbed, of an extension module for example.

        Raises
        ------
        TypeError
            If it cannot be called.

        >>> leaves = Leaves([map, filter])
        >>> leaves.add(sorted)
        >>> sorted in leaves
        True
        """
        if not callable(function):
            raise TypeError(f"a leaf must be callable, not {function!r}")
        self.by_id[id(function)] = self.positional[id(function)] = function
        for listener in self.listeners:
            listener()

    def __contains__(self, function: object) -> bool:
        return id(function) in self.by_id

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(list(self.by_id.values()))

    def __len__(self) -> int:
        return len(self.by_id)


HIGHER_ORDER: Final = Leaves(
    [
        map,
        filter,
        builtins.iter,
        functools.reduce,
        itertools.accumulate,
        itertools.dropwhile,
        itertools.filterfalse,
        itertools.groupby,
        itertools.starmap,
        itertools.takewhile,
        operator.call,
        re.sub,
        re.subn,
        re.Pattern.sub,
        re.Pattern.subn,
        contextvars.Context.run,
        heapq.nlargest,
        heapq.nsmallest,
    ],
    by_keyword_only=[
        sorted,
        min,
        max,
        list.sort,
        bisect.bisect,
        bisect.bisect_left,
        bisect.bisect_right,
        bisect.insort,
        bisect.insort_left,
        bisect.insort_right,
        heapq.merge,
    ],
)
"""The leaves whose callbacks are events, if overloads or hooks are registered for them."""


def _in(module: str, names: str) -> list[str]:
    return [f"{module}.{name}" for name in names.split()]


CALLBACK_TAKERS: Final[list[str]] = [
    *_in("builtins", "property"),
    *_in("collections", "defaultdict"),
    *_in("functools", "cache cached_property cmp_to_key lru_cache partialmethod singledispatch"),
    *_in("functools", "_lru_cache_wrapper singledispatchmethod singledispatchmethod.register"),
    *_in("threading", "Barrier"),
    *_in("weakref", "ref proxy finalize"),
    *_in("atexit", "register"),
    *_in("signal", "signal"),
    *_in("sched", "scheduler scheduler.enter scheduler.enterabs"),
    *_in("contextlib", "_BaseExitStack.callback _BaseExitStack.push"),
    *_in("contextlib", "AsyncExitStack.push_async_callback AsyncExitStack.push_async_exit"),
    *_in("dataclasses", "field"),
    *_in("json", "load loads dump dumps JSONDecoder JSONEncoder"),
    *_in("argparse", "_ActionsContainer.add_argument"),
    *_in("logging", "setLogRecordFactory Filterer.addFilter"),
    *_in("copyreg", "pickle"),
    *_in("sqlite3", "Connection.create_function Connection.create_aggregate Connection.create_collation"),
    *_in("sqlite3", "Connection.create_window_function Connection.set_authorizer Connection.set_progress_handler"),
    *_in("sqlite3", "Connection.set_trace_callback register_adapter register_converter"),
    *_in("concurrent.futures._base", "Future.add_done_callback"),
    *_in("attr", "ib field attrib Factory"),
    *_in("attr._make", "attrib Factory"),
    *_in("attr._next_gen", "field"),
    *_in("pydantic.fields", "Field PrivateAttr"),
    *_in("sqlalchemy", "Column"),
    *_in("sqlalchemy.orm", "mapped_column"),
]
"""Functions that keep the functions which they get as arguments, and call them later, outside of overdubbed code. Calls
of targets that they get are events all the same. Append to it before a context is entered."""

FIRST_CALLBACKS: Final = dict.fromkeys(
    ["weakref.ref", "weakref.proxy", "weakref.finalize", "copyreg.pickle", "sqlite3.register_adapter"], 1
)
"""The index of the first argument that is called, if arguments before it may be functions that are not called."""

REGISTERS: Final = frozenset({"functools.singledispatchmethod.register"})
"""Functions that get the class for which they register a function, or the function alone."""


def takers_by_module() -> dict[str, list[str]]:
    """The names in `CALLBACK_TAKERS` by the innermost module that may contain the function.

    >>> takers_by_module()["sched"]
    ['scheduler', 'scheduler.enter', 'scheduler.enterabs']
    """
    found: dict[str, list[str]] = {}
    for name in CALLBACK_TAKERS:
        module, _, path = name.rpartition(".")
        owner, _, last = module.rpartition(".")
        if last.lstrip("_")[:1].isupper() or last in _CLASSES:
            module, path = owner, f"{last}.{path}"
        found.setdefault(module, []).append(path)
    return found


_CLASSES: Final = frozenset({"scheduler", "singledispatchmethod"})
"""The classes among the owners whose names begin with a small letter."""
