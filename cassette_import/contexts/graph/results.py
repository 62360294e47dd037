"""The result of a traced call as a template, and what of it each run makes anew.

A known object in the result that the call has made, such as an array, is another object in each call. One that is
older, such as a known argument or a table of a module, is the same, unless the call changes it: then it is a copy with
the changes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from typing import Any, Final

from cassette_import.contexts.common.numeric_values import can_change
from cassette_import.contexts.common.outliving import outliving
from cassette_import.contexts.graph.context import TraceContext
from cassette_import.contexts.graph.errors import NotRepresentable, refusal
from cassette_import.contexts.graph.nodes import Built, Constant, Made, Template, leaves_in
from cassette_import.contexts.graph.outside import NOT_FOLLOWED, Outside, namespace, reachable
from cassette_import.runtime.tagging.tag_scopes import own_store
from cassette_import.runtime.tagging.wrappers import metas_of, plain

__all__ = ["Parts", "is_plain_object", "store_of", "template_of"]

_COPIED: Final = (set, bytearray, deque)
_CONTAINERS: Final = (list, tuple, dict)
_MOST: Final = 10_000
_DEEPEST: Final = 100
_REFUSED: Final = "a graph cannot represent this"


class Parts:
    """The known values of a result, which are taken out of it while one looks for what refers to them.

    Attributes
    ----------
    values:
        The values. Nothing else of a trace refers to them in the block of `with`.
    """

    def __init__(self, result: Template) -> None:
        self._constants = [one for one in leaves_in(result) if isinstance(one, Constant)]
        self.values: list[Any] = []
        self._older: Collection[int] | None = None
        self._restored: frozenset[int] = frozenset()

    def __enter__(self) -> Parts:
        for constant in self._constants:
            self.values.append(constant.value)
            constant.value = None
        return self

    def __exit__(self, *error: object) -> None:
        for constant, value in zip(self._constants, self.values, strict=True):
            constant.value = value

    def look_for_outliving(self, outside: Outside) -> None:
        """Find the values, and parts of them, that something outside of the result refers to."""
        self._restored = outside.restored
        entries = {**_changeable(self.values), **outside.changed}
        self._older = outliving(entries, self.values, NOT_FOLLOWED) if entries else ()

    def made_anew(self, result: Template) -> Template:
        """The template, with copies of what is not older than the call."""
        if isinstance(result, Built):
            return Built(result.kind, tuple(map(self.made_anew, result.parts)), result.keys)
        return self._anew(result.value, 0) if isinstance(result, Constant) else result

    def _anew(self, value: Any, depth: int) -> Template:
        kind = type(value)
        is_restored = bool(self._restored) and not self._restored.isdisjoint(reachable([value]))
        if (self._older is None or id(value) in self._older) and not is_restored:
            return Constant(value)
        if depth > _DEEPEST:
            raise NotRepresentable(f"{_REFUSED}: the result contains itself\nReturn its parts")
        if can_change(value) or kind in _COPIED:
            return Made(value.copy())  # its former content comes back after the trace
        if kind in (list, tuple):
            return Built(kind, tuple(self._anew(one, depth + 1) for one in value))
        if kind is dict:
            return Built(kind, tuple(self._anew(one, depth + 1) for one in value.values()), tuple(value))
        if is_plain_object(value):
            return Built(kind, tuple(self._anew(one, depth + 1) for one in vars(value).values()), tuple(vars(value)))
        if is_restored:
            raise NotRepresentable(
                f"{_REFUSED}: the result has a known {kind.__name__} that the function changes\nReturn its parts"
            )
        return Constant(value)


def _changeable(values: list[Any]) -> dict[int, tuple[Any, ...]]:
    """The values that can change, and those that they consist of, as entries for `outliving`."""
    entries: dict[int, tuple[Any, ...]] = {}
    work = list(values)
    while work and len(entries) < _MOST:
        one = work.pop()
        kind = type(one)
        if id(one) in entries:
            continue
        if kind in (*_COPIED, *_CONTAINERS) or can_change(one) or is_plain_object(one):
            entries[id(one)] = one, []
        work += one if kind in (list, tuple) else one.values() if kind is dict else ()
        work += vars(one).values() if is_plain_object(one) else ()
    return entries


def is_plain_object(value: Any) -> bool:
    """Whether an object has attributes only, and a class of the program."""
    kind: Any = type(value)
    is_heap_type = bool(kind.__flags__ & 1 << 9)
    new: Any = kind.__new__
    return is_heap_type and new is object.__new__ and namespace(value) is not None and not _slots_of(kind)


def _slots_of(kind: type) -> list[str]:
    return [name for base in kind.__mro__ for name in vars(base).get("__slots__", ()) if name != "__dict__"]


def store_of(ctx: TraceContext) -> Any:
    """The store of the metadata of a trace."""
    return own_store(ctx, create=True)


def template_of(ctx: TraceContext, value: Any, around: frozenset[int] = frozenset()) -> Template:
    """The template of a result.

    Parameters
    ----------
    ctx:
        The context of the trace.
    value:
        The result, or a part of it.
    around:
        The identities of the objects that it is a part of.

    Raises
    ------
    NotRepresentable
        If it contains itself, or unknown values where a template has no place for them.
    """
    node, bare = ctx.node_of(value), plain(value)
    if node is not None:
        return node
    kind = type(bare)
    if id(bare) in around:
        raise NotRepresentable(f"{_REFUSED}: the result contains itself\nReturn its parts")
    around = around | {id(bare)}
    store: Any = own_store(ctx)
    if isinstance(bare, (list, tuple)) and (kind in (list, tuple) or hasattr(kind, "_fields")):
        return Built(kind, tuple(template_of(ctx, item, around) for item in store.wrapped_items(bare)))
    if kind is dict:
        slots = store.slots_by_key(bare)
        values = [store.load_part(store.items, bare, key, part) if key in slots else part for key, part in bare.items()]
        return Built(dict, tuple(template_of(ctx, part, around) for part in values), tuple(bare))
    if kind in (set, frozenset) and not metas_of(value):
        if store.slots_by_key(bare):
            raise NotRepresentable(f"{_REFUSED}: the result is a set of unknown values")
        return Constant(bare)
    entry = store.attributes.of(bare)
    if entry is not None and not is_plain_object(bare):
        raise refusal(f"the result is a {kind.__name__} with unknown parts", "Return its parts")
    if is_plain_object(bare) and (entry is not None or store.has_metadata_in(_parts(bare), _parts)):
        names = tuple(vars(bare))
        parts = [store.load_part(store.attributes, bare, name, vars(bare)[name]) for name in names]
        return Built(kind, tuple(template_of(ctx, part, around) for part in parts), names)
    return Constant(bare)


def _parts(value: Any) -> Iterable[Any]:
    """What a container or a simple object consists of."""
    if isinstance(value, (list, tuple)):
        return value
    return value.values() if isinstance(value, dict) else vars(value).values() if is_plain_object(value) else ()
