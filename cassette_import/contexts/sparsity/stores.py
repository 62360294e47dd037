"""Objects that the program changes: on one side of a branch, the old value is kept beside the new one.

Whatever the program changes is put back after the run.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import numbers
import operator
from collections import deque
from collections.abc import Iterator
from types import CodeType, FunctionType, GeneratorType, MemberDescriptorType
from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity.arrays import Array, array, dependences_of, owner_of, plain
from cassette_import.contexts.sparsity.number import Number, dependence_of, number
from cassette_import.contexts.sparsity.run import VARIES, Executions, Run, joined
from cassette_import.kits.tagged_containers import sequence_like
from cassette_import.passes.if_conversion.converted_code import UNBOUND, ConvertedCode

__all__ = ["CONTAINERS", "GuardedIterator", "Piece", "Stores", "binds_outside", "contains_number", "guarded", "merged"]

# ---- iterators: the executions of one side of a branch must not use up what the other side iterates over


class GuardedIterator:
    """An iterator that only the executions advance that have made it."""

    __slots__ = ("_executions", "_run", "iterator")

    def __init__(self, run: Run, iterator: Iterator[Any]) -> None:
        self.iterator = iterator
        self._run = run
        self._executions: Executions = run.active

    def check(self) -> None:
        """Refuse to advance for a part of the executions."""
        if self._run.active is not self._executions:
            raise self._run.refuse_branch("an iterator is advanced on one side of a branch that depends on the inputs")

    def __iter__(self) -> GuardedIterator:
        return self

    def __next__(self) -> Any:
        self.check()
        return next(self.iterator)

    def __getattr__(self, name: str) -> Any:
        self.check()
        return getattr(self.iterator, name)


def guarded(run: Run, value: Any) -> Any:
    """An iterator that is guarded; any other value itself."""
    kind = type(value)
    if run.local or not hasattr(kind, "__next__") or kind is GuardedIterator:
        return value
    return (
        GuardedIterator(run, value) if kind is GeneratorType or kind.__module__ in ("builtins", "itertools") else value
    )


@functools.lru_cache(1000)
def binds_outside(code: CodeType) -> bool:
    """Whether code binds a variable that is not its own, as `:=` in a generator expression does."""
    stores = [one for one in dis.get_instructions(code) if one.opname in ("STORE_DEREF", "STORE_GLOBAL")]
    return any(one.argval.isidentifier() for one in stores if one.argval not in code.co_cellvars)  # no name of a pass


# ---- merging: one value for several sides of a branch, with the dependences of all

Piece = tuple[Executions, Any]


def merged(run: Run, pieces: list[Piece]) -> Any:
    """The value for the executions of all pieces. The value itself is that for the given inputs.

    Raises
    ------
    SparsityError
        If the values are no numbers, arrays or structures of these, or have different structures.
    """
    if not pieces:
        return None
    live = next((value for executions, value in pieces if executions.live), pieces[0][1])
    values = [value for _, value in pieces]
    if all(value is live for value in values) or all(_same(value, live) for value in values):
        return live
    bound = [(executions, value) for executions, value in pieces if value is not UNBOUND]
    if len(bound) < len(pieces):
        return UNBOUND if live is UNBOUND or not bound else merged(run, bound)
    if all(map(_is_number, values)):
        return number(run, plain(live), joined(map(dependence_of, values)) | VARIES)
    if all(isinstance(value, np.ndarray) or _is_number(value) for value in values):
        return _array(run, live, values)
    if all(type(value) is type(live) for value in values):
        found = _structure(run, live, pieces)
        if found is not None:
            return found
    kinds = ", ".join(sorted({type(value).__name__ for value in values}))
    raise run.refuse_branch(f"a value is another object ({kinds}) on each side of a branch that depends on the inputs")


def _is_number(value: Any) -> bool:
    return type(value) is Number or isinstance(value, (numbers.Number, np.generic))


def _same(value: Any, other: Any) -> bool:
    kind = type(value)
    if kind is not type(other) or kind not in (int, float, bool, complex, str, bytes):
        return False
    return bool(value == other)


def _array(run: Run, live: Any, values: list[Any]) -> Any:
    if len({np.shape(plain(value)) for value in values}) > 1:
        raise run.refuse_branch("an array has another shape on each side of a branch that depends on the inputs")
    for value in values:
        if isinstance(value, np.ndarray):
            _keep(run, owner_of(plain(value)))
    found = dependences_of(values[0])
    for value in values[1:]:
        found = np.bitwise_or(found, dependences_of(value))
    made = array(run, np.array(plain(live)), np.bitwise_or(found, VARIES))
    if type(made) is Array:
        _keep(run, owner_of(made.value))
    return made


def _keep(run: Run, value: Any) -> None:
    run.aliased[id(value)] = value


def _structure(run: Run, live: Any, pieces: list[Piece]) -> Any:
    """Lists, tuples and dicts of the same shape, and frozen dataclasses."""

    def part(get: Any) -> Any:
        return merged(run, [(executions, get(value)) for executions, value in pieces])

    if isinstance(live, tuple) and all(len(value) == len(live) for _, value in pieces):
        parts = [part(lambda value, at=at: value[at]) for at in range(len(live))]
        return sequence_like(live, parts)
    if type(live) is list and all(len(value) == len(live) for _, value in pieces):
        made: Any = [part(lambda value, at=at: value[at]) for at in range(len(live))]
    elif type(live) is dict and all(list(value) == list(live) for _, value in pieces):
        made = {key: part(lambda value, key=key: value[key]) for key in live}
    elif dataclasses.is_dataclass(live) and getattr(live, "__dataclass_params__").frozen:  # noqa: B009
        made = object.__new__(type(live))
        slots = [field.name for field in dataclasses.fields(live) if hasattr(live, field.name)]
        for name in {**getattr(live, "__dict__", {}), **dict.fromkeys(slots)}:
            object.__setattr__(made, name, part(lambda value, name=name: getattr(value, name)))
        return made
    else:
        return None
    for value in (made, *(value for _, value in pieces)):
        _keep(run, value)
    return made


# ---- objects that the program changes: on one side of a branch, the old value is kept beside the new one

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
