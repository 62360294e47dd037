"""Objects that the program changes: a store under a mask changes the parts of the active lanes only."""

from __future__ import annotations

import gc
import operator
import sys
from collections import deque
from types import CellType, FunctionType, MemberDescriptorType, ModuleType, SimpleNamespace
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.columns import is_immutable
from cassette_import.contexts.lanes.errors import EffectError, place
from cassette_import.contexts.lanes.lane import MOST_VALUES, Lane, agreed
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet
from cassette_import.contexts.lanes.merged_containers import ToldApart
from cassette_import.contexts.lanes.merging import scattered
from cassette_import.kits.outliving import COPIED, OPAQUE, copy_of, fill, outliving
from cassette_import.passes.if_conversion.converted_code import ConvertedCode
from cassette_import.runtime.overdubbed_code import OVERDUBBED

__all__ = ["Changes", "Objects"]

# ---- effects: what the function writes to, how it is undone, and whether it outlives the call
#
# A run repeats the function for lanes that were dropped, so it must leave nothing behind. Every object that the program
# changes is noted with its former content. After the run, an object that something else than the result refers to has
# outlived the call.

_OPAQUE: Final = (*OPAQUE, Lane)
_EMPTY: Final = object()


class Changes:
    """The objects that a run has changed.

    Parameters
    ----------
    shared:
        Objects that exist before the call: its arguments.
    """

    def __init__(self, shared: Any) -> None:
        self._shared = {id(one): one for one in shared}
        self.entries: dict[int, tuple[Any, Any, str]] = {}
        """The changed objects by identity: each with its former content, and the place of the first change."""
        self.is_undone = True
        """Whether `undo` restores all objects that outlive the call."""

    def begun(self) -> Changes:
        """The changes of a part of the run, which ends before the run goes on."""
        return Changes(self._shared.values())

    def note(self, holder: Any) -> str | None:
        """Note an object that is about to change; return why that is an effect, if it is certain already."""
        if isinstance(holder, (type, ModuleType)):
            return f"{holder!r} is changed"
        if id(holder) in self._shared:
            return "an argument of the function is changed"
        if id(holder) not in self.entries:
            self.entries[id(holder)] = holder, _content(holder), place()
        return None

    def undo(self) -> None:
        """Restore the former content of every object, for the latest one first."""
        for holder, content, _ in reversed(self.entries.values()):
            _restore(holder, content)

    def outliving(self, outcome: list[Any]) -> str | None:
        """The place at which an object was first changed that something outside of the result refers to.

        If the object is an iterator, `is_undone` is false from now on: an iterator cannot be put back.
        """
        if not self.entries:
            return None
        found = self._reachable_from_outside(outcome)
        if found is not None:
            gc.collect()  # cycles that nothing refers to
            found = self._reachable_from_outside(outcome)
        return found

    def _reachable_from_outside(self, outcome: list[Any]) -> str | None:
        seen = outliving(self.entries, outcome, _OPAQUE)
        if seen is None:
            return next(iter(self.entries.values()))[2]
        found = [entry for key, entry in self.entries.items() if key in seen]
        self.is_undone = not any(hasattr(type(holder), "__next__") for holder, _, _ in found)
        return found[0][2] if found else None


def _content(holder: Any) -> Any:
    if type(holder) is CellType:
        return [getattr(holder, "cell_contents", _EMPTY)]
    if hasattr(type(holder), "__next__"):
        return []
    if isinstance(holder, COPIED):
        return [copy_of(holder)]
    content = [dict(vars(holder))] if hasattr(holder, "__dict__") else []
    slots = {
        name: getattr(holder, name)
        for kind in type(holder).__mro__
        for name in _names(getattr(kind, "__slots__", ()))
        if hasattr(holder, name) and name not in ("__dict__", "__weakref__")
    }
    return [*content, slots] if slots else content


def _names(slots: Any) -> tuple[str, ...]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _restore(holder: Any, content: list[Any]) -> None:
    if type(holder) is CellType:
        if content[0] is _EMPTY:
            del holder.cell_contents
        else:
            holder.cell_contents = content[0]
        return
    if isinstance(holder, COPIED):
        fill(holder, content[0])
    else:
        for part in content:
            if part is content[0] and hasattr(holder, "__dict__"):
                vars(holder).clear()
                vars(holder).update(part)
            else:
                for name, value in part.items():
                    object.__setattr__(holder, name, value)


# ---- objects that the program changes: a store under a mask changes the parts of the active lanes only

_MISSING: Final = object()
_WITHOUT_METHODS: Final = (SimpleNamespace,)


class Objects(ConvertedCode):
    """The part of the context that knows which objects the program changes."""

    def __init__(self, lanes: Lanes, roots: frozenset[str], shared: Any) -> None:
        self.lanes = lanes
        self.roots = roots
        lanes.log = Changes(shared)
        self._kinds: dict[type, bool] = {}
        self._converted: dict[Any, bool] = {}
        self._fresh: dict[int, tuple[Any, LaneSet]] = {}

    @property
    def log(self) -> Changes:
        """What the run has changed."""
        return self.lanes.log  # type: ignore[no-any-return]  # of this type

    def effect(self, what: str, advice: str) -> Exception:
        """The error for an effect."""
        return self.lanes.refuse(
            EffectError(f"{what} at {place()}, which outlives the call or is seen outside: {advice}")
        )

    def is_converted(self, kind: type) -> bool:
        """Whether the methods of a class are converted when they run, or are none of the program's."""
        known = self._kinds.get(kind)
        if known is None:
            module = sys.modules.get(kind.__module__)
            filename = getattr(module, "__file__", None)
            file = OVERDUBBED.files.get(filename) if filename else None
            known = filename in self.roots or (file is not None and file.installed)
            known = known or issubclass(kind, BaseException) or kind in _WITHOUT_METHODS
            self._kinds[kind] = known
        return known

    def made(self, value: Any) -> Any:
        """Note an object that the active lanes have made: no other lane knows it."""
        if self.lanes.masked:
            if not is_immutable(value) and type(value) is not Lane:
                self._fresh[id(value)] = value, self.lanes.active
        elif self._fresh:
            self._fresh.clear()
        return value

    def is_fresh(self, value: Any) -> bool:
        """Whether no lane but the active ones knows an object."""
        known = self._fresh.get(id(value))
        return known is not None and self.lanes.current(known[1]).size == self.lanes.active.size

    def forget(self) -> None:
        """Release the objects that have been noted."""
        self._fresh.clear()
        self.lanes.containers.forget()

    def changes(self, holder: Any) -> None:
        """Note that an object changes as a whole. If other lanes know it, they are dropped."""
        self._keeps_standing(holder)
        why = self.log.note(holder)
        if why is not None:
            raise self.effect(why, "change a copy that the function makes itself, or return the value")
        if self.lanes.masked and not self.is_fresh(holder):
            self.lanes.commit()

    def _keeps_standing(self, holder: Any) -> None:
        """End the run if the change of a container tells it from the one that stands for it."""
        if self.lanes.containers.is_told_apart(holder, [self.log.entries, self._fresh]):
            raise self.lanes.refuse(ToldApart())

    def _changes_part(self, holder: Any, old: Any, value: Any) -> Any:
        """Note that a part of an object changes; return what to store, so that other lanes keep the old part."""
        self._keeps_standing(holder)
        why = self.log.note(holder)
        if why is not None:
            raise self.effect(why, "change a copy that the function makes itself, or return the value")
        if not self.lanes.masked or self.is_fresh(holder):
            return value
        made = None if old is _MISSING else scattered(self.lanes, old, value)
        if made is None:
            self.lanes.commit()
            return value
        return made[0]

    # ---- attributes

    def store_attribute(self, holder: Any, name: str, value: Any) -> None:
        """`holder.name = value`."""
        holder = agreed(holder, "has an attribute set")
        kind = type(holder)
        if type(kind.__setattr__) is FunctionType:
            setattr(holder, name, value)  # a method of the program, which is converted, too
            return
        self.store_plain_attribute(holder, name, value)

    def store_plain_attribute(self, holder: Any, name: str, value: Any) -> None:
        """A store as `object.__setattr__` makes it."""
        described = getattr(type(holder), name, None)
        if hasattr(type(described), "__set__") and not isinstance(described, MemberDescriptorType):
            setattr(holder, name, value)  # the code of a property is converted, too
            return
        old = _MISSING
        if isinstance(described, MemberDescriptorType):
            old = getattr(holder, name, _MISSING)
        elif hasattr(holder, "__dict__"):
            old = vars(holder).get(name, _MISSING)
        if type(value) is Lane and not self.is_converted(type(holder)):
            raise self.lanes.refuse(
                EffectError(
                    f"a value that differs between lanes is stored in a {type(holder).__qualname__}, whose methods are "
                    f"not converted, at {place()}: add its package to the argument packages "
                    f"({type(holder).__module__!r} is not installed)"
                )
            )
        value = self._changes_part(holder, old, value)
        if type(type(holder).__setattr__) is FunctionType:
            object.__setattr__(holder, name, value)
        else:
            setattr(holder, name, value)

    def delete_attribute(self, holder: Any, name: str) -> None:
        """`del holder.name`."""
        self.changes(holder)
        delattr(holder, name)

    def stores_global(self, name: str) -> None:
        """Refuse the assignment to a name of the module."""
        raise self.effect(f"the global name {name} is assigned", "return the value")

    def stores_nonlocal(self, reader: Any) -> None:
        """Note that a variable of an enclosing function is about to be bound."""
        self.changes(reader.__closure__[0])

    # ---- items

    def store_item(self, holder: Any, key: Any, value: Any) -> None:
        """`holder[key] = value`."""
        kind = type(holder)
        if kind not in (list, dict):
            if kind in (deque, bytearray) or kind.__module__ in ("collections", "array", "numpy", "builtins"):
                if kind.__module__ == "numpy" and (type(value) is Lane or type(key) is Lane):
                    operator.setitem(holder, key, value)  # NumPy asks the value for an array, which is refused
                self.changes(holder)
            holder[key] = value
            return
        if type(key) is Lane:
            self._store_by_key(holder, key, value)
            return
        if type(key) is slice or (type(key) is tuple and kind is list):
            self.changes(holder)
            holder[key] = value
            return
        try:
            old = holder[key]
        except (LookupError, TypeError):
            old = _MISSING
        if old is _MISSING and kind is list:
            holder[key] = value  # it raises
            return
        holder[key] = self._changes_part(holder, old, value)

    def _store_by_key(self, holder: Any, key: Lane, value: Any) -> None:
        """Each lane has its own key: one masked store for each."""
        lanes = self.lanes
        values = key.now().tolist()
        distinct = dict.fromkeys(values)
        if len(distinct) > MOST_VALUES:
            raise lanes.refuse(
                EffectError(
                    f"lanes store under more than {MOST_VALUES} keys of a {type(holder).__name__}, at {place()}"
                )
            )
        active = lanes.active
        for one in distinct:
            lanes.active = lanes.current(active.part(np.array([value == one for value in values])))
            if lanes.active.size:
                try:
                    self.store_item(holder, one, value)
                except LookupError:
                    if lanes.active.size == lanes.current(active).size:
                        raise
                    lanes.drop(lanes.active.ids)
        lanes.active = lanes.current(active)

    def delete_item(self, holder: Any, key: Any) -> None:
        """`del holder[key]`."""
        if type(holder) in (list, dict, deque, bytearray):
            self.changes(holder)
        del holder[agreed(key, "is the key of a deletion") if type(key) is Lane else key]

    def augmented(self, name: str, old: Any, value: Any) -> Any:
        """`old += value` and the like: an operation on numbers, or a change in place."""
        if type(old) is not Lane and not is_immutable(old) and hasattr(type(old), f"__{name}__"):
            self._changes_in_place(old)
        function: Any = getattr(operator, name)
        return function(old, value)

    def _changes_in_place(self, holder: Any) -> None:
        """Note the change of an object in C; that of a method of the program is noted where it is made."""
        if isinstance(holder, (list, dict, set, deque, bytearray)) or type(holder).__module__ == "numpy":
            self.changes(holder)
