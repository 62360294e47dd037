"""Values as JSON and back: simple values are serialised, every other object is written as a reference."""

from __future__ import annotations

import base64
import builtins
import collections
import enum
import functools
import hashlib
import importlib
import io
import sys
import threading
import types
from collections.abc import Callable
from typing import Any, Final, TypeAlias

__all__ = [
    "VALUES",
    "BadValue",
    "Decoder",
    "Encoder",
    "decoded_error",
    "encoded_array",
    "encoded_error",
    "is_array",
    "located",
    "reference",
    "shortened",
    "with_texts",
]


# ---- NumPy's arrays and scalars as JSON and back, in the format of `.npy` files
#
# It does not import NumPy before the program or a recording needs it.


def is_array(value: Any) -> bool:
    """Whether this is an array of NumPy, and not one of a subclass."""
    numpy: Any = sys.modules.get("numpy")
    return numpy is not None and type(value) is getattr(numpy, "ndarray", None)


def encoded_array(value: Any) -> dict[str, str] | None:
    """An array or scalar of NumPy as JSON; None if it is neither, or contains Python objects."""
    numpy: Any = sys.modules.get("numpy")
    if type(value).__module__ != "numpy" or numpy is None or not hasattr(numpy, "generic"):
        return None
    if not is_array(value) and not isinstance(value, numpy.generic):
        return None
    file = io.BytesIO()
    try:
        numpy.save(file, value, allow_pickle=False)
    except ValueError:
        return None
    tag = "npy" if is_array(value) else "npy scalar"
    return {tag: base64.b64encode(file.getvalue()).decode("ascii")}


def _decoded_array(content: str) -> Any:
    """The array that was encoded; a scalar comes back as an array without dimensions."""
    return importlib.import_module("numpy").load(io.BytesIO(base64.b64decode(content)), allow_pickle=False)


# ---- values from JSON, as `Encoder` writes them
#
# A function that the caller passes decodes references. The modules that a recording names are imported, and its classes
# are called.

_CONSTRUCTORS: Final = {"copyreg:_reconstructor", "array:_array_reconstructor", "zoneinfo:ZoneInfo._unpickle"}
"""The functions that a recording may name to make an object, beside its class."""


class BadValue(ValueError):
    """JSON that does not encode a value."""


def located(text: str) -> Any:
    """The class or function that a reference names; its module is imported if necessary.

    >>> located("datetime:datetime.now").__name__
    'now'
    """
    module_name, _, path = text.partition(":")
    try:
        target = sys.modules.get(module_name) or importlib.import_module(module_name)
        for name in path.split("."):
            target = getattr(target, name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadValue(f"{text} cannot be found here: {error}") from error
    return target


class Decoder:
    """From JSON to values.

    Parameters
    ----------
    decode_reference:
        Called with the tag and the content of what the encoder's `encode_reference` has written. Returns the object.
    """

    def __init__(self, decode_reference: Callable[[str, Any], Any]) -> None:
        self._decode_reference = decode_reference
        self._thread = _DecodingThread()

    def __call__(self, encoded: Any) -> Any:
        """The value that JSON encodes.

        >>> Decoder(print)({"tuple": [1, {"bytes": "ab"}]})
        (1, b'ab')

        Raises
        ------
        BadValue
            If it encodes no value.
        """
        if isinstance(encoded, list):
            return self._list(encoded)
        if not isinstance(encoded, dict):
            return encoded
        if len(encoded) != 1:
            raise BadValue(f"no value is written as {str(encoded)[:80]}")
        [(tag, content)] = encoded.items()
        decode = _DECODERS.get(tag)
        if decode is None:
            return self._decode_reference(tag, content)
        try:
            return decode(self, content)
        except BadValue:
            raise
        except Exception as error:  # the arguments in an edited recording can make a class raise anything
            raise BadValue(f"no value is written as {str(encoded)[:80]}: {error}") from error

    def _list(self, content: Any) -> Any:
        items: list[Any] = []
        enclosing = self._thread.enclosing
        enclosing.append(items)
        try:
            items += map(self, content)
        finally:
            enclosing.pop()
        return items

    def _dict(self, content: Any) -> Any:
        mapping: dict[Any, Any] = {}
        enclosing = self._thread.enclosing
        enclosing.append(mapping)
        try:
            mapping.update((self(key), self(value)) for key, value in content)
        finally:
            enclosing.pop()
        return mapping

    def _cycle(self, content: Any) -> Any:
        return self._thread.enclosing[-content]

    def _named_tuple(self, content: Any) -> Any:
        name, fields, items = content
        # For the type checker: named tuples have `_make`.
        return _named_tuple_class(name, tuple(fields))._make(self(items))  # type: ignore[attr-defined]

    def _enum(self, content: Any) -> Any:
        return located(content[0])(self(content[1]))

    def _made(self, content: Any) -> Any:
        kind, how, *rest = content
        arguments, state, items, pairs = map(self, rest)
        cls = located(kind)
        if not isinstance(cls, type):
            raise BadValue(f"{kind} is not a class")
        if how == "new":
            instance: Any = cls.__new__(cls, *arguments)
        elif how == "call":
            instance = cls(*arguments)
        elif how in _CONSTRUCTORS:
            instance = located(how)(*arguments)
        else:
            raise BadValue(f"unknown way to make a {kind}: {how!r}")
        if state is not None:
            _set_state(instance, state)
        if items is not None:
            instance.extend(items)
        for key, value in pairs or ():
            instance[key] = value
        return instance

    def _type(self, content: Any) -> Any:
        cls = located(content)
        if not isinstance(cls, type):
            raise BadValue(f"{content} is not a class")
        return cls


class _DecodingThread(threading.local):
    """The lists and dicts that a thread is decoding, outermost first."""

    def __init__(self) -> None:
        self.enclosing: list[Any] = []


@functools.lru_cache
def _named_tuple_class(name: str, fields: tuple[str, ...]) -> type:
    """The class of a named tuple: the one of this name if it has these fields, otherwise a new one."""
    try:
        known = located(name)
    except BadValue:
        known = None
    if isinstance(known, type) and issubclass(known, tuple) and getattr(known, "_fields", None) == fields:
        return known
    module, _, qualified = name.partition(":")
    # For the type checker: the names of the fields are known at run time alone.
    new: type = collections.namedtuple(qualified.rpartition(".")[2], fields, module=module)  # type: ignore[misc]
    new.__qualname__ = qualified
    return new


def _set_state(made: Any, state: Any) -> None:
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return
    plain, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    vars(made).update(plain or {})
    for name, value in (slots or {}).items():
        setattr(made, name, value)


_DECODERS: Final[dict[str, Callable[[Decoder, Any], Any]]] = {
    "int": lambda decode, content: int(content, 16),
    "float": lambda decode, content: float(content),
    "complex": lambda decode, content: complex(content),
    "bytes": lambda decode, content: content.encode("ascii"),
    "base64": lambda decode, content: base64.b64decode(content, validate=True),
    "tuple": lambda decode, content: tuple(map(decode, content)),
    "set": lambda decode, content: set(map(decode, content)),
    "frozenset": lambda decode, content: frozenset(map(decode, content)),
    "dict": Decoder._dict,
    "cycle": Decoder._cycle,
    "named tuple": Decoder._named_tuple,
    "npy": lambda decode, content: _decoded_array(content),
    "npy scalar": lambda decode, content: _decoded_array(content)[()],
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


# ---- which classes can be named in a recording, so that a replay finds the class and makes an equal object

_reproducible: Final[dict[type, bool]] = {}


def reference(thing: Any) -> str:
    """A class or function as `module:qualname`."""
    return f"{thing.__module__}:{thing.__qualname__}"


@functools.lru_cache(1000)
def _importable_reference(kind: type) -> str | None:
    """A reference by which a replay finds a class; None if there is none.

    A class may be bound to another name than its own.

    >>> import shutil
    >>> _importable_reference(type(shutil.disk_usage(".")))
    'shutil:_ntuple_diskusage'
    """
    if kind.__module__ == "__main__" or kind.__module__ not in sys.modules:
        return None
    name = reference(kind)
    try:
        if located(name) is kind:
            return name
    except BadValue:
        pass
    namespace = vars(sys.modules[kind.__module__])
    return next((f"{kind.__module__}:{name}" for name, value in list(namespace.items()) if value is kind), None)


def _is_plain_named_tuple(kind: type) -> bool:
    """Whether a class has nothing but what `namedtuple` gives to it, so that another one can replace it."""
    fields = getattr(kind, "_fields", None)
    if kind.__bases__ != (tuple,) or not isinstance(fields, tuple):
        return False
    usual = {"_fields", "_field_defaults", "_make", "_replace", "_asdict", *fields}
    return all(name in usual or name[:2] == "__" for name in vars(kind))


def _is_reproducible(kind: type, encoded: Any) -> bool:
    """Whether a replay can make objects of a class, which was tried with its first object.

    Python refuses to make another `sys.version_info`, for example.
    """
    known = _reproducible.get(kind)
    if known is None:
        try:
            known = type(Decoder(_refuse_tag)(encoded)) is kind
        except BadValue:
            known = False
        _reproducible[kind] = known
    return known


def _refuse_tag(tag: str, content: Any) -> Any:
    raise BadValue(f"no value is written as {tag!r}")


# ---- values as JSON: simple values are serialised, every other object is written as a reference
#
# Numbers, text, None and lists are written as JSON has them. Every other value is a JSON object with one key, its tag:
# ``{"bytes": "abc"}``, ``{"tuple": [1, 2]}``, ``{"made": …}``. A function that the caller passes encodes the objects
# that cannot be serialised.

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
        array = encoded_array(value)
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
        name = _importable_reference(kind)
        if name is None:
            if not _is_plain_named_tuple(kind):
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
        if not _is_reproducible(kind, made):
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
    if name not in _CONSTRUCTORS:
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


# ---- exceptions as JSON and back: class, arguments, attributes, notes and cause

_DEEPEST_CAUSE: Final = 6
_MEMBERS: Final = (types.MemberDescriptorType, types.GetSetDescriptorType)
_SET_BY_CONSTRUCTOR: Final = frozenset({"args", "exceptions", "message"})


class _Thread(threading.local):
    """The exceptions that a thread is encoding or decoding, outermost first: one may refer to itself."""

    def __init__(self) -> None:
        self.errors: list[Any] = []


_THREAD: Final = _Thread()


def encoded_error(error: BaseException, encode: Callable[[Any], tuple[Any, Any]], depth: int = 0) -> dict[str, Any]:
    """An exception as JSON. An attribute that `encode` replaces by a proxy is replaced in the exception, too."""
    enclosing = _THREAD.errors
    for levels, one in enumerate(reversed(enclosing), 1):
        if one is error:
            return {"cycle": levels}
    enclosing.append(error)
    try:
        return _encoded(error, encode, depth)
    finally:
        enclosing.pop()


def _encoded(error: BaseException, encode: Callable[[Any], tuple[Any, Any]], depth: int) -> dict[str, Any]:
    state: list[Any] = []
    for name, value in list(vars(error).items()):
        encoded, shown = encode(value)
        if shown is not value:
            vars(error)[name] = shown
        state.append([name, encoded])
    fields: dict[str, Any] = {
        "class": _importable(type(error)),
        "arguments": [encode(argument)[0] for argument in error.args],
        "state": state,
        "members": [[name, encode(value)[0]] for name, value in _members(error)],
    }
    if depth < _DEEPEST_CAUSE:
        if error.__cause__ is not None:
            fields["cause"] = encoded_error(error.__cause__, encode, depth + 1)
        elif error.__suppress_context__:
            fields["cause"] = None
        if isinstance(error, BaseExceptionGroup):
            fields["arguments"][1:2] = [[{"error": encoded_error(one, encode, depth + 1)} for one in error.exceptions]]
    return fields


def decoded_error(encoded: Any, decode: Callable[[Any], Any]) -> BaseException:
    """The exception that JSON encodes."""
    enclosing = _THREAD.errors
    if isinstance(encoded, dict) and "cycle" in encoded:
        return _enclosing_error(enclosing, encoded["cycle"])
    enclosing.append(None)
    try:
        return _decoded(encoded, decode)
    finally:
        enclosing.pop()


def _enclosing_error(enclosing: list[Any], levels: Any) -> BaseException:
    error: BaseException | None = enclosing[-levels] if levels in range(1, len(enclosing) + 1) else None
    if error is None:
        raise BadValue("an exception cannot be one of its own arguments")
    return error


def _decoded(encoded: Any, decode: Callable[[Any], Any]) -> BaseException:
    try:
        kind = located(encoded["class"])
        arguments = [decode(argument) for argument in encoded["arguments"]]
        error: BaseException = kind.__new__(kind, *arguments)
        _initialise(error, arguments)
        _THREAD.errors[-1] = error
        for name, value in encoded["members"]:
            try:
                setattr(error, name, decode(value))
            except (AttributeError, TypeError):
                pass
        for name, value in encoded["state"]:
            vars(error)[name] = decode(value)
        if "cause" in encoded:
            cause = encoded["cause"]
            error.__cause__ = None if cause is None else decoded_error(cause, decode)
    except BadValue:
        raise
    except Exception as problem:  # the arguments in an edited recording can make a class raise anything
        raise BadValue(f"no exception is written as {str(encoded)[:80]}: {problem}") from problem
    return error


def _initialise(error: BaseException, arguments: list[Any]) -> None:
    """Call the `__init__` of the nearest base that is written in C: a StopIteration without it has no `value`."""
    for base in type(error).__mro__:
        initialise = vars(base).get("__init__")
        if type(initialise) is types.WrapperDescriptorType:
            try:
                initialise(error, *arguments)
            except TypeError:  # a subclass calls it with other arguments
                initialise(error)
            break
    error.args = tuple(arguments)


def _members(error: BaseException) -> list[tuple[str, Any]]:
    """The members of exceptions written in C beside their arguments, such as the `errno` of an OSError."""
    members: dict[str, Any] = {}
    for base in type(error).__mro__:
        if base in (BaseException, object):
            continue
        for name, descriptor in vars(base).items():
            if isinstance(descriptor, _MEMBERS) and name[:2] != "__" and name not in _SET_BY_CONSTRUCTOR:
                try:
                    value = descriptor.__get__(error)
                except AttributeError:
                    continue
                if value is not None:
                    members.setdefault(name, value)
    return list(members.items())


def _importable(kind: type) -> str:
    """A reference to the class, or to the nearest base that can be found by its name."""
    for base in kind.__mro__:
        try:
            if located(reference(base)) is base:
                return reference(base)
        except BadValue:
            continue
    return "builtins:Exception"
