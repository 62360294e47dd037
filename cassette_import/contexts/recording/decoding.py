"""Values from JSON, as `encoding` writes them.

A function that the caller passes decodes references. The modules that a recording names are imported, and its classes
are called.
"""

from __future__ import annotations

import base64
import collections
import functools
import importlib
import io
import sys
import threading
from collections.abc import Callable
from typing import Any, Final

__all__ = ["CONSTRUCTORS", "BadValue", "Decoder", "decoded_array", "encoded_array", "is_array", "located"]

# ---- numPy's arrays and scalars as JSON and back, in the format of `.npy` files
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


def decoded_array(content: str) -> Any:
    """The array that was encoded; a scalar comes back as an array without dimensions."""
    return importlib.import_module("numpy").load(io.BytesIO(base64.b64decode(content)), allow_pickle=False)


# ---- values from JSON, as `encoding` writes them

CONSTRUCTORS: Final = {"copyreg:_reconstructor", "array:_array_reconstructor", "zoneinfo:ZoneInfo._unpickle"}
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
        found = sys.modules.get(module_name) or importlib.import_module(module_name)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadValue(f"{text} cannot be found here: {error}") from error
    return found


class Decoder:
    """From JSON to values.

    Parameters
    ----------
    decode_reference:
        Called with the tag and the content of what the encoder's `encode_reference` has written. Returns the object.
    """

    def __init__(self, decode_reference: Callable[[str, Any], Any]) -> None:
        self._decode_reference = decode_reference
        self._thread = _Thread()

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
        made: list[Any] = []
        enclosing = self._thread.enclosing
        enclosing.append(made)
        try:
            made += map(self, content)
        finally:
            enclosing.pop()
        return made

    def _dict(self, content: Any) -> Any:
        made: dict[Any, Any] = {}
        enclosing = self._thread.enclosing
        enclosing.append(made)
        try:
            made.update((self(key), self(value)) for key, value in content)
        finally:
            enclosing.pop()
        return made

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
            made: Any = cls.__new__(cls, *arguments)
        elif how == "call":
            made = cls(*arguments)
        elif how in CONSTRUCTORS:
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
            raise BadValue(f"{content} is not a class")
        return found


class _Thread(threading.local):
    """The lists and dicts that a thread is decoding, outermost first."""

    def __init__(self) -> None:
        self.enclosing: list[Any] = []


@functools.lru_cache
def _named_tuple_class(name: str, fields: tuple[str, ...]) -> type:
    """The class of a named tuple: the one of this name if it has these fields, otherwise a new one."""
    try:
        found = located(name)
    except BadValue:
        found = None
    if isinstance(found, type) and issubclass(found, tuple) and getattr(found, "_fields", None) == fields:
        return found
    module, _, qualified = name.partition(":")
    # For the type checker: the names of the fields are known at run time alone.
    made: type = collections.namedtuple(qualified.rpartition(".")[2], fields, module=module)  # type: ignore[misc]
    made.__qualname__ = qualified
    return made


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
    "npy": lambda decode, content: decoded_array(content),
    "npy scalar": lambda decode, content: decoded_array(content)[()],
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
