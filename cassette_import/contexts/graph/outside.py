"""What exists outside of the traced call: objects that it must not change, and known arguments, which are restored.

A graph computes results and has no effects. Every object that the program changes is noted with its former content.
What outlives the call must not be changed, unless it belongs to a known argument: what the function writes there is
undone after the trace, as if it had got a copy.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from types import CellType, GetSetDescriptorType, MemberDescriptorType, MethodType
from typing import Any, Final

from cassette_import.activation.context import Context
from cassette_import.contexts.graph.nodes import same
from cassette_import.interpreter.heap import functions_of
from cassette_import.kits.events import OVERDUBBED, CallSite, nearest_site
from cassette_import.kits.numbers.numeric_values import can_change
from cassette_import.kits.outliving import CODE, COPIED, OPAQUE, copy_of, fill, outliving

__all__ = ["NOT_FOLLOWED", "Outside", "namespace", "reachable", "slots_of", "stores_the_same"]

NOT_FOLLOWED: Final = (*OPAQUE, Context)
"""Where the search for references ends: a suspended generator refers to its context, which has noted all changes."""
_MOST: Final = 200_000
_NOTHING: Final = object()


class Outside:
    """The objects that a call changes.

    Parameters
    ----------
    f:
        The function.
    known:
        The known arguments.

    Attributes
    ----------
    unknown:
        Containers of the arguments that have unknown parts, by identity: the function must not change them.
    """

    def __init__(self, f: Callable[..., Any], known: list[Any]) -> None:
        self._own = reachable(known)
        self._noted: dict[int, tuple[Any, list[Any]]] = {}
        self._entries: dict[int, tuple[Any, list[Any], CallSite]] = {}
        self.unknown: dict[int, Any] = {}
        code = getattr(f, "__code__", None)
        files = {*OVERDUBBED.files, *([] if code is None else [code.co_filename])}
        self._cells = [
            (one, cell, _cell_content(cell))
            for one in functions_of(files)
            if one.__code__.co_filename in files
            for cell in one.__closure__ or ()
        ]

    @property
    def is_changed(self) -> bool:
        """Whether a known argument was changed."""
        return bool(self._noted)

    @property
    def changed(self) -> Mapping[int, tuple[Any, ...]]:
        """The objects that were changed, known arguments excepted: each with its former content."""
        return self._entries

    @property
    def restored(self) -> frozenset[int]:
        """The identities of known arguments, and parts of them, that were changed and get their former content."""
        return frozenset(self._noted)

    def forbids(self, owner: Any) -> bool:
        """Whether an object that is about to change must not. Its former content is noted."""
        while can_change(owner) and owner.base is not None:
            owner = owner.base
        if id(owner) in self.unknown or isinstance(owner, CODE):
            return True
        if id(owner) in self._own:
            if id(owner) not in self._noted:
                self._noted[id(owner)] = owner, _content(owner)
            return hasattr(type(owner), "__next__")
        if id(owner) not in self._entries:
            self._entries[id(owner)] = owner, _content(owner), nearest_site()
        return False

    def own_object(self, identity: int) -> Any:
        """The known argument, or object that one refers to, with an identity; None if there is none."""
        return self._own.get(identity)

    def changed_object(self, result: list[Any]) -> tuple[Any, CallSite] | None:
        """An object that has outlived the call, and the place at which it was changed first.

        If it is in another changed object that has outlived the call, it is that one: the call may have made its parts.
        The list has what the result of the call consists of; nothing else holds that any more.
        """
        for _ in range(2):
            found = outliving(self._entries, result, NOT_FOLLOWED) if self._entries else ()
            found = found and [key for key in found if not self._is_own_namespace(key)]
            if not found and found is not None:
                return None
            gc.collect()  # cycles that nothing refers to
        keys = list(self._entries if found is None else found)
        held = {id(one) for key in keys for one in gc.get_referents(self._entries[key][0])}
        key = next((key for key in keys if id(self._entries[key][0]) not in held), keys[0])
        return self._entries[key][0], self._entries[key][2]

    def _is_own_namespace(self, key: int) -> bool:
        """Whether a changed dict has the attributes of a known argument, which counts as changed then."""
        owner, content, _ = self._entries[key]
        if type(owner) is not dict or not any(namespace(one) is owner for one in self._own.values()):
            return False
        self._noted[key] = owner, content
        del self._entries[key]
        return True

    def changed_variable(self) -> str | None:
        """The module and name of a function that has a variable of a closure which the call has changed."""
        for function, cell, content in self._cells:
            if _cell_content(cell) is not content:
                return f"{function.__module__}.{function.__qualname__}"
        return None

    def undo(self) -> None:
        """Restore the former content of all objects, and forget them."""
        for owner, content in reversed([*self._noted.values(), *(entry[:2] for entry in self._entries.values())]):
            _restore(owner, content)
        self._entries.clear()
        self._cells.clear()


def namespace(item: Any) -> Any:
    """The dict of an object's attributes; None if it has none. No code of the program runs.

    The collector does not show from 3.13 on that the object refers to it.
    """
    try:
        return object.__getattribute__(item, "__dict__")
    except AttributeError:
        return None


def _cell_content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return _NOTHING


def reachable(known: list[Any]) -> dict[int, Any]:
    """The known arguments and what they refer to, functions and classes excepted."""
    found: dict[int, Any] = {}
    work = [one.__self__ if isinstance(one, MethodType) else one for one in known]
    while work and len(found) < _MOST:
        one = work.pop()
        if id(one) not in found and not issubclass(type(one), OPAQUE):
            found[id(one)] = one
            work += gc.get_referents(one)
    return found


def slots_of(kind: type) -> list[str]:
    """The names of the slots of a class."""
    names: list[str] = []
    for base in kind.__mro__:
        slots = vars(base).get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    return [name for name in names if name not in ("__dict__", "__weakref__")]


def _content(owner: Any) -> list[Any]:
    if hasattr(type(owner), "__next__"):
        return []
    if isinstance(owner, COPIED):
        return [copy_of(owner)]
    if can_change(owner):
        return [owner.copy()]
    slots = {name: _stored(owner, name) for name in slots_of(type(owner))}
    attributes = namespace(owner)
    return [None if attributes is None else dict(attributes), slots]


def _restore(owner: Any, content: list[Any]) -> None:
    if not content:
        return
    if can_change(owner):
        owner[...] = content[0]
    elif isinstance(owner, COPIED):
        fill(owner, content[0])
    else:
        attributes, slots = content
        if attributes is not None:
            namespace(owner).clear()
            namespace(owner).update(attributes)
        for name, value in slots.items():
            if value is not _NOTHING:
                object.__setattr__(owner, name, value)
            elif _stored(owner, name) is not _NOTHING:
                object.__delattr__(owner, name)


def stores_the_same(owner: Any, name: str, value: Any) -> bool:
    """Whether an assignment to an attribute leaves it as it is.

    >>> stores_the_same(ValueError("a"), "args", ("a",))
    True
    """
    found = _stored(owner, name)
    return found is not _NOTHING and (found is value or same(found, value))


def _stored(owner: Any, name: str) -> Any:
    """The attribute that an object stores; `_NOTHING` if it stores none. No code of the program runs."""
    found = (namespace(owner) or {}).get(name, _NOTHING)
    if found is _NOTHING:
        place = next((vars(kind)[name] for kind in type(owner).__mro__ if name in vars(kind)), None)
        if isinstance(place, (MemberDescriptorType, GetSetDescriptorType)):
            try:
                found = place.__get__(owner)
            except AttributeError:
                pass
    return found
