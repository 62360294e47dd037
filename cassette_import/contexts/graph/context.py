"""The context of a trace: the metadata of a value is the node that computes it."""

from __future__ import annotations

import operator
import sys
from collections import deque
from types import (
    BuiltinFunctionType,
    FunctionType,
    GeneratorType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any, ClassVar, Final

from cassette_import.activation.tagging import NO_METADATA, allmetadata, metadata, tag
from cassette_import.contexts.graph.array_versions import ArrayVersions
from cassette_import.contexts.graph.arrays import changed_arrays, refused_call
from cassette_import.contexts.graph.known_functions import (
    IN_PLACE,
    MUTATORS,
    OPERATORS,
    is_pure,
    keeps_types,
    makes_text,
)
from cassette_import.contexts.graph.nodes import (
    LITERALS,
    Built,
    Constant,
    Guard,
    Node,
    NotRepresentable,
    Step,
    Template,
    refusal,
)
from cassette_import.contexts.graph.outside import Outside, stores_the_same
from cassette_import.kits.events import ACTIVE, OVERDUBBED, Activation, CallSite, is_silent, nearest_site
from cassette_import.kits.numbers.lost_numbers import LosesNothing, unshared
from cassette_import.kits.numbers.numeric_values import can_change, is_array
from cassette_import.kits.numbers.overloads import own_methods
from cassette_import.kits.tagging import (
    Tagged,
    calls_overdubbed,
    holds_metadata,
    is_new_of_named_tuple,
    leaf_name,
    metas_of,
    plain,
    tag_of,
)

__all__ = ["TraceContext"]

_SEQUENCES: Final = (list, tuple)
_IN_C: Final = (BuiltinFunctionType, MethodDescriptorType, WrapperDescriptorType)
_FIXED_LENGTH: Final = frozenset({"divmod", "modf", "frexp", "as_integer_ratio", "partition", "rpartition", "polar"})
_INSTALL: Final = "Install its package, so that its operations are seen, or call it outside of the function"
_CALL_FUNCTION: Final = "Call a function in its place, or sort by a number instead of functools.cmp_to_key"
_NOT_COMPILED: Final = (
    "numba has compiled it: set the environment variable NUMBA_DISABLE_JIT=1 before its package is imported"
)
_MOST_STEPS: Final = 200_000


class TraceContext(LosesNothing, tagging=True):
    """Records the leaves that compute from unknown values as nodes, and the decisions on them as guards.

    Parameters
    ----------
    outside:
        What the function must not change.
    changed_later:
        The places of calls that make arrays which get unknown numbers later: the arrays are nodes.
    limit:
        How many nodes and guards a trace may have.
    """

    exempt_leaves: ClassVar[frozenset[int]] = frozenset({id(object.__new__), id(super)})
    parts_alike: ClassVar[bool] = False

    def __init__(
        self, outside: Outside, changed_later: frozenset[CallSite] = frozenset(), limit: int = _MOST_STEPS
    ) -> None:
        super().__init__()
        self.outside = outside
        self.steps: list[Step] = []
        self.inputs: list[Node] = []
        self.known: dict[int, tuple[str, Any]] = {}
        self._limit = limit
        self._count = 0
        self._judged: dict[int, tuple[Any, bool]] = {}
        self._guarded: dict[tuple[str, int], Guard] = {}
        self.arrays = ArrayVersions(self)
        self.changed_later = changed_later
        self.begins_again: CallSite | None = None
        """Where an array is made that gets unknown numbers, if the trace has found that too late."""
        self.caught: NotRepresentable | None = None
        """The error if the program catches an exception that unknown values have raised."""

    # ---- nodes and guards

    def input(self, value: Any, name: str) -> Any:
        """A value of the arguments, tagged with a new input."""
        node = Node(self._count, None, (), {}, value, None, name)
        self._count += 1
        self.inputs.append(node)
        return tag(unshared(value), self, node)

    def node_of(self, value: Any) -> Node | None:
        """The node of a value; None if it is known."""
        found = metadata(value, self)
        if not isinstance(found, Node):
            return None
        bare = plain(value)
        return self.arrays.current(bare, found) if can_change(bare) else found

    def has_node(self, value: Any) -> bool:
        """Whether a value is unknown."""
        return isinstance(metadata(value, self), Node)

    def operation(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], value: Any) -> Any:
        """The result of a leaf, tagged with a new node for it."""
        node = self._add(f, arguments, keywords, value)
        found = self._metadata_of_result(node, value)
        return value if found is NO_METADATA else tag(value, self, found)

    def _add(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], value: Any) -> Node:
        operands = tuple(map(self.template, arguments))
        named = {name: self.template(one) for name, one in keywords.items()}
        node = Node(self._count, IN_PLACE.get(f, f), operands, named, value, nearest_site())
        node.fixed = makes_text(f) or (keeps_types(f) and all(source.fixed for source in node.sources))
        self._append(node)
        return node

    def add_node(self, function: Any, operands: tuple[Template, ...], value: Any) -> Node:
        """A new operation that no event of the program is."""
        node = Node(self._count, function, operands, {}, value, nearest_site())
        self._append(node)
        return node

    def _append(self, step: Step) -> None:
        if isinstance(step, Node):
            self._count += 1
            self.arrays.notes(step)
        self.steps.append(step)
        if len(self.steps) > self._limit:
            raise self.refuse(
                refusal(f"it has more than {self._limit} operations", "Loops are unrolled: take a smaller example")
            )

    def guard(self, test: str, node: Node, expected: Any) -> None:
        """Note a decision, unless it was made before."""
        known = self._guarded.get((test, node.number))
        if known is None:
            found = Guard(test, node, expected, nearest_site())
            self._guarded[test, node.number] = found
            self._append(found)

    def fix_type(self, node: Node) -> None:
        """Note that the type of a value decides."""
        if not node.fixed:
            self.guard("type", node, type(node.value))
            node.fixed = True

    def decided(self, value: Any) -> Any:
        """An unknown value that the program needs as a known one: its value is a guard."""
        node = self.node_of(value)
        bare = plain(value)
        if node is None:
            return bare
        if not issubclass(type(bare), LITERALS):
            raise self.refuse(
                refusal(f"a decision depends on {type(bare).__name__} that is unknown", "Compare numbers instead")
            )
        self.guard("value", node, bare)
        return bare

    # ---- what a value is made of

    def template(self, value: Any) -> Template:
        """A value as an operand: a node, a constant, or a container that is built anew."""
        node, bare = self.node_of(value), plain(value)
        if node is not None:
            return node
        kind = type(bare)
        if kind in _SEQUENCES:
            items = self._store.wrapped_items(bare)
            return Built(kind, tuple(map(self.template, items)))
        if kind is dict:
            slots = self._store.slots_by_key(bare)
            parts = [Tagged(*slots[key]) if key in slots else one for key, one in bare.items()]
            return Built(dict, tuple(map(self.template, parts)), tuple(bare))
        if kind is slice:
            return Built(slice, tuple(map(self.template, (bare.start, bare.stop, bare.step))))
        if kind in (set, frozenset) and not allmetadata(self, bare):
            return Constant(frozenset(bare) if kind is frozenset else set(bare))
        if is_array(bare) and not holds_metadata((bare,), self._tag):
            return Constant(bare.copy())
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return Built(kind, tuple(map(self.template, self._store.wrapped_items(bare))))
        if issubclass(kind, (GeneratorType, FunctionType)) or holds_metadata((bare,), self._tag):
            raise self.refuse(
                refusal(f"{kind.__name__} with unknown values is given to a function that is not traced", _INSTALL)
            )
        return Constant(bare)

    def is_data(self, value: Any) -> bool:
        """Whether a value can be an operand: it consists of nodes, of known values, and of containers of these."""
        bare = plain(value)
        if self.node_of(value) is not None or not holds_metadata((bare,), self._tag):
            return True
        if type(bare) is dict:
            slots = self._store.slots_by_key(bare)
            return all(self.is_data(Tagged(*slots[key]) if key in slots else part) for key, part in bare.items())
        return type(bare) in _SEQUENCES and all(map(self.is_data, self._store.wrapped_items(bare)))

    @property
    def _tag(self) -> Any:
        return tag_of(self)

    @property
    def _store(self) -> Any:
        return self._tag.store

    def _metadata_of_result(self, node: Node, value: Any) -> Any:
        """The node of a result; the items of containers have nodes of their own, and their number is a guard."""
        kind = type(value)
        if kind in _SEQUENCES:
            if getattr(node.function, "__name__", "") not in _FIXED_LENGTH:
                self.guard("length", node, len(value))
            items = [self._item(node, number, one) for number, one in enumerate(value)]
            self._store.set_item_metas(value, items)
            return NO_METADATA
        if issubclass(kind, (dict, set, frozenset, deque)):
            raise self.refuse(
                refusal(f"{leaf_name(node.function)} makes a {kind.__name__} of unknown values", _INSTALL)
            )
        return node

    def _item(self, node: Node, number: int, value: Any) -> Any:
        item = Node(self._count, operator.getitem, (node, Constant(number)), {}, value, node.site)
        self._append(item)
        found = self._metadata_of_result(item, value)
        return None if found is NO_METADATA else {self._tag: found}

    # ---- what tagging asks

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """The metadata of what a leaf without an overload has computed: a new node."""
        if type(value) in (MethodType, *_IN_C) and f is getattr:
            return NO_METADATA
        if type(f).__hash__ is None:  # an object that is called, and no function that a table could list
            raise self.refuse(
                refusal(f"an object of the type {type(f).__qualname__} is called with unknown values", _CALL_FUNCTION)
            )
        if arguments and metas_of(arguments[0]) is None and self.depends_on_no_number(f, arguments):
            return NO_METADATA
        if self._ran_methods_of_program(f, arguments):
            return NO_METADATA
        if f in _QUESTIONS and self.node_of(arguments[0]) is None:
            return NO_METADATA
        self._check_arrays(f, arguments, keywords)
        if not self._may_call(f) or value is None or id(f) in MUTATORS:
            what = f"{leaf_name(f)} gets unknown values, and may change something"
            raise self.refuse(refusal(*refused_call(f, leaf_name(f)) or (what, _INSTALL)))
        return self._metadata_of_result(self._add(f, arguments, keywords, value), value)

    def _ran_methods_of_program(self, f: Any, arguments: tuple[Any, ...]) -> bool:
        """Whether an operator has run special methods of the program, whose result has the metadata that it needs."""
        methods = own_methods(f, arguments) if f in OPERATORS or f in IN_PLACE else ()
        return bool(methods) and all(calls_overdubbed(self._program, one) for one in methods)

    def compared(self, f: Any) -> None:
        """A leaf is about to compare or to hash unknown values."""
        raise self.refuse(refusal(f"unknown values are compared or hashed by {leaf_name(f)}", "Compare with operators"))

    def matched(self, value: Any, kind: str, constant: Any) -> None:
        """A pattern of `match` is about to test an unknown value, or a part of one: the outcome is a guard."""
        node, bare = self.node_of(value), plain(value)
        if node is None:
            if kind in ("value", "keys"):
                self.compared(operator.eq)
        elif kind == "type" or (kind == "identity" and type(bare) is not bool):
            self.fix_type(node)
        elif kind == "equal" and type(bare) in LITERALS:
            found = self.operation(operator.eq, (value, constant), {}, bare == constant)
            self.guard("truth", self.node_of(found), bare == constant)  # type: ignore[arg-type]
        else:
            self.decided(value)

    def iterated(self, value: Any) -> None:
        """A leaf is about to iterate an unknown value: its length is a guard."""
        node, bare = self.node_of(value), plain(value)
        if node is None:
            return
        if not (isinstance(bare, (str, bytes)) or is_array(bare)):
            raise self.refuse(refusal(f"an unknown {node.type.__name__} is iterated", "Give a list of unknown values"))
        self.guard("length", node, len(bare))

    def tested(self, f: Any, value: Any) -> Any:
        """A leaf, or the interpreter, is about to test the truth of an unknown value: a guard."""
        node = self.node_of(value)
        if node is None:
            return plain(value)
        self.guard("truth", node, bool(plain(value)))
        return plain(value)

    def needed(self, f: Any, value: Any) -> Any:
        """The interpreter is about to count with what `__len__` or `__index__` of the program returns: a guard."""
        return self.decided(value)

    def raised(self, error: Exception, f: Any, *arguments: Any) -> None:
        """A leaf has raised an exception because of unknown values. The program must not catch it."""
        self.caught = refusal(
            f"the program catches {error!r}, which unknown values have raised",
            "Give an example for which nothing is raised",
        )
        self.caught.__cause__ = error

    # ---- effects

    def prehook(self, f: Any, *arguments: Any, **keywords: Any) -> None:
        """Refuse what reaches out of the call."""
        for one in map(plain, arguments):
            if hasattr(type(one), "__next__"):
                self.check_iterator(one)
        if id(f) in MUTATORS and arguments:
            self.check_change(f, arguments)
        elif not self._may_call(f) and not is_silent(f, tuple(map(plain, arguments))):
            what = f"{leaf_name(f)} is called, whose result or effect may depend on more than its arguments"
            advice = _NOT_COMPILED if type(f).__module__.startswith("numba.") else _INSTALL
            raise self.refuse(refusal(*refused_call(f, leaf_name(f)) or (what, advice)))
        for one in changed_arrays(f, tuple(map(plain, arguments)), _plain_values(keywords)):
            if self.outside.forbids(one):
                raise self.refuse(_changed_outside(one))

    def check_iterator(self, value: Any) -> None:
        """Refuse to advance an iterator that exists outside of the call."""
        if hasattr(type(plain(value)), "__next__") and self.outside.forbids(plain(value)):
            raise self.refuse(
                refusal("an iterator that exists outside of the call is advanced", "Give a list as the argument")
            )

    def check_change(self, f: Any, arguments: tuple[Any, ...]) -> None:
        """Refuse to change an object that exists outside of the call."""
        owner = plain(arguments[0])
        if can_change(owner) and self.has_node(arguments[0]):
            return  # its own overload sees to it
        if id(f) in MUTATORS and not self._changes_nothing(f, arguments) and self.outside.forbids(owner):
            raise self.refuse(_changed_outside(owner))

    def _check_arrays(self, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Refuse a call of NumPy that gets unknown values and changes an array."""
        if changed_arrays(f, tuple(map(plain, arguments)), _plain_values(keywords)) or "out" in keywords:
            raise self.refuse(
                refusal(
                    f"an array is changed in place by {leaf_name(f)}",
                    "Use the result of the function, which is a new array, and leave out the one to change",
                )
            )

    def _changes_nothing(self, f: Any, arguments: tuple[Any, ...]) -> bool:
        owner = plain(arguments[0])
        if f in IN_PLACE and not isinstance(owner, (list, set, dict, deque, bytearray)) and not can_change(owner):
            return True  # of an immutable value
        if f is not setattr or metas_of(arguments[2]) is not None:
            return False
        return stores_the_same(owner, plain(arguments[1]), plain(arguments[2]))

    def _may_call(self, f: Any) -> bool:
        known = self._judged.get(id(f))
        if known is None or known[0] is not f:
            allowed = is_pure(f) or calls_overdubbed(self._program, f) or _is_class_of_program(self._program, f)
            allowed = allowed or (type(f) is FunctionType and is_new_of_named_tuple(f))
            known = self._judged[id(f)] = f, allowed
        return known[1]

    def forget_functions(self) -> None:
        """Forget the functions that were judged: closures among them refer to objects of the call."""
        self._judged.clear()

    @property
    def _program(self) -> Any:
        here = ACTIVE.get()
        return here if here.suspended is None else here.suspended


def _plain_values(keywords: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(one) for name, one in keywords.items()}


def _changed_outside(owner: Any) -> NotRepresentable:
    """The error for the change of an object that is older than the call."""
    return refusal(
        f"an object that exists outside of the call is changed ({type(owner).__name__})",
        "Give it as a known argument, or copy it in the function",
    )


_QUESTIONS: Final = (callable, hasattr, isinstance, type)
"""What does not depend on the parts of an object."""


def _is_class_of_program(activation: Activation, f: Any) -> bool:
    """Whether it is an exception, or a class of the program without code of its own that runs when it is called."""
    if not isinstance(f, type):
        return False
    if issubclass(f, BaseException):
        return True
    return all(_is_of_program(activation, kind) or is_pure(kind) for kind in f.__mro__)


def _is_of_program(activation: Activation, kind: type) -> bool:
    """Whether a class belongs to an overdubbed module."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    record = OVERDUBBED.files.get(file) if isinstance(file, str) else None
    return record is not None and (record.installed or file in activation.roots)
