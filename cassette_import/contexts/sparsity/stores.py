"""Objects that the program changes: on one side of a branch, the old value is kept beside the new one.

Whatever the program changes is put back after the run.
"""

from __future__ import annotations

import operator
from collections import deque
from types import FunctionType, MemberDescriptorType
from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity.arrays import Array
from cassette_import.contexts.sparsity.iterators import guarded
from cassette_import.contexts.sparsity.merging import merged
from cassette_import.contexts.sparsity.number import Number
from cassette_import.contexts.sparsity.run import Executions, Run
from cassette_import.passes.if_conversion.converted_code import ConvertedCode

__all__ = ["CONTAINERS", "Stores", "contains_number"]

CONTAINERS: Final = (list, dict, set, deque, bytearray)
_VIEWS: Final = tuple(map(type, ({}.values(), {}.items())))
_MISSING: Final = object()
_NO_ATTRIBUTES: Final[dict[str, Any]] = {}


def contains_number(value: Any, depth: int = 5) -> bool:
    """Whether a value is, or a container holds, a number that depends on the inputs."""
    kind = type(value)
    if kind is Number or kind is Array:
        return True
    if depth == 0:
        return False
    if kind is dict:
        value = value.values()
    elif kind is slice:
        value = value.start, value.stop, value.step
    elif not issubclass(kind, (list, tuple, set, deque, *_VIEWS)):
        return False
    return any(contains_number(part, depth - 1) for part in value)


def _set_plainly(holder: Any, name: str, value: Any) -> None:
    """Set an attribute, without a method `__setattr__` of the program: that of a frozen dataclass raises."""
    set_attribute = object.__setattr__ if type(type(holder).__setattr__) is FunctionType else setattr
    set_attribute(holder, name, value)


def _delete_plainly(holder: Any, name: str) -> None:
    """The same for the deletion of an attribute."""
    delete_attribute = object.__delattr__ if type(type(holder).__delattr__) is FunctionType else delattr
    delete_attribute(holder, name)


class Stores(ConvertedCode):
    """The part of the context that knows which objects the program changes."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._fresh: dict[int, tuple[Any, Executions]] = {}
        self._former: dict[int, tuple[Any, Any]] = {}

    def made(self, value: Any) -> Any:
        """Note an object that the active executions have made: no other one knows it."""
        if self.run.is_split and not isinstance(value, (int, float, str)):
            self._fresh[id(value)] = value, self.run.active
        return guarded(self.run, value)

    def is_fresh(self, value: Any) -> bool:
        """Whether all executions that know an object are active."""
        known = self._fresh.get(id(value))
        return not self.run.is_split or (known is not None and known[1] is self.run.active)

    def undo(self) -> None:
        """Put back what the program has changed."""
        for holder, content in reversed(self._former.values()):
            if isinstance(holder, (list, deque, bytearray)):
                holder.clear()
                holder.extend(content)
            elif isinstance(holder, (dict, set)):
                holder.clear()
                holder.update(content)
            elif isinstance(holder, np.ndarray):
                holder[...] = content
            else:
                for name, value in content.items():
                    if value is not _MISSING:
                        _set_plainly(holder, name, value)
                    elif hasattr(holder, name):
                        _delete_plainly(holder, name)

    def changes(self, holder: Any) -> None:
        """Note that an object changes."""
        self.run.stores += 1
        if id(holder) in self.run.aliased:
            raise self.run.refuse_branch("an object is changed, and which one it is depends on the inputs")
        if id(holder) not in self._former and isinstance(holder, (*CONTAINERS, np.ndarray)):
            self._former[id(holder)] = holder, holder.copy()

    def changes_whole(self, holder: Any) -> None:
        """Note that an object changes as a whole, such as in its length."""
        self.changes(holder)
        if not self.is_fresh(holder):
            raise self.run.refuse_branch(
                f"a {type(holder).__name__} changes on one side of a branch that depends on the inputs"
            )

    def _joined(self, holder: Any, old: Any, value: Any) -> Any:
        """What to store as a part of an object."""
        if self.is_fresh(holder):
            return value
        if old is _MISSING:
            raise self.run.refuse_branch(
                f"a {type(holder).__name__} gets a new part on one side of a branch that depends on the inputs"
            )
        active = self.run.active
        return merged(self.run, [(Executions(not active.live, active.share), old), (active, value)])

    # ---- what converted code calls

    def store_attribute(self, holder: Any, name: str, value: Any) -> None:
        """`holder.name = value`."""
        if type(type(holder).__setattr__) is FunctionType:
            setattr(holder, name, value)  # a method of the program, which is converted, too
        else:
            self.store_plain_attribute(holder, name, value)

    def store_plain_attribute(self, holder: Any, name: str, value: Any) -> None:
        """A store as `object.__setattr__` makes it."""
        described = getattr(type(holder), name, None)
        if hasattr(type(described), "__set__") and not isinstance(described, MemberDescriptorType):
            _set_plainly(holder, name, value)  # the code of a property is converted, too
            return
        if type(holder) is Array:
            raise self.run.refuse(f"the attribute {name} of an array is set, which has no rule")
        own = getattr(holder, "__dict__", _NO_ATTRIBUTES)  # an object with `__slots__` has none
        old = getattr(holder, name, _MISSING) if described is not None else own.get(name, _MISSING)
        self.changes(holder)
        _, former = self._former.setdefault(id(holder), (holder, {}))
        former.setdefault(name, old)
        _set_plainly(holder, name, self._joined(holder, old, value))

    def delete_attribute(self, holder: Any, name: str) -> None:
        """`del holder.name`."""
        if self.run.is_split:
            raise self.run.refuse_branch("an attribute is deleted on one side of a branch that depends on the inputs")
        delattr(holder, name)

    def stores_global(self, name: str) -> None:
        """Refuse the assignment to a name of the module."""
        raise self.run.refuse(f"the global name {name} is assigned", "return the value")

    def stores_nonlocal(self, reader: Any) -> None:
        """Note that a variable of an enclosing function is about to be bound."""
        self.run.stores += 1
        if self.run.is_split:
            raise self.run.refuse_branch(
                "a variable of an enclosing function is bound on one side of a branch that depends on the inputs"
            )

    def store_item(self, holder: Any, key: Any, value: Any) -> None:
        """`holder[key] = value`."""
        kind = type(holder)
        if issubclass(kind, np.ndarray):
            if contains_number(value) or contains_number(key) or self.run.is_split:
                raise self.run.refuse(
                    "an array that was made elsewhere gets elements that depend on the inputs",
                    "store them in an array that the function makes, with np.zeros, np.empty or np.copy",
                )
            self.changes(holder)
        elif kind is list or kind is dict:
            self.changes(holder)
            if not self.is_fresh(holder):
                if type(key) is slice:
                    self.changes_whole(holder)
                try:
                    old = holder[key]
                except LookupError:
                    old = _MISSING
                value = self._joined(holder, old, value)
        elif isinstance(holder, CONTAINERS):
            self.changes_whole(holder)
        holder[key] = value

    def delete_item(self, holder: Any, key: Any) -> None:
        """`del holder[key]`."""
        if isinstance(holder, CONTAINERS):
            self.changes_whole(holder)
        del holder[key]

    def augmented(self, name: str, old: Any, value: Any) -> Any:
        """`old += value` and the like."""
        changes = isinstance(old, CONTAINERS) and hasattr(type(old), f"__{name}__")
        if changes or issubclass(type(old), np.ndarray):
            self.changes_whole(old)
        if name == "imatmul":
            name = "matmul"
        return getattr(operator, name)(old, value)
