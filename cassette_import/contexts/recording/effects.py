"""What an external call has done to the objects that it got, so that a replay does the same to the program's objects.

An effect is `[path, kind, content]`. The path leads from the arguments to the object: the index or name of the
argument, then indices of a list or tuple, or the name of an attribute of an object of the program. The kinds:

``bytes``
    What memory contains from an index on: that of a bytearray, an array, a view or a buffer.
``items``
    The items of a list or deque. A number is the index of an item that was there before, a list contains a new one.
``keys``, ``attributes``
    The new items of a dict or attributes of an object, and the keys that are not there any more.
``file``
    The contents and the position of a file in memory.
``set``, ``npy``
    The new contents of a set, or of an array whose memory is not contiguous.
"""

from __future__ import annotations

import array
import base64
import collections
import io
import sys
import sysconfig
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from cassette_import.contexts.recording import values
from cassette_import.contexts.recording.proxies import is_proxy

__all__ = ["Effects", "argument_at", "is_callback", "length_of", "place_of_filled_buffer", "repeat_effects"]

# ---- buffers that a call fills
#
# `pickle` gives `readinto` such memory. So a recording compares only the length of the buffer, and has all bytes that
# the call has written, also those that happen to be equal to what was there before.

_PLACES: Final = {
    "readinto": 0,
    "readinto1": 0,
    "recv_into": 0,
    "recvfrom_into": 0,
    "sock_recv_into": 1,
    "sock_recvfrom_into": 1,
}
"""Which argument a method of files, sockets or event loops fills. The result is or begins with the number of bytes."""


def place_of_filled_buffer(what: Sequence[Any], arguments: Sequence[Any]) -> int | None:
    """The index of the argument that a call fills; None if it fills none."""
    place = _PLACES.get(what[1].rpartition(".")[2]) if what[0] == "call" else None
    return None if place is None or place >= len(arguments) or length_of(arguments[place]) is None else place


def length_of(buffer: Any) -> int | None:
    """The length of a buffer in bytes; None if there is no buffer that can be written."""
    try:
        with memoryview(buffer) as memory:
            return None if memory.readonly else memory.nbytes
    except (TypeError, BufferError, ValueError):
        return None


def _bytes_written(result: Any, most: int) -> int:
    """How many bytes a call has written, as its result says; all of them if it does not.

    The result is None if there were no data yet, or if the call raised an exception.
    """
    if result is None:
        return 0
    number = result[0] if isinstance(result, tuple) and result else result
    return number if type(number) is int and 0 <= number <= most else most


# ---- what an external call has done to the objects that it got, so that a replay does the same to the program's
# objects

Path: TypeAlias = list[Any]
Encode: TypeAlias = Callable[[Any], tuple[Any, Any]]
Decode: TypeAlias = Callable[[Any], Any]

_IMMUTABLE: Final = frozenset({str, bytes, int, float, bool, complex, type(None)})
_INSTALLED: Final = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_DEEPEST: Final = 4
_MOST_ITEMS: Final = 1000


class _Leaf(NamedTuple):
    """An object that a call may change, and what it contained before."""

    path: Path
    value: Any
    kind: str
    before: Any


class Effects:
    """The objects that one call got and may change.

    Parameters
    ----------
    arguments, keywords:
        The arguments of the call.
    filled:
        The index of the argument that the call fills, if there is one.
    """

    __slots__ = ("_leaves",)

    def __init__(self, arguments: Sequence[Any], keywords: Mapping[str, Any], filled: int | None = None) -> None:
        self._leaves: list[_Leaf] = []
        for place, value in (*enumerate(arguments), *keywords.items()):
            if place == filled and _memory_of(value) is not None:
                self._leaves.append(_Leaf([place], value, "filled", None))
            elif type(value) not in _IMMUTABLE:
                self._leaves += _leaves_in([place], value, 0)

    def path_of(self, value: Any) -> Path | None:
        """The path to an object that the call got and has returned."""
        return next((leaf.path for leaf in self._leaves if leaf.value is value), None)

    def encoded(self, encode: Encode, result: Any = None) -> list[list[Any]]:
        """What has changed since then; `result` is that of the call."""
        effects = []
        for leaf in self._leaves:
            before = result if leaf.kind == "filled" else leaf.before
            content = _ENCODERS[leaf.kind](leaf.value, before, encode)
            if content is not None:
                effects.append([leaf.path, *content])
        return effects


def _leaves_in(path: Path, value: Any, depth: int) -> Iterator[_Leaf]:
    kind = type(value)
    if kind in _IMMUTABLE or depth > _DEEPEST or is_proxy(value):
        return
    if isinstance(value, list | deque):
        yield _Leaf(path, value, "items", list(value))
        inner: Any = enumerate(value)
    elif kind is tuple:
        inner = enumerate(value)
    elif isinstance(value, dict):
        yield _Leaf(path, value, "keys", dict(value))
        inner = ()
    elif isinstance(value, set):
        yield _Leaf(path, value, "set", set(value))
        return
    else:
        memory = _memory_of(value)
        if memory is not None:
            yield _Leaf(path, value, "bytes", memory.tobytes())
        elif values.is_array(value):
            is_of_objects = value.dtype.hasobject
            yield _Leaf(path, value, "items" if is_of_objects else "npy", _contents(value))
        elif isinstance(value, io.BytesIO | io.StringIO):
            yield _Leaf(path, value, "file", None if value.closed else (value.getvalue(), value.tell()))
        elif _is_own(value):
            yield _Leaf(path, value, "attributes", dict(vars(value)))
            for name, part in list(vars(value).items()):
                if type(part) in (list, dict, set, bytearray):
                    yield from _leaves_in([*path, [name]], part, _DEEPEST)
        return
    if len(value) <= _MOST_ITEMS:
        for index, item in inner:
            if type(item) not in _IMMUTABLE:
                yield from _leaves_in([*path, index], item, depth + 1)


def is_callback(value: Any) -> bool:
    """Whether this is a function that the program defines, or a method of one of its objects."""
    if isinstance(value, types.MethodType):
        return is_callback(value.__func__)
    if isinstance(value, types.BuiltinMethodType):
        return isinstance(value.__self__, list | dict | set | deque | io.BytesIO | io.StringIO | bytearray)
    return isinstance(value, types.FunctionType) and not value.__code__.co_filename.startswith((*_INSTALLED, "<"))


def _is_own(value: Any) -> bool:
    """Whether an object has attributes, and a class that the program itself defines."""
    kind = type(value)
    if isinstance(value, collections.UserList | collections.UserDict):
        return True
    if issubclass(kind, type | types.ModuleType | BaseException) or hasattr(kind, "__get__"):
        return False
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is not None and hasattr(value, "__dict__") and not file.startswith(_INSTALLED)


def _memory_of(value: Any) -> memoryview | None:
    """The memory of an object that may be written; None if there is none, or it is not contiguous."""
    if not isinstance(value, bytearray | memoryview | array.array) and not _is_foreign_buffer(value):
        return None
    try:
        memory = memoryview(value)
        return None if memory.readonly or not memory.c_contiguous else memory.cast("B")
    except (TypeError, ValueError, BufferError):
        return None


def _is_foreign_buffer(value: Any) -> bool:
    ctypes: Any = sys.modules.get("_ctypes")
    if values.is_array(value):
        return not value.dtype.hasobject
    return ctypes is not None and isinstance(value, ctypes.Array | ctypes.Structure)


def _contents(value: Any) -> Any:
    return list(value.flat) if value.dtype.hasobject else value.copy()


# ---- what has changed


def _changed_bytes(value: Any, before: bytes, encode: Encode) -> list[Any] | None:
    memory = _memory_of(value)
    after = b"" if memory is None else memory.tobytes()
    if after == before:
        return None
    start = _common_length(before, after) if len(before) == len(after) else 0
    end = len(after)
    if len(before) == len(after):
        end -= _common_length(before[start:][::-1], after[start:][::-1])
    return ["bytes", [len(after), start, base64.b64encode(after[start:end]).decode("ascii")]]


def _filled_bytes(value: Any, result: Any, encode: Encode) -> list[Any] | None:
    memory = _memory_of(value)
    after = b"" if memory is None else memory.tobytes()
    written = after[: _bytes_written(result, len(after))]
    return ["bytes", [len(after), 0, base64.b64encode(written).decode("ascii")]] if written else None


def _common_length(first: bytes, second: bytes) -> int:
    """How many bytes at the beginning are the same."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _changed_items(value: Any, before: list[Any], encode: Encode) -> list[Any] | None:
    now = list(value.flat) if values.is_array(value) else list(value)
    if len(now) == len(before) and all(map(_is_same, now, before)):
        return None
    places = {id(item): index for index, item in reversed(list(enumerate(before)))}
    items: list[Any] = []
    for index, item in enumerate(now):
        if id(item) in places:
            items.append(places[id(item)])
            continue
        encoded, shown = encode(item)
        if shown is not item and not values.is_array(value):
            value[index] = shown
        items.append([encoded])
    return ["items", items]


def _changed_keys(value: Any, before: dict[Any, Any], encode: Encode) -> list[Any] | None:
    new = [(key, item) for key, item in value.items() if key not in before or before[key] is not item]
    gone = [key for key in before if key not in value]
    if not new and not gone:
        return None
    pairs = []
    for key, item in new:
        encoded, shown = encode(item)
        if shown is not item:
            value[key] = shown
        pairs.append([encode(key)[0], encoded])
    return ["keys", [pairs, [encode(key)[0] for key in gone]]]


def _changed_attributes(value: Any, before: dict[str, Any], encode: Encode) -> list[Any] | None:
    changed = _changed_keys(vars(value), before, encode)
    return None if changed is None else ["attributes", changed[1]]


def _changed_file(value: Any, before: Any, encode: Encode) -> list[Any] | None:
    now = None if value.closed else (value.getvalue(), value.tell())
    return None if now == before else ["file", encode(now)[0]]


def _changed_set(value: Any, before: set[Any], encode: Encode) -> list[Any] | None:
    return None if value == before else ["set", encode(set(value))[0]]


def _changed_array(value: Any, before: Any, encode: Encode) -> list[Any] | None:
    return None if value.tobytes() == before.tobytes() else ["npy", values.encoded_array(value.copy())]


def _is_same(first: Any, second: Any) -> bool:
    return first is second


_ENCODERS: Final[Mapping[str, Callable[[Any, Any, Encode], list[Any] | None]]] = {
    "bytes": _changed_bytes,
    "filled": _filled_bytes,
    "items": _changed_items,
    "keys": _changed_keys,
    "attributes": _changed_attributes,
    "file": _changed_file,
    "set": _changed_set,
    "npy": _changed_array,
}


# ---- in a replay


def argument_at(path: Path, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """The object to which a path leads."""
    value = keywords[path[0]] if isinstance(path[0], str) else arguments[path[0]]
    for place in path[1:]:
        value = vars(value)[place[0]] if isinstance(place, list) else value[place]
    return value


def repeat_effects(
    effects: Sequence[Any], arguments: Sequence[Any], keywords: Mapping[str, Any], decode: Decode
) -> None:
    """Do to the arguments of this run what the recorded call did to its arguments."""
    for path, kind, content in effects:
        _REPEATERS[kind](argument_at(path, arguments, keywords), content, decode)


def _repeat_bytes(target: Any, content: Any, decode: Decode) -> None:
    length, start, encoded = content
    new = base64.b64decode(encoded)
    if isinstance(target, bytearray) and len(target) != length:
        target[:] = new
        return
    with memoryview(target) as memory, memory.cast("B") as plain:
        plain[start : start + len(new)] = new


def _repeat_items(target: Any, content: Any, decode: Decode) -> None:
    before = list(target.flat) if values.is_array(target) else list(target)
    items = [before[item] if isinstance(item, int) else decode(item[0]) for item in content]
    if isinstance(target, deque):
        target.clear()
        target.extend(items)
    elif values.is_array(target):
        for index, item in enumerate(items):
            target.flat[index] = item
    else:
        target[:] = items


def _repeat_keys(target: Any, content: Any, decode: Decode) -> None:
    pairs, gone = content
    for key in gone:
        del target[decode(key)]
    for key, item in pairs:
        target[decode(key)] = decode(item)


def _repeat_attributes(target: Any, content: Any, decode: Decode) -> None:
    _repeat_keys(vars(target), content, decode)


def _repeat_file(target: Any, content: Any, decode: Decode) -> None:
    now = decode(content)
    if now is None:
        target.close()
        return
    target.seek(0)
    target.truncate()
    target.write(now[0])
    target.seek(now[1])


def _repeat_set(target: Any, content: Any, decode: Decode) -> None:
    target.clear()
    target.update(decode(content))


def _repeat_array(target: Any, content: Any, decode: Decode) -> None:
    target[...] = decode(content)


_REPEATERS: Final[Mapping[str, Callable[[Any, Any, Decode], None]]] = {
    "bytes": _repeat_bytes,
    "items": _repeat_items,
    "keys": _repeat_keys,
    "attributes": _repeat_attributes,
    "file": _repeat_file,
    "set": _repeat_set,
    "npy": _repeat_array,
}
