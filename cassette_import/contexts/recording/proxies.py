"""Proxies: the program holds one instead of an external object that cannot be serialised, such as a socket.

While a run is recorded, a proxy passes each use on to the object. In a replay there is no object, and the results come
from the recording. The program sees the same proxies both times.
"""

from __future__ import annotations

import functools
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

from cassette_import.contexts.recording.tracebacks import without_frames_in
from cassette_import.contexts.recording.values import BadValue, located
from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = [
    "USES",
    "Proxy",
    "UseHandler",
    "change_proxy",
    "class_of",
    "described_class",
    "is_proxy",
    "is_used_by_debugger",
    "make_proxy",
    "maker_of",
    "number_of",
    "proxy_type",
    "real_of",
    "with_real_objects",
]

_get: Final = object.__getattribute__


class UseHandler(Protocol):
    """Handles the uses of proxies: `Record` or `Replay`."""

    def use(self, proxy: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """Use a proxy. `kind` is call, get, set or delete; `name` is that of the method or attribute."""


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
"""The methods that Python itself calls; it looks for them in the class of an object."""


@hidden
def _getattribute(self: Any, name: str) -> Any:
    if name == "__class__":
        return _get(self, "_cassette_class")
    if name in type(self).__dict__ or (name[:2] == "__" and name[-2:] == "__" and name != "__dict__"):  # of `vars`
        return _get(self, name)
    return _get(self, "_cassette_handler").use(self, "get", name, (), {})


class Proxy:
    """The base of the classes of all proxies. Its own attributes have names that no other class uses."""

    __slots__ = (
        "__weakref__", "_cassette_awaited", "_cassette_class",
        "_cassette_handler", "_cassette_maker", "_cassette_number", "_cassette_real",
    )  # fmt: skip

    def __setattr__(self, name: str, value: Any) -> None:
        _get(self, "_cassette_handler").use(self, "set", name, (value,), {})

    def __delattr__(self, name: str) -> None:
        _get(self, "_cassette_handler").use(self, "delete", name, (), {})

    def __dir__(self) -> Iterable[str]:
        return sorted({*dir(_get(self, "_cassette_class")), *type(self).__dict__})

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle {type(self).__qualname__!r} object: in a recorded run it is a proxy")


for _function in (Proxy.__setattr__, Proxy.__delattr__):
    hidden(_function)


def is_proxy(value: Any) -> bool:
    """Whether an object is a proxy, although its `__class__` is that of the object behind it."""
    return issubclass(type(value), Proxy)


def number_of(proxy: Any) -> int:
    """The number of a proxy in its recording."""
    number: int = _get(proxy, "_cassette_number")
    return number


def change_proxy(proxy: Any, **attributes: Any) -> None:
    """Change the number of a proxy, the object behind it (`real`), or the call that makes this object (`maker`)."""
    for name, value in attributes.items():
        object.__setattr__(proxy, f"_cassette_{name}", value)


def maker_of(proxy: Any) -> Callable[[], Any] | None:
    """The call that makes the object behind a proxy; None if it must not be made again."""
    found: Callable[[], Any] | None = _get(proxy, "_cassette_maker")
    return found


def real_of(proxy: Any) -> Any:
    """The object behind a proxy."""
    return _get(proxy, "_cassette_real")


def described_class(kind: type) -> dict[str, Any]:
    """A class as the recording describes it to make proxies: its name, its methods, and its special methods."""
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
    """The described class, for `isinstance`; an empty class of the same name if it cannot be found here."""
    try:
        found = located(description["name"])
    except BadValue:
        found = None
    if isinstance(found, type):
        return found
    module, _, qualified = description["name"].partition(":")
    known = next((getattr(types, name) for name in types.__all__ if _name(getattr(types, name)) == qualified), None)
    if module == "builtins" and known is not None:
        return known  # type: ignore[no-any-return]  # `types` names its types so
    return type(qualified.rpartition(".")[2], (), {"__module__": module, "__qualname__": qualified})


def _name(kind: Any) -> str:
    return str(getattr(kind, "__qualname__", ""))


def proxy_type(description: Mapping[str, Any], *, hide: bool = True) -> type[Proxy]:
    """The class of the proxies for objects of a described class.

    Parameters
    ----------
    description:
        See `described_class`.
    hide:
        Whether the frames of its methods are hidden from the code that they call. In a replay they call no code, but
        raise exceptions, and a debugger would report each exception once for every hidden frame. So the frames are
        visible there, and are removed from tracebacks.

    >>> import io
    >>> made = proxy_type(described_class(io.StringIO))
    >>> made.__name__, "read" in vars(made), "__next__" in vars(made)
    ('StringIO', True, True)
    """
    module, _, qualified = description["name"].partition(":")
    namespace: dict[str, Any] = {"__slots__": (), "__module__": module, "__qualname__": qualified}
    make = _method if hide else _visible_method
    for name in description["methods"]:
        namespace[name] = make(name, f"{qualified}.{name}")
    for name in description["special"]:
        namespace[name] = _await if name == "__await__" else make(name, f"{qualified}.{name}")
    if "__await__" in namespace and namespace.keys() >= _COROUTINE_METHODS.keys():
        namespace.update(_COROUTINE_METHODS)
    namespace["__getattribute__"] = _getattribute if hide else _visible_getattribute
    if "__eq__" in namespace and "__hash__" not in namespace:
        namespace["__hash__"] = None
    return type(qualified.rpartition(".")[2], (Proxy,), namespace)


def _method(name: str, qualified: str) -> Callable[..., Any]:
    @hidden
    def method(self: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return _get(self, "_cassette_handler").use(self, "call", name, arguments, keywords)

    method.__name__ = name
    method.__qualname__ = qualified
    return method


def _visible_method(name: str, qualified: str) -> Callable[..., Any]:
    def method(self: Any, /, *arguments: Any, **keywords: Any) -> Any:
        try:
            return _get(self, "_cassette_handler").use(self, "call", name, arguments, keywords)
        except BaseException as error:
            error.__traceback__ = without_frames_in(error.__traceback__, PACKAGE_FOLDER)
            raise

    method.__name__ = name
    method.__qualname__ = qualified
    return method


def _visible_getattribute(self: Any, name: str) -> Any:
    if name == "__class__":
        return _get(self, "_cassette_class")
    if name in type(self).__dict__ or (name[:2] == "__" and name[-2:] == "__" and name != "__dict__"):  # of `vars`
        return _get(self, name)
    try:
        return _get(self, "_cassette_handler").use(self, "get", name, (), {})
    except BaseException as error:
        error.__traceback__ = without_frames_in(error.__traceback__, PACKAGE_FOLDER)
        raise


def _await(self: Any) -> Any:
    return _get(self, "_cassette_handler").use(self, "call", "__await__", (), {}).__await__()


@hidden
def _send(self: Any, value: Any) -> Any:
    """One step of a task that was made of the proxy: part of awaiting it, and not a use of its own."""
    try:
        awaited = _get(self, "_cassette_awaited")
    except AttributeError:
        awaited = _await(self)
        object.__setattr__(self, "_cassette_awaited", awaited)
    return awaited.send(value)


def _throw_or_close(name: str) -> Callable[..., Any]:
    @hidden
    def end(self: Any, *arguments: Any) -> Any:
        try:
            awaited = _get(self, "_cassette_awaited")
        except AttributeError:  # it has not been awaited: this is a use like any other
            return _get(self, "_cassette_handler").use(self, "call", name, arguments, {})
        return getattr(awaited, name)(*arguments)

    return end


_COROUTINE_METHODS: Final[dict[str, Any]] = {
    "send": _send,
    "throw": _throw_or_close("throw"),
    "close": _throw_or_close("close"),
}
"""The methods of coroutines beside `__await__`."""


def make_proxy(made: type[Proxy], kind: type, number: int, handler: UseHandler, real: Any = None) -> Any:
    """A proxy of the type `made`. `kind` is the class that it passes for under `isinstance`."""
    proxy = object.__new__(made)
    put = object.__setattr__
    put(proxy, "_cassette_class", kind)
    put(proxy, "_cassette_number", number)
    put(proxy, "_cassette_handler", handler)
    put(proxy, "_cassette_real", real)
    put(proxy, "_cassette_maker", None)
    return proxy


@hidden
def _call_method(real: Any, name: str, /, *arguments: Any, **keywords: Any) -> Any:
    if name == "__next__":
        return next(real)
    return getattr(real, name)(*arguments, **keywords)


USES: Final[dict[str, Callable[..., Any]]] = {
    "call": _call_method,
    "get": getattr,
    "set": setattr,
    "delete": delattr,
}
"""How an object is used, by the `kind` of `UseHandler.use`."""


def with_real_objects(value: Any) -> Any:
    """Arguments with the objects themselves instead of proxies."""
    if type(value) in (tuple, dict, list) and not value:
        return value
    if is_proxy(value):
        return real_of(value)
    kind = type(value)
    if kind is list or kind is tuple:
        items = [with_real_objects(item) for item in value]
        return kind(items) if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if kind is dict:
        pairs = {key: with_real_objects(item) for key, item in value.items()}
        return pairs if any(pairs[key] is not value[key] for key in value) else value
    return value


def is_used_by_debugger() -> bool:
    """Whether a debugger (`bdb`) uses a proxy at the moment, and not the program."""
    bdb: Any = sys.modules.get("bdb")
    if bdb is None:
        return False
    debugger_code = bdb.Bdb.trace_dispatch.__code__
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code is debugger_code:
            return True
        frame = frame.f_back
    return False
