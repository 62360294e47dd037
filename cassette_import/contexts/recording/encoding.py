"""Values as JSON and back: how a recording holds what is simple, and names what is not.

Numbers, text, None and lists stand for themselves; everything else is an object with one key that says what it is:
``{"bytes": "abc"}``, ``{"tuple": [1, 2]}``, ``{"made": …}``. What cannot be held is left to two functions, one for
each direction. Knows Python's types; must not know what is recorded, or why.
"""

from __future__ import annotations

import base64
import builtins
import enum
import hashlib
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any, Final

__all__ = ["VALUES", "BadValue", "Decoder", "Encoder", "located", "reference", "shortened"]

Shown = tuple[Any, Any]
"""A value as JSON, and what the program is to be given in its place: mostly the value itself."""

VALUES: Final[set[str]] = {
    *(f"datetime:{name}" for name in ("date", "datetime", "time", "timedelta", "timezone")),
    "zoneinfo:ZoneInfo", "decimal:Decimal", "fractions:Fraction", "uuid:UUID", "time:struct_time",
    *(f"pathlib:{name}" for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")),
    *(f"pathlib._local:{name}" for name in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")),
    *(f"ipaddress:{kind}{version}" for kind in ("IPv4", "IPv6") for version in ("Address", "Network", "Interface")),
    "os:stat_result", "os:statvfs_result", "os:terminal_size", "os:times_result", "posix:uname_result",
    "posix:times_result", "platform:uname_result", "subprocess:CompletedProcess", "types:SimpleNamespace",
    "collections:OrderedDict", "collections:deque", "collections:Counter", "array:array",
    "requests.structures:CaseInsensitiveDict", "requests.structures:LookupDict",
}  # fmt: skip
"""Classes whose objects are kept by value, as `module:qualname`: those that `copy` would copy faithfully. Users may
add theirs; subclasses of Python's simple types are kept by value anyway."""

_PLAIN: Final = (str, bytes, int, float, complex, tuple, list, dict, set, frozenset)
_LONG: Final = 2000
_DEEP: Final = 60


class BadValue(ValueError):
    """JSON that no value is encoded as."""


class NotByValue(Exception):
    """An object that has to be named, because it cannot be held."""


def reference(thing: Any) -> str:
    """A class or function as `module:qualname`."""
    return f"{thing.__module__}:{thing.__qualname__}"


def located(text: str) -> Any:
    """What a reference refers to, imported if need be.

    >>> located("datetime:datetime.now").__name__
    'now'
    """
    module_name, _, path = text.partition(":")
    try:
        found = sys.modules.get(module_name) or importlib.import_module(module_name)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadValue(f"{text} cannot be found here: {error}") from error
    return found


def shortened(encoded: Any) -> Any:
    """An encoded argument with long texts replaced by their digests: it is only ever compared, and shown."""
    if isinstance(encoded, str) and len(encoded) > _LONG:
        digest = hashlib.sha256(encoded.encode("utf-8", "surrogatepass")).hexdigest()
        return {"long": [len(encoded), encoded[:80], digest]}
    if isinstance(encoded, list):
        return [shortened(item) for item in encoded]
    if isinstance(encoded, dict):
        return {key: shortened(item) for key, item in encoded.items()}
    return encoded


class Encoder:
    """From values to JSON; `other(value)` gives the JSON and the substitute of what cannot be held."""

    def __init__(self, other: Callable[[Any], Shown]) -> None:
        self._other = other

    def __call__(self, value: Any, depth: int = 0) -> Shown:
        """A value as JSON, and what to give the program in its place.

        >>> Encoder(repr)((1, b"ab"))
        ({'tuple': [1, {'bytes': 'ab'}]}, (1, b'ab'))
        """
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value, value
        if kind is int:
            return (value if abs(value) < 1 << 63 else {"int": hex(value)}), value
        if kind is float:
            return (value if value - value == 0 else {"float": repr(value)}), value
        if kind is bytes:
            return {"bytes" if _is_text(value) else "base64": _text(value)}, value
        if depth > _DEEP:
            return self._other(value)
        maker = _BY_KIND.get(kind)
        if maker is not None:
            return maker(self, value, depth + 1)
        try:
            return self._special(value, kind, depth + 1)
        except NotByValue:
            return self._other(value)

    def _list(self, value: Any, depth: int) -> Shown:
        items, shown, changed = self._items(value, depth)
        return items, (shown if changed else value)

    def _items(self, values: Any, depth: int) -> tuple[list[Any], list[Any], bool]:
        pairs = [(item, *self(item, depth)) for item in values]
        return [pair[1] for pair in pairs], [pair[2] for pair in pairs], any(pair[0] is not pair[2] for pair in pairs)

    def _tuple(self, value: Any, depth: int) -> Shown:
        items, shown, changed = self._items(value, depth)
        return {"tuple": items}, (tuple(shown) if changed else value)

    def _set(self, value: Any, depth: int) -> Shown:
        items, shown, changed = self._items(value, depth)
        items.sort(key=repr)  # whose order differs from run to run
        kind = type(value)
        return {kind.__name__: items}, (kind(shown) if changed else value)

    def _dict(self, value: Any, depth: int) -> Shown:
        items, shown, changed = self._items([part for pair in list(value.items()) for part in pair], depth)
        pairs = [items[index : index + 2] for index in range(0, len(items), 2)]
        return {"dict": pairs}, (dict(zip(shown[::2], shown[1::2], strict=True)) if changed else value)

    def _buffer(self, value: Any, depth: int) -> Shown:
        return {type(value).__name__: self(bytes(value))[0]}, value

    def _slice(self, value: Any, depth: int) -> Shown:
        parts = [self(part, depth)[0] for part in (value.start, value.stop, value.step)]
        return {type(value).__name__: parts}, value

    def _complex(self, value: Any, depth: int) -> Shown:
        return {"complex": repr(value)}, value

    def _constant(self, value: Any, depth: int) -> Shown:
        return {"constant": "..." if value is ... else "NotImplemented"}, value

    def _special(self, value: Any, kind: type, depth: int) -> Shown:
        if isinstance(value, type):
            if "<" in value.__qualname__:
                raise NotByValue
            return {"type": _public(value)}, value
        if isinstance(value, enum.Enum):
            return {"enum": [reference(kind), self.held(value.value, depth)]}, value
        if isinstance(value, types.FunctionType | types.BuiltinFunctionType) and _is_module_level(value):
            return {"function": reference(value)}, value
        if isinstance(value, types.ModuleType):
            return {"module": value.__name__}, value
        if reference(kind) not in VALUES and not issubclass(kind, _PLAIN):
            raise NotByValue
        if kind.__module__.startswith("pathlib"):
            # As one text, not by its parts: so a path looks like what it is, and one in a folder like the folder's.
            return {"made": [reference(kind), "call", [str(value)], None, None, None]}, value
        return self._made(value, kind, depth)

    def _made(self, value: Any, kind: type, depth: int) -> Shown:
        """An object as `copy` and `pickle` take it apart: a class, its arguments, its state and its items."""
        if "<" in kind.__qualname__ or kind.__module__ == "__main__":
            raise NotByValue
        try:
            reduced = value.__reduce_ex__(4)
        except Exception as error:  # whatever the class has to say to that
            raise NotByValue from error
        if not isinstance(reduced, tuple) or len(reduced) > 5:
            raise NotByValue
        make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        if make is not kind and getattr(make, "__name__", "") != "__newobj__":
            make_name = (
                reference(make) if isinstance(make, type | types.FunctionType | types.BuiltinFunctionType) else ""
            )
            if make_name not in _MAKERS:
                raise NotByValue
        else:
            make_name = "new" if make is not kind else "call"
            arguments = arguments[1:] if make is not kind else arguments
        parts = [
            reference(kind),
            make_name,
            self.held(list(arguments), depth),
            self.held(state, depth),
            self.held(list(items) if items is not None else None, depth),
            self.held([list(pair) for pair in pairs] if pairs is not None else None, depth),
        ]
        return {"made": parts}, value

    def held(self, value: Any, depth: int) -> Any:
        """The JSON of a part, which must be a value itself: nobody could put a substitute in its place."""
        return Encoder(_refuse)(value, depth)[0]


def _refuse(value: Any) -> Shown:
    raise NotByValue


_MAKERS: Final = {"copyreg:_reconstructor", "array:_array_reconstructor", "zoneinfo:ZoneInfo._unpickle"}

_BY_KIND: Final[dict[type, Callable[[Encoder, Any, int], Shown]]] = {
    list: Encoder._list,
    tuple: Encoder._tuple,
    set: Encoder._set,
    frozenset: Encoder._set,
    dict: Encoder._dict,
    bytearray: Encoder._buffer,
    memoryview: Encoder._buffer,
    slice: Encoder._slice,
    range: Encoder._slice,
    complex: Encoder._complex,
    type(...): Encoder._constant,
    type(NotImplemented): Encoder._constant,
}


def _is_text(value: bytes) -> bool:
    return value.isascii() and all(byte >= 32 or byte in (9, 10, 13) for byte in value)


def _text(value: bytes) -> str:
    return value.decode("ascii") if _is_text(value) else base64.b64encode(value).decode("ascii")


def _public(kind: type) -> str:
    """`NoneType` and its likes say they are in `builtins`, and are in `types`."""
    if kind.__module__ == "builtins" and not hasattr(builtins, kind.__qualname__):
        return next((f"types:{name}" for name in types.__all__ if getattr(types, name) is kind), reference(kind))
    return reference(kind)


def _is_module_level(function: Any) -> bool:
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    return module is not None and getattr(module, function.__qualname__, None) is function


class Decoder:
    """From JSON to values; `other(tag, content)` gives what the encoder's `other` has named."""

    def __init__(self, other: Callable[[str, Any], Any]) -> None:
        self._other = other

    def __call__(self, encoded: Any) -> Any:
        """The value that some JSON stands for.

        >>> Decoder(print)({"tuple": [1, {"bytes": "ab"}]})
        (1, b'ab')

        Raises
        ------
        BadValue
            If it stands for none.
        """
        if isinstance(encoded, list):
            return [self(item) for item in encoded]
        if not isinstance(encoded, dict):
            return encoded
        if len(encoded) != 1:
            raise BadValue(f"no value is written as {str(encoded)[:80]}")
        [(tag, content)] = encoded.items()
        decode = _BY_TAG.get(tag)
        if decode is None:
            return self._other(tag, content)
        try:
            return decode(self, content)
        except BadValue:
            raise
        except Exception as error:  # a recording that was changed can make a class raise anything
            raise BadValue(f"no value is written as {str(encoded)[:80]}: {error}") from error

    def _enum(self, content: Any) -> Any:
        return located(content[0])(self(content[1]))

    def _made(self, content: Any) -> Any:
        kind, how, *rest = content
        arguments, state, items, pairs = map(self, rest)
        cls = located(kind)
        if not isinstance(cls, type):
            raise BadValue(f"{kind} is no class")
        if how == "new":
            made: Any = cls.__new__(cls, *arguments)
        elif how == "call":
            made = cls(*arguments)
        elif how in _MAKERS:
            made = located(how)(*arguments)
        else:
            raise BadValue(f"unknown way to make a {kind}: {how!r}")
        if state is not None:
            _set_state(made, state)
        if items is not None:
            made.extend(items)
        for key, value in pairs or ():
            made[key] = value
        return made

    def _type(self, content: Any) -> Any:
        found = located(content)
        if not isinstance(found, type):
            raise BadValue(f"{content} is no class")
        return found


def _set_state(made: Any, state: Any) -> None:
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return
    plain, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    vars(made).update(plain or {})
    for name, value in (slots or {}).items():
        setattr(made, name, value)


_BY_TAG: Final[dict[str, Callable[[Decoder, Any], Any]]] = {
    "int": lambda decode, content: int(content, 16),
    "float": lambda decode, content: float(content),
    "complex": lambda decode, content: complex(content),
    "bytes": lambda decode, content: content.encode("ascii"),
    "base64": lambda decode, content: base64.b64decode(content, validate=True),
    "tuple": lambda decode, content: tuple(map(decode, content)),
    "set": lambda decode, content: set(map(decode, content)),
    "frozenset": lambda decode, content: frozenset(map(decode, content)),
    "dict": lambda decode, content: {decode(key): decode(value) for key, value in content},
    "bytearray": lambda decode, content: bytearray(decode(content)),
    "memoryview": lambda decode, content: memoryview(decode(content)),
    "slice": lambda decode, content: slice(*map(decode, content)),
    "range": lambda decode, content: range(*map(decode, content)),
    "constant": lambda decode, content: {"...": ..., "NotImplemented": NotImplemented}[content],
    "type": Decoder._type,
    "module": lambda decode, content: importlib.import_module(content),
    "function": lambda decode, content: located(content),
    "enum": Decoder._enum,
    "made": Decoder._made,
}
