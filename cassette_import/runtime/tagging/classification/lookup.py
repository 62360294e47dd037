"""Lookup in the classification: from a callable to its kind.

The names of a module are resolved when the first question comes after the module has been imported: no module is
imported for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Final, NamedTuple

from cassette_import.interpreter.callables import underlying
from cassette_import.interpreter.namespaces import bases_of, class_namespace, is_a
from cassette_import.runtime.tagging.classification.tables import ITSELF, TABLES, Table, names_in

# ---- the classification of special methods by name, where they do the same in all classes
#
# Containers have other rows for some of them in the table of their module.

SPECIAL_METHODS: Final = Table(
    moves={ITSELF: "__iter__ __aiter__"},
    computes=(
        "__abs__ __add__ __radd__ __iadd__ __and__ __rand__ __iand__ __bytes__ __ceil__ __complex__ __divmod__"
        " __rdivmod__ __float__ __floor__ __floordiv__ __rfloordiv__ __index__ __int__ __invert__ __lshift__"
        " __rlshift__ __mod__ __rmod__ __mul__ __rmul__ __imul__ __neg__ __or__ __ror__ __ior__ __pos__ __pow__"
        " __rpow__ __round__ __rshift__ __rrshift__ __sub__ __rsub__ __isub__ __truediv__ __rtruediv__ __trunc__"
        " __xor__ __rxor__ __ixor__ __matmul__ __rmatmul__ __missing__ __getitem__ __setitem__ __buffer__"
        " __set__ __getattr__ __get__ __next__ __anext__ __reversed__ __copy__ __deepcopy__ __replace__ __setattr__"
        " __setstate__ __enter__ __aenter__ __reduce__ __reduce_ex__ __getstate__ __getnewargs__ __getnewargs_ex__"
        " __getattribute__ __new__ __init__ __call__"
    ),
    consumes=(
        "__bool__ __contains__ __len__ __length_hint__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__"
        " __instancecheck__ __subclasscheck__ __delattr__ __delete__ __delitem__ __del__ __exit__ __aexit__"
        " __sizeof__ __alloc__ __release_buffer__ __await__"
    ),
    writes="__repr__ __str__ __format__",
    creates=(
        "__class_getitem__ __dir__ __getformat__ __setformat__ __init_subclass__ __mro_entries__ __prepare__"
        " __set_name__ __signature__ __subclasses__ __subclasshook__ __new_member__"
        " __typing_subst__ __typing_prepare_subst__ __typing_unpacked_tuple_args__"
    ),
)


# ---- lookup in the classification: from a callable to its kind

MOVES: Final = "moves"
COMPUTES: Final = "computes"
CONSUMES: Final = "consumes"
CREATES: Final = "creates"
UNCLASSIFIED: Final = "unclassified"

_OF_EXCEPTIONS: Final = "arguments become items of the attribute `args`"


class _Row(NamedTuple):
    callable: Any
    kind: str
    way: str = ""
    writes: bool = False


_rows: Final[dict[int, _Row]] = {}
"""The classification of callables by identity."""

_resolved: Final[set[str]] = set()
"""The names of the modules whose tables are in `_rows`."""


def classification(function: Any) -> str:
    """The kind of a callable: `moves`, `computes`, `consumes`, `creates` or `unclassified`.

    >>> classification(list.append), classification([].pop), classification(len)
    ('moves', 'moves', 'consumes')
    >>> classification(abs), classification(object.__dir__), classification(lambda: 0)
    ('computes', 'creates', 'unclassified')
    """
    return _row_of(function).kind


def way_of(function: Any) -> str:
    """What a callable that moves values moves where, in words; the empty string for other callables.

    >>> way_of(list.append)
    'the argument becomes an item'
    """
    return _row_of(function).way


def is_output(function: Any) -> bool:
    """Whether a callable consumes values by making text of them, or by writing them somewhere.

    >>> is_output(print), is_output(len)
    (True, False)
    """
    return _row_of(function).writes


_UNKNOWN: Final = _Row(None, UNCLASSIFIED)


def _row_of(function: Any) -> _Row:
    function = underlying(function)
    row = _rows.get(id(function))
    if row is None and len(_resolved) < len(TABLES):
        _resolve_imported()
        row = _rows.get(id(function))
    if row is not None:
        return row
    if is_a(function, type) and issubclass(function, BaseException):
        return _Row(function, MOVES, _OF_EXCEPTIONS)
    return _UNKNOWN


def _resolve_imported() -> None:
    """Resolve the names of the modules that have been imported since the last question."""
    imported = [name for name in TABLES if name not in _resolved and name in sys.modules]
    _resolved.update(imported)
    for name in imported:
        _resolve(sys.modules[name], TABLES[name])
    for name in imported:  # what the tables name comes first: modules have classes of other modules, too
        for owner in [found for found in vars(sys.modules[name]).values() if is_a(found, type)]:
            _resolve_special_methods(owner)


def _resolve(module: ModuleType, table: Table) -> None:
    wildcards: list[tuple[Any, str, str, bool]] = []
    for names, kind, way, writes in _columns(table):
        for name in names_in(names):
            owner_name, _, method = name.rpartition(".")
            owner = vars(module).get(owner_name) if owner_name else module
            if owner is None:
                continue  # this version of Python does not have it
            if method == "*":
                wildcards.append((owner, kind, way, writes))
            elif method in vars(owner):
                _add(vars(owner)[method], kind, way, writes)
            elif owner is module and hasattr(module, method):  # a module with a `__getattr__`
                found = getattr(module, method)
                _add(found, kind, way, writes)
                _resolve_special_methods(found)
    for owner, kind, way, writes in wildcards:
        for found in class_namespace(owner).values():
            if callable(found) or is_a(found, (classmethod, staticmethod)):
                _add(found, kind, way, writes)


def _columns(table: Table) -> Iterator[tuple[str, str, str, bool]]:
    for way, names in table.moves.items():
        yield names, MOVES, way, False
    yield table.computes, COMPUTES, "", False
    yield table.consumes, CONSUMES, "", False
    yield table.writes, CONSUMES, "", True
    yield table.creates, CREATES, "", False


_special: Final[dict[str, tuple[str, str, bool]]] = {
    name: (kind, way, writes) for names, kind, way, writes in _columns(SPECIAL_METHODS) for name in names_in(names)
}


def _resolve_special_methods(owner: type) -> None:
    """Classify the special methods of a class that have no row in a table."""
    for base in bases_of(owner) or ():
        for name, found in class_namespace(base).items():
            row = _special.get(name)
            if row is not None:
                _add(found, *row)


def _add(found: Any, kind: str, way: str, writes: bool) -> None:
    function = underlying(found)
    _rows.setdefault(id(function), _Row(function, kind, way, writes))
