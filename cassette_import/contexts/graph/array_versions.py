"""Arrays of a trace that the program changes in place: each change is a node, whose result is the next version.

The trace follows the memory of an array, not its names: whatever refers to the array, or to a view of it, means the
newest version. An array may be changed if the call has made it, and if each operation that has got it makes a new
array, or a known view.
"""

from __future__ import annotations

import operator
from typing import Any, Final

from cassette_import.contexts.graph.arrays import (
    CHANGED_ARRAY,
    IN_PLACE_SIGNS,
    Change,
    change,
    is_in_order,
    leaves_numbers,
    makes_new,
    owner_of,
    refused_call,
    view_as_text,
    view_name,
)
from cassette_import.contexts.graph.nodes import (
    Built,
    Constant,
    Node,
    NotRepresentable,
    Template,
    nodes_in,
    recorded_value,
    refusal,
)
from cassette_import.kits.numbers.numeric_values import array_types, can_change
from cassette_import.kits.tagging import leaf_name

__all__ = ["ArrayVersions"]

_SHARED: Final = "Make a copy of the array before it is changed, by `a = a.copy()`"
_MOST_COPIED: Final = 2**24
_SAME: Final = frozenset({"asarray", "asanyarray"})
"""Functions whose result is the array that they get."""


class _Changed:
    """An array that was changed."""

    def __init__(self, array: Any, node: Node, whole: Any) -> None:
        self.array = array
        self.whole = whole
        """What the call has made: the array, or a view of all of it."""
        self.node = node
        self.version = 0
        self.numbers = {node.number}
        """The nodes of all versions."""
        self.views: dict[int, tuple[int, Node]] = {}
        """For a view, by its node: the version that it was read from last, and the node of that."""


class ArrayVersions:
    """The arrays that one trace has made and changed.

    Parameters
    ----------
    trace:
        The context, which adds nodes and guards.

    Attributes
    ----------
    made:
        The known arrays that the call has made, by identity, with their place.
    """

    def __init__(self, trace: Any) -> None:
        self._trace = trace
        self.made: dict[int, tuple[Any, Any]] = {}
        self._changed: dict[int, _Changed] = {}
        self._born: dict[int, int] = {}
        self._shared: dict[int, tuple[Any, str]] = {}
        self._in_order: set[int] = set()
        self._unset: dict[int, Any] = {}
        self._memory: dict[int, Any] = {}
        self._copied = 0
        self._choices: dict[int, list[Node]] = {}
        """Items that masks and lists have chosen, by the identity of the array; a number would choose a view."""
        self._has_arrays = False

    def memory_of(self, node: Node) -> Any:
        """The array that a node has computed; that of a version is changed since, and its value is a copy."""
        return self._memory.get(node.number, node.value)

    def is_changed(self, array: Any) -> bool:
        """Whether the memory of an array was changed by a change that is a node."""
        return bool(self._changed) and id(owner_of(array)) in self._changed

    def forget(self) -> None:
        """Forget all arrays: nothing of a trace refers to what the call has made then."""
        for one in (self.made, self._changed, self._shared, self._memory, self._unset, self._choices):
            one.clear()

    # ---- reading

    def current(self, array: Any, node: Node) -> Node:
        """The node that computes what an array contains now; `node` is one that has computed it before."""
        owner = owner_of(array)
        entry = self._changed.get(id(owner))
        if entry is None or array is owner:
            return node if entry is None else entry.node
        return self._read_again(node, entry)

    def _read_again(self, node: Node, entry: _Changed) -> Node:
        """The node of a view of the newest version."""
        if node.number in entry.numbers:
            return entry.node
        version, found = entry.views.get(node.number, (self._born.get(node.number, 0), node))
        if version != entry.version:
            if not self._is_view(node, entry.array):
                raise self._refuse(
                    f"{leaf_name(node.function)} may have made a view of an array that is changed", _SHARED
                )
            source: Any = node.operands[0]
            self._fix(node)
            operands = (self._read_again(source, entry), *node.operands[1:])
            found = self._trace.add_node(node.function, operands, node.value)
            entry.views[node.number] = entry.version, found
        return found

    def _is_view(self, node: Node, owner: Any) -> bool:
        """Whether a node is the array, or a view of it in each run."""
        source = node.operands[0] if node.operands else None
        if node.keywords or not isinstance(source, Node) or not can_change(source.value) or not can_change(node.value):
            return False
        before = self.memory_of(source)
        if owner_of(before) is not owner or owner_of(node.value) is not owner:
            return False
        if getattr(node.function, "__name__", "") in _SAME and len(node.operands) == 1:
            return node.value is before
        name = view_name(node.function, getattr(node.operands[1], "value", None) if len(node.operands) > 1 else None)
        return before is owner and id(owner) in self._in_order if name == "reshape" else name is not None

    def _fix(self, node: Node) -> None:
        """A key that is a number is one in each run, so that the item is a view in each."""
        for part in node.operands[1:]:
            for one in nodes_in(part):
                self._trace.fix_type(one)

    # ---- what operations do with arrays

    def notes(self, node: Node) -> None:
        """Note what an operation does with the memory of its operands."""
        if not self._has_arrays and not can_change(node.value):
            return
        self._has_arrays = True
        sources = [one for one in node.sources if can_change(one.value)]
        if can_change(node.value):
            entry = self._changed.get(id(owner_of(node.value)))
            if entry is not None:
                self._born[node.number] = entry.version
        function = node.function
        if is_in_order(node) or _is_of_numbers(node):
            self._in_order.add(id(node.value))
        if leaves_numbers(function):
            import numpy

            node.value.fill(0)
            self._unset[id(node.value)] = numpy.ones(node.value.size, bool)  # a mark for each element, as in memory
        if not sources:
            return
        if self._unset:
            self._check_set(node, sources)
        if isinstance(function, Change) or _is_plain(node.value) or makes_new(node):
            return
        if can_change(node.value) and self._is_view(node, owner_of(self.memory_of(sources[0]))):
            return
        if can_change(node.value) and node.value.base is None and self._is_choice(node):
            self._choices.setdefault(id(owner_of(self.memory_of(sources[0]))), []).append(node)
            return
        self.shares(leaf_name(function), *map(self.memory_of, sources))

    def shares(self, what: str, *arrays: Any) -> None:
        """Note that something may refer to the memory of arrays that is no known view."""
        for one in arrays:
            owner = owner_of(one)
            self._shared[id(owner)] = owner, what

    def _check_set(self, node: Node, sources: list[Node]) -> None:
        """Refuse to read numbers that are left over from elsewhere."""
        if node.function is getattr or node.function is len:
            return
        if isinstance(node.function, Change):  # the array itself is not read
            sources = [one for part in node.operands[1:] for one in nodes_in(part) if can_change(one.value)]
        for one in sources:
            array = self.memory_of(one)
            if can_change(node.value) and self._is_view(node, owner_of(array)):
                continue
            is_item = node.function is operator.getitem and one is node.operands[0]
            key = recorded_value(node.operands[1]) if is_item else ...
            self.check_set(array, key)

    def check_set(self, array: Any, key: Any = ...) -> None:
        """Refuse to read items of an array that nothing has set."""
        owner = owner_of(array)
        memory = self._unset.get(id(owner))
        if memory is not None and _part(memory, array, owner)[key].any():
            import numpy

            raise self._refuse(*refused_call(numpy.empty, "numpy.empty") or CHANGED_ARRAY)

    # ---- changing

    def change(
        self, array: Any, node: Node, function: Any, operands: tuple[Template, ...], values: tuple[Any, ...]
    ) -> None:
        """Change an array: an item, or all of it by an operator.

        Parameters
        ----------
        array, node:
            The array, or a view of one, and the node that has computed it.
        function:
            `operator.setitem`, or an operator that changes its first operand.
        operands, values:
            The other operands: as templates, and in this run.
        """
        owner = owner_of(array)
        entry = self._changed.get(id(owner))
        base, steps = self._way(node, owner, entry)
        if entry is None:
            self._check_new(owner, base)
        if id(owner) in self._shared:
            what = (
                f"an array with unknown numbers is changed in place, and {self._shared[id(owner)][1]} may refer to it"
            )
            raise self._refuse(what, _SHARED)
        for one in self._choices.pop(id(owner), ()):
            self._fix(one)
        is_item = function is operator.setitem
        if self._unset and not is_item:
            self.check_set(array)
        if entry is None:
            entry = self._begin(owner, base)
        function(array, *values)
        path = tuple(view_as_text(one.function, len(one.operands) - 1, "T") or "" for one in steps)
        keys = [part for one in steps if one.function is not getattr for part in one.operands[1:]]
        made = change(path, "=" if is_item else IN_PLACE_SIGNS[function])
        entry.node = self._trace.add_node(made, (entry.node, *keys, *operands), self._copy(entry.whole))
        entry.numbers.add(entry.node.number)
        self._memory[entry.node.number] = entry.whole
        entry.version += 1
        if is_item and id(owner) in self._unset:
            _part(self._unset[id(owner)], array, owner)[values[0]] = False

    def _way(self, node: Node, owner: Any, entry: _Changed | None) -> tuple[Node, list[Node]]:
        """The node of the array that owns the memory of a view, and the nodes of views between the two."""
        steps: list[Node] = []
        while not self._is_made_here(node, owner) if entry is None else node.number not in entry.numbers:
            if not self._is_view(node, owner):
                raise self._refuse(*CHANGED_ARRAY)
            if getattr(node.function, "__name__", "") not in _SAME:
                steps.insert(0, node)
                self._fix(node)
            node = node.operands[0]  # type: ignore[assignment]  # the array of a view is a node
        return node, steps

    def _is_made_here(self, node: Node, owner: Any) -> bool:
        """Whether an operation has made an array; some functions make a view of an array that nothing else has."""
        array = self.memory_of(node)
        return array is owner or (owner_of(array) is owner and makes_new(node))

    def _is_choice(self, node: Node) -> bool:
        """Whether a node is a new array of the items that a mask or a list has chosen."""
        source = node.operands[0] if node.function is operator.getitem else None
        if not isinstance(source, Node) or not can_change(source.value) or source.value.dtype.kind not in "biufc":
            return False
        return owner_of(self.memory_of(source)) is not owner_of(node.value)

    def _check_new(self, owner: Any, base: Node) -> None:
        """Refuse to change an array that the call has not made, or that has other parts than numbers."""
        kind: Any = type(owner)
        is_new = makes_new(base)
        if not is_new and base.value is owner and self._is_choice(base):
            self._fix(base)  # items that a mask or a list chooses, in each run
            is_new = True
        if not is_new or kind is not array_types()[0] or owner.base is not None or owner.dtype.kind not in "biufc":
            raise self._refuse(*CHANGED_ARRAY)

    def _begin(self, owner: Any, base: Node) -> _Changed:
        """Note the first change. An array of another number of axes, or type, has other views: these are guards."""
        whole = base.value
        if not _is_certain(base):
            axes = self._trace.add_node(getattr, (base, Constant("ndim")), whole.ndim)
            self._trace.guard("value", axes, whole.ndim)
            kind = self._trace.add_node(getattr, (base, Constant("dtype")), owner.dtype)
            letter = self._trace.add_node(getattr, (kind, Constant("char")), owner.dtype.char)
            self._trace.guard("value", letter, owner.dtype.char)
        base.value = self._copy(whole)
        self._memory[base.number] = whole
        entry = self._changed[id(owner)] = _Changed(owner, base, whole)
        return entry

    def _copy(self, owner: Any) -> Any:
        self._copied += owner.size
        if self._copied > _MOST_COPIED:
            raise self._refuse("a large array is changed too often", "Take a smaller example")
        return owner.copy("K")

    def _refuse(self, what: str, advice: str) -> NotRepresentable:
        error: NotRepresentable = self._trace.refuse(refusal(what, advice))
        return error


def _is_certain(base: Node) -> bool:
    """Whether the number of axes and the type of a new array are the same in each run."""
    integers = all(one.fixed and one.type is int for one in base.sources)
    return _is_of_numbers(base) or (is_in_order(base) and integers)


def _is_of_numbers(base: Node) -> bool:
    """Whether an array is made of a list of numbers of known types."""
    given = base.operands[0] if getattr(base.function, "__name__", "") == "array" and base.operands else None
    if not isinstance(given, Built) or given.kind not in (list, tuple) or len(base.operands) > 1 or base.keywords:
        return False
    kinds = [
        one.type if isinstance(one, Node) and one.fixed else type(getattr(one, "value", None)) for one in given.parts
    ]
    return set(kinds) <= {float, int} and not any(isinstance(one, Node) and not one.fixed for one in given.parts)


def _is_plain(value: Any) -> bool:
    """Whether a result shares no memory, whatever has computed it: numbers, texts, and tuples of these."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    numpy_number, plain = array_types()[1], (int, float, complex, str, bytes, bool, type(None))
    return type(value) in plain or issubclass(type(value), numpy_number) or type(value).__module__ == "numpy.dtypes"


def _part(memory: Any, array: Any, owner: Any) -> Any:
    """The marks of a view."""
    from numpy.lib.stride_tricks import as_strided

    size = owner.itemsize
    start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return as_strided(memory[start // size :], array.shape, tuple(step // size for step in array.strides))
