"""Tags and wrappers: `Tag`, one per activation, and `Tagged`, a value with the metadata that tags gave it.

A wrapper lives in variables and temporaries of overdubbed code and nowhere else. Code that meets one nevertheless, an
overload for example, sees a value that behaves like the plain one: what is done with it goes the way of an event.
Must not know where metadata lies while its value is in an object.
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
import threading
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

from cassette_import.interpreter.callables import CARRIERS, SPLITTERS, WRAPPERS, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.hook_functions import positional_only
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.presence import METADATA, WATCH, noted, noted_watch

_numbers = itertools.count(1)


class _Nothing:
    """A marker: there is no metadata here."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __bool__(self) -> bool:
        return False

    def __reduce__(self) -> str:
        return self._name


NO_METADATA: Final = _Nothing("NO_METADATA")
"""What `metadata` gives where there is none."""

NO_METAMETA: Final = _Nothing("NO_METAMETA")
"""What `metameta` gives where no part has any."""


def _computed_method(context_type: Any) -> Any:
    """The method `computed` of a context type, if it has one; called as a hook is."""
    method = getattr(context_type, "computed", None)
    if method is None:
        return None
    known = _computed_methods.get(method)
    if known is None:
        known = _computed_methods[method] = positional_only(method, 3)
    return known


_computed_methods: Final[weakref.WeakKeyDictionary[Any, Any]] = weakref.WeakKeyDictionary()


class Tag:
    """The tag of one activation of one context. `parent` is the tag of the enclosing activation."""

    __slots__ = (
        "__weakref__",
        "_context",
        "_token",
        "computed",
        "depth",
        "entered",
        "name",
        "number",
        "parent",
        "store",
        "watched",
    )

    def __init__(self, context: Any) -> None:
        self.number = next(_numbers)
        self.name = type(context).__qualname__
        self.parent: Tag | None = None
        self.entered = False
        self.depth = 0
        self.store: Any = None
        self.computed = _computed_method(type(context))
        self.watched = getattr(context, "watched", None)
        if self.watched is not None:
            self._token = WATCH
            noted_watch()
        self._context = weakref.ref(context)

    @property
    def context(self) -> Any:
        """The context, None when it is no more."""
        return self._context()

    def __repr__(self) -> str:
        return f"<Tag {self.number} of {self.name}{f' in {self.parent.number}' if self.parent is not None else ''}>"


Metas = dict[Tag, Any]
"""Metadata by tag. Never changed once it is made."""


class _OfNobody:
    """What stands where a context would."""


RECEIVER: Final = Tag(_OfNobody())
"""In the wrapper of a bound method: its receiver's metadata stands under this tag, which is no activation's."""


class Tagged:
    """A value and its metadata. `isinstance(x, float)` holds for a tagged float."""

    __slots__ = ("__weakref__", "_tagged_metas", "_tagged_token", "_tagged_value")

    def __init__(self, value: Any, metas: Metas) -> None:
        self._tagged_token = METADATA
        self._tagged_value = value
        self._tagged_metas = metas
        if not NAMES.get("@tagged"):
            noted()

    __class__: Any = property(lambda self: type(self._tagged_value))  # `isinstance` asks for it
    __array_priority__ = math.inf  # an array on the left leaves the operation to the wrapper

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tagged_value, name)

    def __repr__(self) -> str:
        return repr(self._tagged_value)

    def __str__(self) -> str:
        return str(self._tagged_value)

    def __format__(self, specification: str) -> str:
        return format(self._tagged_value, specification)

    def __hash__(self) -> int:
        return hash(self._tagged_value)

    def __bool__(self) -> bool:
        return bool(self._tagged_value)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._tagged_value.__reduce_ex__(protocol)

    @hidden
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._tagged_value(*arguments, **keywords)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        import copy

        return Tagged(copy.deepcopy(self._tagged_value, memo), self._tagged_metas)


def plain(value: Any) -> Any:
    """The value without any wrapper."""
    return value._tagged_value if type(value) is Tagged else value


def metas_of(value: Any) -> Metas | None:
    """What a wrapper carries; None for a plain value."""
    return value._tagged_metas if type(value) is Tagged else None


def wrapped(value: Any, metas: Metas | None) -> Any:
    """The value with metadata, if there is any."""
    return Tagged(value, metas) if metas else value


def join(metas: Metas | None, more: Metas | None) -> Metas | None:
    """Both; the latter wins."""
    return {**metas, **more} if metas and more else metas or more


def bound(method: Any, receiver: Any) -> Any:
    """A bound method whose receiver, when it is called, is wrapped."""
    return Tagged(method, {RECEIVER: receiver._tagged_metas})


def _split(method: Tagged) -> tuple[Any, ...]:
    """The function of a wrapped callable, and its receiver, wrapped if it was."""
    function, *leading = split(method._tagged_value)
    metas = method._tagged_metas.get(RECEIVER)
    if metas is not None and leading:
        leading[0] = Tagged(leading[0], metas)
    return (function, *leading)


SPLITTERS[id(Tagged)] = _split
CARRIERS.add(id(Tagged))
WRAPPERS[id(Tagged)] = plain


class _Local(threading.local):
    """What a thread is in the middle of.

    `returned` is the wrapper of the value that has just been returned or yielded: overdubbed functions return plain
    values, because their caller may be written in C, and a caller that is overdubbed takes the wrapper from here.
    `sent` is the wrapper of the value that is being sent into a generator, until a `yield` receives it.
    `observed` is true while an iterator is advanced by us, and false while a leaf runs. `held` says which objects the
    shadow store has begun to hold, and where, the last one last.
    """

    returned: Any = None
    sent: Any = None
    observed = False

    def __init__(self) -> None:
        self.held: list[tuple[Any, int]] = []


LOCAL: Final = _Local()


# ---- operators: what is done with a wrapper outside of overdubbed code goes the way of an event


@hidden
def run(function: Callable[..., Any], *arguments: Any) -> Any:
    """A call outside of overdubbed code that the active contexts are to see, if an argument is wrapped."""
    if Tagged not in map(type, arguments):
        return function(*arguments)
    variant = ACTIVE.get().variant
    if variant is None or not variant.tagging:
        return function(*map(plain, arguments))
    return variant.runners[int(Events.OPERATORS)].event(function, *arguments)


def _operator(function: Callable[..., Any], swap: bool = False) -> Callable[..., Any]:
    if swap:
        return hidden(lambda self, other: run(function, other, self))
    return hidden(lambda self, *others: run(function, self, *others))


def _direct(function: Callable[..., Any]) -> Callable[..., Any]:
    return hidden(lambda self, *arguments: function(plain(self), *map(plain, arguments)))


for _name in (
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and_",
    "or_",
    "xor",
):
    _function = getattr(operator, _name)
    _short = _name.rstrip("_")
    setattr(Tagged, f"__{_short}__", _operator(_function))
    setattr(Tagged, f"__r{_short}__", _operator(_function, swap=True))
for _name in ("lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "invert", "getitem", "setitem", "delitem", "contains"):
    setattr(Tagged, f"__{_name}__", _operator(getattr(operator, _name)))
_DIRECT: dict[str, Callable[..., Any]] = {
    "abs": abs, "round": round, "divmod": divmod, "len": len, "iter": iter, "next": next, "reversed": reversed,
    "int": int, "float": float, "complex": complex, "index": operator.index, "bytes": bytes, "dir": dir,
    "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil, "length_hint": operator.length_hint,
    "instancecheck": lambda kind, value: builtins.isinstance(value, kind),
    "subclasscheck": lambda kind, value: builtins.issubclass(value, kind),
}  # fmt: skip
for _name, _function in _DIRECT.items():
    setattr(Tagged, f"__{_name}__", _direct(_function))
for _function in list(vars(Tagged).values()):
    if isinstance(_function, FunctionType):
        hidden(_function)
