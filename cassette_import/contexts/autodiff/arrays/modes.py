"""The two modes for arrays.

In forward mode, the metadata of an array is an array of derivatives that broadcasts to its shape. In reverse mode, an
array has one node on the tape. Imported only if the program imports NumPy.

>>> import numpy
>>> from cassette_import.contexts.autodiff import gradient
>>> gradient(lambda x: numpy.sum(x * x), numpy.array([1.0, 2.0]))[0].tolist()
[2.0, 4.0]
"""

from __future__ import annotations

import functools
import numbers
import operator
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

import numpy

from cassette_import.activation.tagging import NO_METADATA
from cassette_import.contexts.autodiff.arrays.array_memory import ArrayMemory
from cassette_import.contexts.autodiff.arrays.calls import (
    HANDLERS,
    INDEPENDENT_OF_ARRAYS,
    functions_without_rule,
    handles,
    is_constant,
    may_have_derivative,
    no_rule_error,
    reject,
    split_array_metadata,
)
from cassette_import.contexts.autodiff.arrays.handlers import computations, movements
from cassette_import.contexts.autodiff.arrays.linear_maps import LinearMap, broadcast, call, shape_of
from cassette_import.contexts.autodiff.modes import (
    Differentiating,
    Forward,
    Node,
    Reverse,
    differentiate,
    real_weight,
    scaled,
)
from cassette_import.contexts.autodiff.structures import is_number
from cassette_import.errors import NotOverdubbable
from cassette_import.interpreter.callables import underlying
from cassette_import.kits.events import ACTIVE
from cassette_import.kits.numbers.lost_numbers import UNKNOWN
from cassette_import.kits.numbers.overloads import call_without_overload
from cassette_import.kits.numbers.partials import LOCALLY_CONSTANT
from cassette_import.kits.tagged_containers import cursor_of_tagged, cursor_over
from cassette_import.kits.tagging import CURSORS, Metas, Tagged, plain

Array: Final = numpy.ndarray


class Arrays(Differentiating, tagging=True):
    """The base of both modes for arrays."""

    arrays: ClassVar[tuple[type, ...]] = (Array,)

    def __init__(self) -> None:
        super().__init__()
        self.memory = ArrayMemory(self.combine_maps)

    @staticmethod
    def quiet() -> Any:
        return numpy.errstate(all="ignore")

    def combine_maps(self, terms: list[tuple[LinearMap, Any]]) -> Any:
        """The metadata of a result, from pairs of a linear map and the metadata of an argument."""
        raise NotImplementedError

    def snapshot(self, value: Any) -> Any:
        bare = plain(value)
        if not isinstance(bare, Array):
            return value
        return Tagged(bare.copy(), value._tagged_metas) if type(value) is Tagged else bare.copy()

    def saved(self, value: Any) -> Any:
        """A value that a linear map uses later: a copy if weights are pulled back after the program may change it."""
        return value

    def call_on_non_numbers(self, f: Any, arguments: tuple[Any, ...]) -> Any:
        if any(isinstance(plain(argument), Array) for argument in arguments):
            if getattr(f, "__module__", None) == "math" and not any(map(shape_of, arguments)):
                numbers: Any = [_as_number(self, argument) for argument in arguments]
                return differentiate(self, f, *numbers)
            handler: Any = HANDLERS.get(f, reject)
            return handler(self, f, *arguments)
        return super().call_on_non_numbers(f, arguments)

    def add_input(self, array: Any, metadata: Any) -> None:
        if array.dtype.kind in "cO":
            raise TypeError(f"arrays of {array.dtype} have no derivative: give an array of real numbers")
        if type(array) is not Array:
            raise TypeError(f"arrays of type {type(array).__name__} have no derivative: give a plain array")
        if array.base is not None:
            self.memory.add(array, metadata)

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """The metadata of an attribute of an array; an error for the result of a function without a rule."""
        moved: Any = None
        if f is getattr and isinstance(plain(arguments[0]), (Array, numpy.generic)):
            function = _ATTRIBUTES.get(plain(arguments[1]))
            if function is not None and may_have_derivative(value):
                moved = movements.move(self, function, arguments[0])
        elif f is float and isinstance(value, float) and isinstance(plain(arguments[0]), Array):
            moved = movements.move(self, numpy.reshape, arguments[0], ())
        if moved is not None:
            _, _, found = split_array_metadata(self, (moved,))
            return found[0][1] if found else NO_METADATA
        if not _holds_arrays((value, *arguments, *keywords.values())):
            return super().computed(value, f, *arguments, **keywords)
        attribute = plain(arguments[1]) if f is getattr else ""
        if (
            isinstance(value, (bool, numpy.bool))
            or attribute in _CONSTANT_ATTRIBUTES
            or id(f) in _LOCALLY_CONSTANT
            or (value is None and underlying(f) in INDEPENDENT_OF_ARRAYS)
        ):
            return NO_METADATA
        if (
            (value is None and not attribute)
            or isinstance(value, (numbers.Number, Array))
            or may_have_derivative(value)
        ):
            raise self.refuse(no_rule_error(f, attribute))
        return NO_METADATA if is_constant(value) else UNKNOWN


def _as_number(ctx: Any, argument: Any) -> Any:
    return movements.move(ctx, Array.item, argument) if isinstance(plain(argument), Array) else argument


def _holds_arrays(value: Any, depth: int = 3) -> bool:
    value = plain(value)
    if isinstance(value, (list, tuple, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return depth > 0 and any(_holds_arrays(part, depth - 1) for part in parts)
    return isinstance(value, Array)


_LOCALLY_CONSTANT: Final = frozenset(map(id, LOCALLY_CONSTANT))
_CONSTANT_ATTRIBUTES: Final = frozenset({
    "device", "dtype", "flags", "itemsize", "nbytes", "ndim", "shape", "size", "strides",
})  # fmt: skip
"""Attributes of arrays of real numbers whose derivative is zero."""

_ATTRIBUTES: Final = {
    name: vars(numpy)[function]
    for name, function in (("T", "transpose"), ("mT", "matrix_transpose"), ("real", "real"))
    if function in vars(numpy)
}


class ArrayForward(Arrays, Forward):
    """Forward mode for numbers and arrays."""

    def combine_maps(self, terms: list[tuple[LinearMap, Any]]) -> Any:
        return functools.reduce(operator.add, [term.push(tangent) for term, tangent in terms])

    def add_input(self, array: Any, metadata: Any) -> None:
        try:
            numpy.broadcast_to(plain(metadata), array.shape)
        except ValueError:
            raise ValueError(f"a tangent of the shape {array.shape} is needed, not {metadata!r}") from None
        super().add_input(array, metadata)

    def split_array(self, array: Any) -> tuple[Any, Any]:
        _, (value,), found = split_array_metadata(self, (array,))
        shape = shape_of(value)
        return value, _fresh_array(broadcast(found[0][1], shape) if found else numpy.zeros(shape), plain(value))


class ArrayNode(Node):
    """An array on the tape, or a number computed from one: pairs of a linear map and a node."""

    __slots__ = ()

    def contributions(self, weight: Any) -> Iterable[tuple[Node, Any]]:
        weight = _checked_real(weight)
        return [(source, term.pull(weight)) for term, source in self.pairs]

    def chosen_contributions(self, weight: Any, mask: Any) -> Iterable[tuple[Node, Any, Any]]:
        """The contributions of a weight of which only the elements in the mask count, with their masks."""
        mask = numpy.broadcast_to(mask, shape_of(weight))
        for term, source in self.pairs:
            if term.pull_chosen is None:
                yield source, term.pull(weight), True
            else:
                yield source, *term.pull_chosen(weight, mask)


class ArrayReverse(Arrays, Reverse):
    """Reverse mode for numbers and arrays."""

    def __init__(self) -> None:
        super().__init__()
        self._inputs: dict[int, Any] = {}
        self._shapes: dict[int, tuple[int, ...]] = {}

    def combine_maps(self, terms: list[tuple[LinearMap, Any]]) -> Any:
        node = ArrayNode(next(self._numbers), terms)
        self.tape.append(node)
        return node

    def saved(self, value: Any) -> Any:
        return self.snapshot(value)

    def new_input(self, value: Any) -> Node:
        node = super().new_input(value)
        self._inputs[node.number] = value
        return node

    def split_array(self, array: Any) -> tuple[Any, Any]:
        _, (value,), found = split_array_metadata(self, (array,))
        if not found:
            return value, None
        node = found[0][1]
        self._shapes[node.number] = shape_of(value)
        return value, node

    def pull_back(self, seeds: list[tuple[Node, Any]]) -> list[Any]:
        seeds = [(node, self._weight(node, weight)) for node, weight in seeds]
        with numpy.errstate(all="ignore"):
            found = super().pull_back(seeds)
            if any(_has_nan(plain(found[number])) for number in self._inputs):
                return self._pull_back_chosen(seeds)
        return found

    def _pull_back_chosen(self, seeds: list[tuple[Node, Any]]) -> list[Any]:
        """As `pull_back`, without what functions such as `numpy.where` have not chosen.

        Its weight is zero, which times an infinite derivative would be NaN.
        """
        found: list[Any] = [0.0] * len(self.tape)
        chosen: list[Any] = [False] * len(self.tape)
        for node, weight in seeds:
            found[node.number] = found[node.number] + weight
            chosen[node.number] = chosen[node.number] | (numpy.asarray(plain(weight)) != 0)
        for node in reversed(self.tape):
            weight, mask = found[node.number], chosen[node.number]
            if not numpy.any(mask):
                continue
            if isinstance(node, ArrayNode):
                terms = node.chosen_contributions(_checked_real(weight), mask)
            else:
                terms = [(source, scaled(partial, real_weight(node, weight)), True) for partial, source in node.pairs]
            for source, contribution, there in terms:
                found[source.number] = found[source.number] + contribution
                chosen[source.number] = chosen[source.number] | there
        return found

    def _weight(self, node: Node, weight: Any) -> Any:
        shape = self._shapes.get(node.number)
        if shape is None:
            return weight
        try:
            return broadcast(weight, shape)
        except ValueError:
            raise ValueError(f"a cotangent of the shape {shape} is needed, not {weight!r}") from None

    def derivative_of(self, found: list[Any], node: Node) -> Any:
        value, derivative = self._inputs[node.number], super().derivative_of(found, node)
        if isinstance(value, Array):
            return _fresh_array(broadcast(derivative, value.shape), value)
        if type(value) is float and type(derivative) is not Tagged and not numpy.ndim(derivative):
            return float(derivative)
        return derivative


def _has_nan(derivative: Any) -> bool:
    return derivative != derivative if type(derivative) is float else bool(numpy.isnan(derivative).any())


def _checked_real(derivative: Any) -> Any:
    """A derivative, which must be real: the transposed maps hold for real numbers only."""
    if numpy.iscomplexobj(plain(derivative)):
        raise NotOverdubbable("the function computes with complex numbers, of which no derivative is known")
    return derivative


def _fresh_array(derivative: Any, value: Any) -> Any:
    """A derivative as a new array, with the floating-point type of the value."""
    return call(numpy.array, _checked_real(derivative), value.dtype if value.dtype.kind == "f" else numpy.dtype(float))


# ---- iteration


def _cursor(given: Any) -> Callable[[Any], Metas | None] | None:
    """A function that returns the metadata of each item while the program iterates over an array."""
    known = any(isinstance(context, Arrays) and context.memory.known for context in ACTIVE.get().contexts)
    return cursor_over(given) if known else cursor_of_tagged(given)


CURSORS[id(Array)] = _cursor


def has_rule(function: Any) -> bool:
    """Whether there is a rule for a function."""
    try:
        return HANDLERS.get(function, reject) is not reject
    except TypeError:  # not hashable
        return False


handles(*functions_without_rule())(reject)
_SPECIAL_METHODS: Final = frozenset({
    *(operator.floordiv, operator.ifloordiv, operator.matmul, operator.imatmul, round),
})  # fmt: skip
"""Functions of Python with a handler, for which the classes of a program may have methods of their own."""
_BY_HANDLER: Final[dict[Any, list[Any]]] = {}
_OF_NUMBERS: Final = frozenset(target for handler in Differentiating.overdub.handlers for target in handler.targets)
for _function, _handler in HANDLERS.items():
    if _function not in _OF_NUMBERS and _function not in _SPECIAL_METHODS:  # their overload calls `call_on_non_numbers`
        _BY_HANDLER.setdefault(_handler, []).append(_function)
for _handler, _functions in _BY_HANDLER.items():
    Arrays.overdub.register(*_functions)(_handler)


def _handle_arrays(ctx: Any, f: Any, /, *arguments: Any) -> Any:
    """A handler is for arrays. Other objects may have a method, which computes in the context."""
    if any(isinstance(plain(one), (Array, numpy.generic)) for one in arguments):
        return HANDLERS[f](ctx, f, *arguments)
    return call_without_overload(f, arguments, {})


Arrays.overdub.register(*_SPECIAL_METHODS)(_handle_arrays)

Arrays.overdub.register(divmod)(computations.divide)

__all__ = ["ArrayForward", "ArrayReverse", "is_number"]
