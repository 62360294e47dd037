"""Values as JSON: simple values are serialised, every other object is written as a reference.

Numbers, text, None and lists are written as JSON has them. Every other value is a JSON object with one key, its tag:
``{"bytes": "abc"}``, ``{"tuple": [1, 2]}``, ``{"made": …}``. A function that the caller passes encodes the objects
that cannot be serialised.
"""

from __future__ import annotations

import base64
import builtins
import enum
import hashlib
import sys
import types
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from cassette_import.contexts.recording import arrays
from cassette_import.contexts.recording.decoding import CONSTRUCTORS
from cassette_import.contexts.recording.value_types import (
    importable_reference,
    is_plain_named_tuple,
    is_reproducible,
    reference,
)

__all__ = ["VALUES", "Encoder", "reference", "shortened", "with_texts"]

Encoded: TypeAlias = tuple[Any, Any]
"""A value as JSON, and the value that the program gets: usually the same one, or one with proxies in it."""

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
"""Classes whose objects are serialised, as `module:qualname`: those that `copy` copies faithfully. Users may add
classes. Subclasses of Python's simple types are always serialised."""

_SIMPLE: Final = (str, bytes, int, float, complex, tuple, list, dict, set, frozenset)
_LONGEST_TEXT: Final = 2000
_DEEPEST: Final = 60
_PICKLE_PROTOCOL: Final = 4


class NotSerialisable(Exception):
    """An object that cannot be serialised, so that the recording needs a reference to it."""


def with_texts(encoded: Any, change: Callable[[str], Any], change_bytes: Callable[[str], Any] | None = None) -> Any:
    """An encoded value with each of its texts replaced by what `change` returns for it.

    `change_bytes` does the same for bytes that are written in base 64.

    >>> with_texts({"tuple": ["a", [1, "b"]]}, str.upper)
    {'tuple': ['A', [1, 'B']]}
    """
    if isinstance(encoded, str):
        return change(encoded)
    if isinstance(encoded, list):
        return [with_texts(item, change, change_bytes) for item in encoded]
    if isinstance(encoded, dict):
        if change_bytes is not None and encoded.keys() == {"base64"}:
            return {"base64": change_bytes(encoded["base64"])}
        return {key: with_texts(item, change, change_bytes) for key, item in encoded.items()}
    return encoded


def shortened(encoded: Any) -> Any:
    """An encoded argument with long texts replaced by their digests: arguments are only compared and shown."""
    return with_texts(encoded, _digest_if_long)


def _digest_if_long(text: str) -> Any:
    if len(text) <= _LONGEST_TEXT:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"long": [len(text), text[:80], digest]}


class Encoder:
    """From values to JSON.

    Parameters
    ----------
    encode_reference:
        Called with each object that cannot be serialised. Returns its JSON, and the object that replaces it.
    """

    def __init__(self, encode_reference: Callable[[Any], Encoded]) -> None:
        self._encode_reference = encode_reference
        self._enclosing: list[tuple[Any, Any]] = []
        """The lists and dicts that are being encoded, outermost first, and what the program gets of each."""

    def __call__(self, value: Any, depth: int = 0) -> Encoded:
        """A value as JSON, and the value that the program gets.

        >>> Encoder(repr)((1, b"ab"))
        ({'tuple': [1, {'bytes': 'ab'}]}, (1, b'ab'))
        """
        kind = type(value)
        # The most frequent types first, each with one comparison: every argument and result comes through here.
        if value is None or kind is bool or kind is str:
            return value, value
        if kind is int:
            return (value if abs(value) < 1 << 63 else {"int": hex(value)}), value
        if kind is float:
            return (value if value - value == 0 else {"float": repr(value)}), value
        if kind is bytes:
            return {"bytes" if _is_text(value) else "base64": _text(value)}, value
        if depth > _DEEPEST:
            return self._encode_reference(value)
        encode = _ENCODERS.get(kind)
        if encode is not None:
            return encode(self, value, depth + 1)
        try:
            return self._encode_by_base(value, depth + 1)
        except NotSerialisable:
            return self._encode_reference(value)

    def _list(self, value: Any, depth: int) -> Encoded:
        shown: list[Any] = []
        cycle = self._cycle(value)
        if cycle is not None:
            return cycle
        self._enclosing.append((value, shown))
        try:
            items, shown_items, changed = self._items(value, depth)
        finally:
            self._enclosing.pop()
        shown += shown_items
        return items, (shown if changed else value)

    def _cycle(self, value: Any) -> Encoded | None:
        """A list or dict inside itself: how many levels above it is. The program gets a copy, as in a replay."""
        for levels, (container, shown) in enumerate(reversed(self._enclosing), 1):
            if container is value:
                return {"cycle": levels}, shown
        return None

    def _items(self, values: Any, depth: int) -> tuple[list[Any], list[Any], bool]:
        """The JSON of each value, what the program gets of each, and whether that differs from the values."""
        pairs = [(item, *self(item, depth)) for item in values]
        return [pair[1] for pair in pairs], [pair[2] for pair in pairs], any(pair[0] is not pair[2] for pair in pairs)

    def _tuple(self, value: Any, depth: int) -> Encoded:
        items, shown, changed = self._items(value, depth)
        return {"tuple": items}, (tuple(shown) if changed else value)

    def _set(self, value: Any, depth: int) -> Encoded:
        items, shown, changed = self._items(value, depth)
        items.sort(key=repr)  # the order of a set differs from run to run
        kind = type(value)
        return {kind.__name__: items}, (kind(shown) if changed else value)

    def _dict(self, value: Any, depth: int) -> Encoded:
        shown: dict[Any, Any] = {}
        cycle = self._cycle(value)
        if cycle is not None:
            return cycle
        self._enclosing.append((value, shown))
        try:
            items, parts, changed = self._items([part for pair in list(value.items()) for part in pair], depth)
        finally:
            self._enclosing.pop()
        pairs = [items[index : index + 2] for index in range(0, len(items), 2)]
        shown.update(zip(parts[::2], parts[1::2], strict=True))
        return {"dict": pairs}, (shown if changed else value)

    def _buffer(self, value: Any, depth: int) -> Encoded:
        return {type(value).__name__: self(bytes(value))[0]}, value

    def _slice(self, value: Any, depth: int) -> Encoded:
        parts = [self(part, depth)[0] for part in (value.start, value.stop, value.step)]
        return {type(value).__name__: parts}, value

    def _complex(self, value: Any, depth: int) -> Encoded:
        return {"complex": repr(value)}, value

    def _constant(self, value: Any, depth: int) -> Encoded:
        return {"constant": "..." if value is ... else "NotImplemented"}, value

    def _encode_by_base(self, value: Any, depth: int) -> Encoded:
        """An object whose type has no encoder of its own: the first base with an encoder decides."""
        for bases, encode in _ENCODERS_BY_BASE:
            if isinstance(value, bases):
                return encode(self, value, depth)
        return self._object(value, depth)

    def _class(self, value: Any, depth: int) -> Encoded:
        if "<" in value.__qualname__:
            raise NotSerialisable
        return {"type": _public(value)}, value

    def _enum(self, value: Any, depth: int) -> Encoded:
        return {"enum": [reference(type(value)), self.serialised(value.value, depth)]}, value

    def _function(self, value: Any, depth: int) -> Encoded:
        if not _is_module_level(value):
            return self._object(value, depth)
        return {"function": reference(value)}, value

    def _module(self, value: Any, depth: int) -> Encoded:
        return {"module": value.__name__}, value

    def _object(self, value: Any, depth: int) -> Encoded:
        kind = type(value)
        array = arrays.encoded_array(value)
        if array is not None:
            return array, value
        if reference(kind) not in VALUES and not issubclass(kind, _SIMPLE):
            raise NotSerialisable
        if kind.__module__.startswith("pathlib"):
            # As one text and not by its parts: so the names of folders are found and replaced in it.
            return {"made": [reference(kind), "call", [str(value)], None, None, None]}, value
        return self._made(value, kind, depth)

    def _made(self, value: Any, kind: type, depth: int) -> Encoded:
        """An object as `copy` and `pickle` take it apart: a class, its arguments, its state and its items."""
        name = importable_reference(kind)
        if name is None:
            if not is_plain_named_tuple(kind):
                raise NotSerialisable
            items = self.serialised(list(value), depth)
            # For the type checker: the class is that of a named tuple.
            return {"named tuple": [reference(kind), list(kind._fields), items]}, value  # type: ignore[attr-defined]
        try:
            reduced = value.__reduce_ex__(_PICKLE_PROTOCOL)
        except Exception as error:  # a class may raise anything here
            raise NotSerialisable from error
        if not isinstance(reduced, tuple) or len(reduced) > 5:
            raise NotSerialisable
        make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        how = _way_to_make(make, kind)
        parts = [
            name,
            how,
            self.serialised(list(arguments[1:] if how == "new" else arguments), depth),
            self.serialised(state, depth),
            self.serialised(list(items) if items is not None else None, depth),
            self.serialised([list(pair) for pair in pairs] if pairs is not None else None, depth),
        ]
        made = {"made": parts}
        if not is_reproducible(kind, made):
            raise NotSerialisable
        return made, value

    def serialised(self, value: Any, depth: int) -> Any:
        """The JSON of a part of an object. It must be serialisable: a proxy could not take its place."""
        return Encoder(_refuse)(value, depth)[0]


def _refuse(value: Any) -> Encoded:
    raise NotSerialisable


_CALLABLE_TYPES: Final = (type, types.FunctionType, types.BuiltinFunctionType)


def _way_to_make(make: Any, kind: type) -> str:
    """How an object is made of its arguments: by calling its class, by its `__new__`, or by a function."""
    if make is kind:
        return "call"
    if getattr(make, "__name__", "") == "__newobj__":
        return "new"
    name = reference(make) if isinstance(make, _CALLABLE_TYPES) else ""
    if name not in CONSTRUCTORS:
        raise NotSerialisable
    return name


_ENCODERS: Final[dict[type, Callable[[Encoder, Any, int], Encoded]]] = {
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


_ENCODERS_BY_BASE: Final[tuple[tuple[Any, Callable[[Encoder, Any, int], Encoded]], ...]] = (
    (type, Encoder._class),
    (enum.Enum, Encoder._enum),
    ((types.FunctionType, types.BuiltinFunctionType), Encoder._function),
    (types.ModuleType, Encoder._module),
)


def _is_text(value: bytes) -> bool:
    return value.isascii() and all(byte >= 32 or byte in (9, 10, 13) for byte in value)


def _text(value: bytes) -> str:
    return value.decode("ascii") if _is_text(value) else base64.b64encode(value).decode("ascii")


def _public(kind: type) -> str:
    """A reference to a class. `NoneType` and its like name `builtins` as their module, but are found in `types`."""
    if kind.__module__ == "builtins" and not hasattr(builtins, kind.__qualname__):
        return next((f"types:{name}" for name in types.__all__ if getattr(types, name) is kind), reference(kind))
    return reference(kind)


def _is_module_level(function: Any) -> bool:
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    return module is not None and getattr(module, function.__qualname__, None) is function
