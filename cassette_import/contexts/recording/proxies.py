"""Stand-ins: what the program holds in the place of an object that lies outside, such as a socket or a response.

While a run is recorded, a stand-in hands each use on to the object; when it is replayed there is no object, and the
answers come from the recording. The program sees the same thing both times. Knows Python's protocols; must not know
recordings.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    WrapperDescriptorType,
)
from typing import Any, Final, Protocol

from cassette_import.contexts.recording.encoding import BadValue, located
from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden

__all__ = [
    "Answering",
    "StandIn",
    "class_of",
    "described",
    "is_awaitable",
    "is_stand_in",
    "number_of",
    "real_of",
    "stand_in_type",
]

_get: Final = object.__getattribute__


class Answering(Protocol):
    """Whoever answers for stand-ins."""

    def use(self, stand_in: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """`kind` is call, get, set or delete; `name` that of the method or attribute."""


_METHODS: Final = (
    FunctionType,
    BuiltinFunctionType,
    MethodDescriptorType,
    WrapperDescriptorType,
    ClassMethodDescriptorType,
    classmethod,
    staticmethod,
    functools.partialmethod,
)

_SPECIAL: Final = (
    "call len length_hint iter next reversed contains getitem setitem delitem enter exit aenter aexit aiter anext "
    "await bool str repr bytes format hash eq ne lt le gt ge int float complex index fspath copy deepcopy round "
    "add radd iadd sub rsub isub mul rmul imul matmul truediv rtruediv itruediv floordiv rfloordiv mod rmod imod "
    "pow rpow and rand iand or ror ior xor rxor ixor lshift rshift neg pos abs invert buffer"
)
SPECIAL: Final = frozenset(f"__{name}__" for name in _SPECIAL.split(" "))
"""The methods that Python itself calls, and looks for in the class."""


@hidden
def _getattribute(self: Any, name: str) -> Any:
    if name == "__class__":
        return _get(self, "_cassette_kind")
    if name in type(self).__dict__ or (name[:2] == "__" and name[-2:] == "__"):
        return _get(self, name)
    return _get(self, "_cassette_answering").use(self, "get", name, (), {})


class StandIn:
    """The base of the classes of all stand-ins. What it keeps for itself has names that no class has."""

    __slots__ = (
        "__weakref__", "_cassette_answering", "_cassette_driven",
        "_cassette_kind", "_cassette_number", "_cassette_real",
    )  # fmt: skip

    def __setattr__(self, name: str, value: Any) -> None:
        _get(self, "_cassette_answering").use(self, "set", name, (value,), {})

    def __delattr__(self, name: str) -> None:
        _get(self, "_cassette_answering").use(self, "delete", name, (), {})

    def __dir__(self) -> Iterable[str]:
        return sorted({*dir(_get(self, "_cassette_kind")), *type(self).__dict__})

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle {type(self).__qualname__!r} object: in a recorded run it stands outside")


for _function in (StandIn.__setattr__, StandIn.__delattr__):
    hidden(_function)


def is_stand_in(value: Any) -> bool:
    """Whether it is one of ours, whatever it says."""
    return issubclass(type(value), StandIn)


def number_of(stand_in: Any) -> int:
    """The number of a stand-in in its recording."""
    number: int = _get(stand_in, "_cassette_number")
    return number


def real_of(stand_in: Any) -> Any:
    """The object that it stands for."""
    return _get(stand_in, "_cassette_real")


def described(kind: type) -> dict[str, Any]:
    """What has to be known of a class to make stand-ins: its name, its methods, and which special methods it has."""
    methods: dict[str, None] = {}
    special: dict[str, None] = {}
    for base in type.mro(kind) if type(kind) is type else kind.__mro__:
        for name, found in vars(base).items():
            if name in SPECIAL and base is not object:
                if found is not None:
                    special[name] = None
            elif name[:2] != "__" and lookup(kind, name) is found and isinstance(found, _METHODS):
                methods[name] = None
    return {
        "name": f"{kind.__module__}:{kind.__qualname__}",
        "methods": sorted(methods),
        "special": sorted(special),
    }


def class_of(description: Mapping[str, Any]) -> type:
    """The class itself, for `isinstance`; one that only has its name, if it is not to be found here."""
    try:
        found = located(description["name"])
    except BadValue:
        found = None
    if isinstance(found, type):
        return found
    module, _, qualified = description["name"].partition(":")
    known = next((getattr(types, name) for name in types.__all__ if _name(getattr(types, name)) == qualified), None)
    if module == "builtins" and known is not None:
        return known  # type: ignore[no-any-return]
    return type(qualified.rpartition(".")[2], (), {"__module__": module, "__qualname__": qualified})


def _name(kind: Any) -> str:
    return str(getattr(kind, "__qualname__", ""))


def stand_in_type(description: Mapping[str, Any], *, hide: bool = True) -> type[StandIn]:
    """The class of the stand-ins for objects of a class that is described.

    With `hide`, the frames of its methods are not seen by what they call. In a replay they call nothing, but raise
    exceptions, of which a debugger is told for each hidden frame: better to be seen then, and gone from tracebacks.

    >>> import io
    >>> made = stand_in_type(described(io.StringIO))
    >>> made.__name__, "read" in vars(made), "__next__" in vars(made)
    ('StringIO', True, True)
    """
    module, _, qualified = description["name"].partition(":")
    namespace: dict[str, Any] = {"__slots__": (), "__module__": module, "__qualname__": qualified}
    make = _method if hide else _visible_method
    for name in description["methods"]:
        namespace[name] = make(name, f"{qualified}.{name}")
    for name in description["special"]:
        namespace[name] = _awaiting if name == "__await__" else make(name, f"{qualified}.{name}")
    if "__await__" in namespace and namespace.keys() >= _DRIVING.keys():
        namespace.update(_DRIVING)
    namespace["__getattribute__"] = _getattribute if hide else _visible_getattribute
    if "__eq__" in namespace and "__hash__" not in namespace:
        namespace["__hash__"] = None
    return type(qualified.rpartition(".")[2], (StandIn,), namespace)


def _method(name: str, qualified: str) -> Callable[..., Any]:
    @hidden
    def method(self: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return _get(self, "_cassette_answering").use(self, "call", name, arguments, keywords)

    method.__name__ = name
    method.__qualname__ = qualified
    return method


def _visible_method(name: str, qualified: str) -> Callable[..., Any]:
    def method(self: Any, /, *arguments: Any, **keywords: Any) -> Any:
        try:
            return _get(self, "_cassette_answering").use(self, "call", name, arguments, keywords)
        except BaseException as error:
            error.__traceback__ = None
            raise

    method.__name__ = name
    method.__qualname__ = qualified
    return method


def _visible_getattribute(self: Any, name: str) -> Any:
    if name == "__class__":
        return _get(self, "_cassette_kind")
    if name in type(self).__dict__ or (name[:2] == "__" and name[-2:] == "__"):
        return _get(self, name)
    try:
        return _get(self, "_cassette_answering").use(self, "get", name, (), {})
    except BaseException as error:
        error.__traceback__ = None
        raise


def _awaiting(self: Any) -> Any:
    return _get(self, "_cassette_answering").use(self, "call", "__await__", (), {}).__await__()


@hidden
def _send(self: Any, value: Any) -> Any:
    """What a task does that is made of the stand-in: each step is one of waiting, and no use of its own."""
    try:
        driven = _get(self, "_cassette_driven")
    except AttributeError:
        driven = _awaiting(self)
        object.__setattr__(self, "_cassette_driven", driven)
    return driven.send(value)


def _ending(name: str) -> Callable[..., Any]:
    @hidden
    def end(self: Any, *arguments: Any) -> Any:
        try:
            driven = _get(self, "_cassette_driven")
        except AttributeError:  # nobody has begun to wait: it is a use like any other
            return _get(self, "_cassette_answering").use(self, "call", name, arguments, {})
        return getattr(driven, name)(*arguments)

    return end


_DRIVING: Final[dict[str, Any]] = {"send": _send, "throw": _ending("throw"), "close": _ending("close")}
"""What coroutines have besides `__await__`."""


def stand_in(made: type[StandIn], kind: type, number: int, answering: Answering, real: Any = None) -> Any:
    """One stand-in. `kind` is the class that it says it is of."""
    one = object.__new__(made)
    put = object.__setattr__
    put(one, "_cassette_kind", kind)
    put(one, "_cassette_number", number)
    put(one, "_cassette_answering", answering)
    put(one, "_cassette_real", real)
    return one


def is_awaitable(value: Any) -> bool:
    """Whether it is for nothing but to be awaited, once: a coroutine, or a step of an asynchronous generator."""
    kind = type(value)
    if kind is types.CoroutineType:
        return True
    futures: Any = sys.modules.get("asyncio.futures")
    if lookup(kind, "__await__") is None or (futures is not None and futures.isfuture(value)):
        return kind is types.GeneratorType and bool(value.gi_code.co_flags & _ITERABLE_COROUTINE)
    return not {"__aenter__", "__aiter__"}.intersection(dir(kind))


_ITERABLE_COROUTINE: Final = inspect.CO_ITERABLE_COROUTINE


class Observed:
    """An awaitable that tells whether awaiting it took any time, and has each of its steps run by `run`."""

    __slots__ = ("_has_begun", "_inner", "_run", "waited")

    def __init__(self, inner: Any, run: Callable[..., Any]) -> None:
        self._inner = inner
        self._run = run
        self._has_begun = False
        self.waited = False

    def __del__(self) -> None:
        if not self._has_begun and type(self._inner) is types.CoroutineType:
            self._inner.close()  # or Python would warn of it, too: the program did not await the one it was given

    def __await__(self) -> Any:
        self._has_begun = True
        inner = self._inner
        run = self._run
        if not hasattr(inner, "send"):
            inner = run(inner.__await__)
        send = inner.send if hasattr(inner, "send") else lambda value: next(inner)
        step, argument = send, None
        while True:
            try:
                yielded = run(step, argument)
            except StopIteration as stop:
                return stop.value
            self.waited = True
            try:
                argument = yield yielded
                step = send
            except GeneratorExit:
                if hasattr(inner, "close"):
                    run(inner.close)
                raise
            except BaseException as error:
                if not hasattr(inner, "throw"):
                    raise
                step, argument = inner.throw, error
