"""Values as short text: how a trace shows arguments and results.

Showing a value never fails and never takes long: containers are shown up to a few items, and long text is cut before
it is formatted. The program's own `__repr__` methods run only if the option `reprs` asks for them. Then a class whose
`__repr__` was slow once is not called again, nor is one whose module is still being imported. Secrets are masked.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import fnmatch
import functools
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from types import (
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, Final, TypeAlias

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.clock import perf_counter
from cassette_import.interpreter.namespaces import IMMUTABLE, bases_of, class_namespace, module_namespace
from cassette_import.kits.text import printable

__all__ = ["MASK", "Secrets", "Shortener"]

# ---- secrets: which names belong to secret values, and the secret values found so far

MASK: Final = "***"
_MOST_SECRETS: Final = 1000
_NAME: Final = re.compile(r"[\w.-]{1,80}")


class Secrets:
    """The names of secrets, given as patterns, and the values that had such a name so far.

    Parameters
    ----------
    patterns:
        Patterns such as ``*password*``, separated by ``+`` or ``|``. Case is ignored.

    Example
    -------
    >>> secrets = Secrets("*password*|token")
    >>> secrets.is_name("db_PASSWORD"), secrets.is_name("tokenize"), secrets.is_name(3)
    (True, False, False)
    """

    def __init__(self, patterns: str = "") -> None:
        parts = [part.strip().lower() for part in re.split(r"[|+]", patterns)]
        translated = "|".join(fnmatch.translate(part) for part in parts if part)
        self._names = re.compile(translated) if translated else None
        self.are_masked = self._names is not None
        """Whether there are any patterns."""
        self._values: dict[str, None] = {}

    def is_name(self, name: object) -> bool:
        """Whether a value of this name is a secret."""
        return (
            self._names is not None
            and type(name) is str
            and _NAME.fullmatch(name) is not None
            and self._names.match(name.lower()) is not None
        )

    def add(self, value: object) -> None:
        """Mask this value from now on, wherever it appears."""
        text = value.decode("latin-1") if type(value) is bytes else value
        if type(text) is str and len(text) > 3 and len(self._values) < _MOST_SECRETS:
            self._values[text] = None

    def are_in(self, text: str) -> bool:
        """Whether the text contains a secret value found before."""
        return any(secret in text for secret in list(self._values))

    def masked(self, text: str) -> str:
        """The text with all secret values found before masked."""
        for secret in list(self._values):
            text = text.replace(secret, MASK)
        return text


# ---- the attributes stored in an object, read without running the program's code: no `__repr__`, no property
#
# A `__repr__` may import modules, query a database, or make a property cache a value too early.

_CONTAINER_TYPES: Final = frozenset(
    map(id, (MethodType, MappingProxyType, SimpleNamespace, type({}.keys()), type({}.values()), type({}.items())))
)
"""Types written in C whose `__repr__` calls that of other objects."""
_CONTAINER_MODULES: Final = frozenset({"collections", "dataclasses", "functools", "reprlib"})
"""Modules of the standard library with such classes in Python."""


def _has_independent_repr(kind: type) -> bool:
    """Whether the `__repr__` of a class belongs to Python or its standard library, and calls that of no other object.

    >>> from fractions import Fraction
    >>> _has_independent_repr(Fraction), _has_independent_repr(functools.partial)
    (True, False)
    """
    repr_method = lookup(kind, "__repr__")
    if type(repr_method) is FunctionType:
        module = repr_method.__globals__.get("__name__")
        root = module.partition(".")[0] if type(module) is str else ""
        return root in sys.stdlib_module_names and root not in _CONTAINER_MODULES
    return id(kind) not in _CONTAINER_TYPES and not issubclass(kind, (functools.partial, MethodType, SimpleNamespace))


def _stored_attributes(value: Any, count: int) -> Iterator[tuple[str, Any]]:
    """Names and values of the first attributes that an object stores in its slots and its `__dict__`.

    >>> class Point:
    ...     __slots__ = ("x", "y", "__dict__")
    >>> point = Point()
    >>> point.x, point.z = 1, 3
    >>> list(_stored_attributes(point, 3))
    [('x', 1), ('z', 3)]
    """
    return islice(_all_attributes(value), count)


def _slots_of(kind: type) -> Iterator[tuple[str, Any]]:
    """Names and descriptors of the slots of a class and its bases.

    >>> class Point:
    ...     __slots__ = ("x", "__dict__")
    >>> [name for name, _ in _slots_of(Point)]
    ['x']
    """
    for base in bases_of(kind) or ():
        for name, found in list(class_namespace(base).items()):
            if type(found) is MemberDescriptorType and type(name) is str and not name.startswith("__"):
                yield name, found


def _namespace_of(kind: type) -> Any:
    """The descriptor of the `__dict__` of a class's instances; None if they have none, or one that runs code."""
    found = lookup(kind, "__dict__")
    return found if type(found) in (GetSetDescriptorType, MemberDescriptorType) else None


def _all_attributes(value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    for name, found in _slots_of(kind):
        try:
            yield name, found.__get__(value, kind)
        except (AttributeError, TypeError):  # an empty slot
            continue
    namespace = _namespace_of(kind)
    stored: Any = None if namespace is None else namespace.__get__(value, kind)
    if issubclass(type(stored), dict):
        for name, item in list(dict.items(stored)):
            if type(name) is str:
                yield name, item


# ---- values as short text: how a trace shows arguments and results

_ITEMS: Final = 6
_LEVELS: Final = 3
_ATTRIBUTES: Final = 3
_MOST_FIELDS: Final = 100
_CONTAINER_FACTOR: Final = 8
"""A container may be this many times as long as a simple value."""
_PATIENCE: Final = 0.02
"""A `__repr__` that takes more seconds than this is not called again."""
_NAMED_TUPLES: Final = collections.UserDict.__init__.__code__.co_filename  # `namedtuple` is diverted
_SMALL: Final = frozenset(map(id, (type(None), bool, float)))
"""Simple types by identity, since hashing a class may run the program's metaclass."""
_SMALL_NUMBER: Final = 10**15
_FAILURES: Final = Exception, SystemExit, GeneratorExit
"""Exceptions that must not reach the program. KeyboardInterrupt must."""
_CONTAINERS: Final = list, tuple, dict
_VALUES: Final = int, str, float, bytes
"""The types whose `repr` enumerations use for values that are instances of them."""
_WITH_REPR_IN_C: Final = frozenset(
    {*(("datetime", name) for name in ("date", "datetime", "time", "timedelta", "timezone")), ("decimal", "Decimal")}
)
_NAMES_OF_CLASSES: Final = tuple(
    (name, class_namespace(type).get(name)) for name in ("__name__", "__qualname__", "__getattribute__", "__getattr__")
)
"""How `type` finds names and attributes of a class; another metaclass may find other ones, by code of the program."""


Form: TypeAlias = tuple[str, Any, Any, tuple[tuple[str, Any], ...], Any, dict[str, Any] | None]
"""How instances of a class are shown: what their text begins with, up to the address or the first attribute. If they
have attributes, what the text of one without any begins with, the descriptor of `__dict__`, and the slots. The names
of their fields, if they are shown as arguments of a call: with `tuple` for the descriptor they are items. For a
dataclass, the fields themselves: while they are the same, so is the form.

With `Enum` for the fields they are members of an enumeration: the second item is the type of their values, or None, and
the names in the slots are those of their attributes. With `repr` the text is what `repr` returns, which calls no other
code as long as the third item, a descriptor, finds None."""


class Shortener:
    """Makes short text of values.

    Parameters
    ----------
    width:
        The most characters of a value that is not a container. A container may have eight times as many.
    secrets:
        Which values to mask.
    reprs:
        Whether `__repr__` methods of the program are called. If not, the class and some attributes are shown.

    Example
    -------
    >>> show = Shortener(20)
    >>> show([1, "two", {"three": b"4" * 1000}])
    "[1, 'two', {'three': b'444444...44444444'}]"
    >>> show(range(3)), show(10 ** 100)
    ('range(0, 3)', '<int of 333 bits>')
    """

    def __init__(self, width: int, secrets: Secrets | None = None, *, reprs: bool = False) -> None:
        self.width = max(width, 8)
        """The most characters of a value that is not a container."""
        self._secrets = secrets or Secrets()
        self._calls_reprs = reprs
        self._slow: set[type] = set()
        self._imported: set[type] = set()  # whose modules are known to be complete

    def __call__(self, value: Any) -> str:
        """The value on one line."""
        if not self._secrets.are_masked:  # the fast path: most values are short
            kind = type(value)
            is_small = id(kind) in _SMALL or (kind is int and -_SMALL_NUMBER < value < _SMALL_NUMBER)
            if is_small or (kind is str and 2 * len(value) < self.width and value.isprintable()):
                return repr(value)
        text = None
        try:
            text = self._show(value, _LEVELS)
        except _FAILURES:  # raised by the program's classes
            pass
        if text is None:
            text = _anonymous(value)
        if self._secrets.are_masked or len(text) > _CONTAINER_FACTOR * self.width:
            text = self._cut(self._secrets.masked(text), _CONTAINER_FACTOR * self.width)
        return printable(text)

    def _show(self, value: Any, levels: int) -> str:
        kind = type(value)
        shower = _SHOWERS.get(kind)
        if shower is not None:
            return shower(self, value, levels)
        repr_method = lookup(kind, "__repr__")
        shower = _BY_REPR.get(repr_method)  # subclasses that inherit the `__repr__` of a built-in type
        if shower is not None:
            return shower(self, value, levels)
        if isinstance(repr_method, FunctionType):
            if _is_named_tuple(kind, repr_method):
                pairs = zip(getattr(kind, "_fields", ()), tuple.__iter__(value), strict=False)
                return self._call(kind.__name__, (), pairs, levels)
            if _has_generated_repr(kind, repr_method):
                return self._call(kind.__qualname__, (), self._fields(value, kind), levels)
        if not self._calls_reprs and not _has_independent_repr(kind):
            return self._state(value, kind, levels)
        return self._cut(self._by_repr(value, kind))

    def part(self, value: Any, levels: int) -> str:
        """A value in a container or an object, in which containers are shown so many levels deep.

        Exceptions of the program's classes are raised.
        """
        return self._show(value, levels)

    def form(self, value: Any) -> Any:
        """How the instances of a value's class are shown, as far as that is the same for all; None if it is not.

        The result is a `Form`, or `list`, `tuple` or `dict` if they are shown as these are, and `NotImplemented` if it
        is not known yet, because the module of the class is being imported.

        It mirrors `_show`. The class may have other bases and attributes later, and then another form.
        """
        kind = type(value)
        repr_method = lookup(kind, "__repr__")
        if _is_repr_of_members(repr_method) or _has_repr_in_c(kind, repr_method):
            return NotImplemented if self._is_being_imported(kind) else _form_of_text(kind, repr_method)
        if kind in _SHOWERS or any(lookup(type(kind), name) is not found for name, found in _NAMES_OF_CLASSES):
            return None
        for base in _CONTAINERS:
            if repr_method is base.__repr__ and issubclass(kind, base):
                return base
        shower = _BY_REPR.get(repr_method)
        if shower is Shortener._simple:
            head, _, address = repr(value).rpartition("0x")
            return (head, None, None, (), None, None) if address == f"{id(value):x}>" and _is_plain(head) else None
        names = kind.__name__, kind.__qualname__
        if shower is not None or self._calls_reprs or not all(map(_is_plain, names)):
            return None
        if isinstance(repr_method, FunctionType):
            if _is_named_tuple(kind, repr_method):
                return _form_of_fields(names[0], getattr(kind, "_fields", ()), tuple, (), None)
            if _has_generated_repr(kind, repr_method):
                every = getattr(kind, "__dataclass_fields__", None)
                if type(every) is not dict or any(type(field) is not dataclasses.Field for field in every.values()):
                    return None
                fields = [field.name for field in dataclasses.fields(kind) if field.repr]
                return _form_of_fields(names[1], fields, _namespace_of(kind), tuple(_slots_of(kind)), every)
        if _has_own_text(kind):
            return None
        return f"<{names[1]}", f"<{names[0]} instance at ", _namespace_of(kind), tuple(_slots_of(kind)), None, None

    def _fields(self, value: Any, kind: type) -> list[tuple[str, Any]]:
        names = [field.name for field in dataclasses.fields(kind) if field.repr]
        if self._calls_reprs:
            return [(name, getattr(value, name)) for name in names]
        held = dict(_stored_attributes(value, _MOST_FIELDS))
        return [(name, held[name]) for name in names if name in held]

    def _state(self, value: Any, kind: type, levels: int) -> str:
        """The class and some attributes; of nested objects, only the class."""
        parts = [_SHOWERS[base](self, value, levels) for base in _CONTAINERS if issubclass(kind, base)]
        if levels:
            parts += [f"{name}={self.named(name, item, 0)}" for name, item in _stored_attributes(value, _ATTRIBUTES)]
        return self._cut(f"<{kind.__qualname__} {' '.join(parts)}>", 2 * self.width) if parts else _anonymous(value)

    def _by_repr(self, value: Any, kind: type) -> str:
        """The result of `repr`, if it may be called and succeeds."""
        if kind in self._slow or (kind not in self._imported and self._is_being_imported(kind)):
            return _anonymous(value)
        began = perf_counter()
        try:
            return repr(value)
        except _FAILURES:  # RecursionError among others
            pass
        finally:
            if perf_counter() - began > _PATIENCE:
                self._slow.add(kind)
        return _anonymous(value)

    def _is_being_imported(self, kind: type) -> bool:
        """Whether the class's module, or a package around it, is still being imported.

        Then its `__repr__` might import modules in another order than the program does, and meet an incomplete one.
        """
        name = kind.__module__
        while name:
            module = sys.modules.get(name)
            spec = module_namespace(module).get("__spec__") if type(module) is ModuleType else None
            if getattr(spec, "_initializing", False):
                return True
            name = name.rpartition(".")[0]
        self._imported.add(kind)
        return False

    def _cut(self, text: str, width: int = 0) -> str:
        width = width or self.width
        if len(text) <= width:
            return text
        head = (width - 3) // 2
        return f"{text[:head]}...{text[len(text) - (width - 3 - head) :]}"

    # ---- one method for each kind of value

    def _text(self, value: Any, levels: int) -> str:
        if self._secrets.are_in(value if isinstance(value, str) else value.decode("latin-1")):
            return repr(MASK)
        if len(value) > 2 * self.width:
            value = value[: self.width] + value[-self.width :]
        return self._cut(repr(value))

    def _number(self, value: int, levels: int) -> str:
        bits = value.bit_length()
        return f"<int of {bits} bits>" if bits > 3.3 * self.width else repr(value)

    def _simple(self, value: Any, levels: int) -> str:
        text = repr(value)
        return text if len(text) <= self.width else self._cut(text)

    def _list(self, value: Any, levels: int) -> str:
        return f"[{self._items(list.__iter__(value), list.__len__(value), levels)}]"

    def _tuple(self, value: Any, levels: int) -> str:
        count = tuple.__len__(value)
        return f"({self._items(tuple.__iter__(value), count, levels)}{',' * (count == 1)})"

    def _set(self, value: Any, levels: int) -> str:
        shown = f"{{{self._items(iter(value), len(value), levels)}}}" if value else ""
        name = type(value).__name__
        return shown if name == "set" and shown else f"{name}({shown})"

    def _dict(self, value: Any, levels: int) -> str:
        if levels <= 0 and dict.__len__(value):
            return "{...}"
        parts = []
        for key, item in itertools.islice(dict.items(value), _ITEMS):
            shown = self.named(key, item, levels - 1) if type(key) is str else self._show(item, levels - 1)
            parts.append(f"{self._show(key, levels - 1)}: {shown}")
        return f"{{{', '.join(parts)}{', ...' * (dict.__len__(value) > _ITEMS)}}}"

    def _named_dict(self, value: Any, levels: int) -> str:
        leading = f"{value.default_factory!r}, " if isinstance(value, collections.defaultdict) else ""
        return f"{type(value).__name__}({leading}{self._dict(value, levels)})"

    def _deque(self, value: Any, levels: int) -> str:
        return f"deque([{self._items(iter(value), len(value), levels)}])"

    def _exception(self, value: BaseException, levels: int) -> str:
        return self._call(type(value).__name__, value.args, (), levels)

    def _items(self, values: Iterable[Any], count: int, levels: int) -> str:
        if levels <= 0 and count:
            return "..."
        parts = [self._show(item, levels - 1) for item in itertools.islice(values, _ITEMS)]
        return ", ".join(parts) + ", ..." * (count > _ITEMS)

    def _call(self, name: str, values: Iterable[Any], named: Iterable[tuple[str, Any]], levels: int) -> str:
        if levels <= 0:
            return f"{name}(...)"
        parts = [self._show(value, levels - 1) for value in itertools.islice(values, _ITEMS)]
        parts += [f"{key}={self.named(key, value, levels - 1)}" for key, value in itertools.islice(named, 2 * _ITEMS)]
        return f"{name}({', '.join(parts)})"

    def named(self, name: object, value: Any, levels: int = _LEVELS) -> str:
        """A value that has a name; masked if the name is that of a secret."""
        if self._secrets.is_name(name):
            self._secrets.add(value)
            return MASK
        return self._show(value, levels) if levels < _LEVELS else self(value)


def _is_named_tuple(kind: type, repr_method: FunctionType) -> bool:
    """Whether the class is a named tuple with the `__repr__` that `namedtuple` made."""
    return repr_method.__code__.co_filename == _NAMED_TUPLES and issubclass(kind, tuple)


def _form_of_fields(
    name: str, fields: Iterable[str], namespace: Any, slots: tuple[tuple[str, Any], ...], every: dict[str, Any] | None
) -> Form | None:
    """The form of a class whose fields are shown; None if the extension cannot tell them apart."""
    shown = tuple(fields)
    slot_names = [slot for slot, _ in slots]
    if not all(map(_is_plain, (*shown, *slot_names))) or len({*slot_names}) < len(slot_names):
        return None
    return name, None, namespace, slots, shown, every


def _form_of_text(kind: type, repr_method: Any) -> Form | None:
    """The form of a class whose objects are shown by their `repr`."""
    if not _is_repr_of_members(repr_method):
        return "", None, class_namespace(kind).get("tzinfo"), (), repr, None
    name, values = type.__dict__["__name__"].__get__(kind), lookup(kind, "_value_repr_")
    of_types = [None] if values is None or values is repr else [base for base in _VALUES if values is base.__repr__]
    is_usual = (
        lookup(kind, "__class__") is lookup(object, "__class__")
        and any(lookup(kind, "__getattribute__") is base.__getattribute__ for base in (object, *_VALUES))
        and all(lookup(type(kind), name) is lookup(type, name) for name in ("__name__", "__getattribute__"))
        and lookup(kind, "_name_") is lookup(kind, "_value_") is None
    )
    if not of_types or not is_usual or not _is_plain(name):
        return None
    return f"<{name}.", of_types[0], _namespace_of(kind), (("_name_", None), ("_value_", None)), enum.Enum, None


def _is_repr_of_members(repr_method: Any) -> bool:
    return any(repr_method is known for known in (enum.Enum.__repr__, enum.Flag.__repr__))


def _has_repr_in_c(kind: type, repr_method: Any) -> bool:
    """Whether the `repr` of objects is written in C and calls no other code."""
    if not type.__dict__["__flags__"].__get__(kind) & IMMUTABLE:
        return issubclass(kind, type) and repr_method is type.__repr__
    return (kind.__module__, kind.__name__) in _WITH_REPR_IN_C


def _has_own_text(kind: type) -> bool:
    """Whether objects of a class that have no fields are shown by more than some attributes, see `Shortener._show`."""
    return issubclass(kind, _CONTAINERS) or _has_independent_repr(kind)


def _is_plain(text: object) -> bool:
    return type(text) is str and text.isascii() and text.isprintable()


def _has_generated_repr(kind: type, repr_method: FunctionType) -> bool:
    """Whether the class is a dataclass with the `__repr__` that `dataclass` generated."""
    parameters = getattr(kind, "__dataclass_params__", None)
    inner = getattr(repr_method, "__wrapped__", repr_method)
    return bool(parameters is not None and parameters.repr and inner.__code__.co_filename == "<string>")


def _anonymous(value: Any) -> str:
    return f"<{type(value).__name__} instance at {id(value):#x}>"


_Shower = Callable[[Shortener, Any, int], str]
_SHOWERS: Final[Mapping[type, _Shower]] = {
    str: Shortener._text,
    bytes: Shortener._text,
    bytearray: Shortener._text,
    int: Shortener._number,
    list: Shortener._list,
    tuple: Shortener._tuple,
    set: Shortener._set,
    frozenset: Shortener._set,
    dict: Shortener._dict,
    collections.OrderedDict: Shortener._named_dict,
    collections.defaultdict: Shortener._named_dict,
    collections.Counter: Shortener._named_dict,
    collections.deque: Shortener._deque,
    **dict.fromkeys((type(None), bool, float, complex, type, range, type(len), FunctionType), Shortener._simple),
}
_BY_REPR: Final[Mapping[Any, _Shower]] = {
    **{kind.__repr__: shower for kind, shower in _SHOWERS.items() if kind in (list, tuple, dict)},
    BaseException.__repr__: Shortener._exception,
    object.__repr__: Shortener._simple,
}
