"""Functions of contexts that compute for all lanes at once, where the program calls them within a run."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.columns import Mixed, SequenceFunction, kind_of
from cassette_import.contexts.lanes.elementwise import compute
from cassette_import.contexts.lanes.errors import name_of
from cassette_import.contexts.lanes.known_functions import PARTS
from cassette_import.contexts.lanes.lane import Lane
from cassette_import.contexts.lanes.lane_sets import Lanes
from cassette_import.contexts.lanes.nested_levels import Level, evaluated, taken_apart
from cassette_import.kits.numbers.partials import FOLDS, LOCALLY_CONSTANT, TRUTH_VALUES, has_slopes, slope
from cassette_import.kits.tagged_containers import sequence_like
from cassette_import.kits.tagging import COMPUTED_BY

__all__ = ["NESTED", "VECTORIZED", "original_of"]

# ---- derivatives within a run: forward mode, with a value of lanes for each direction
#
# The partial derivatives are those of `autodiff`, applied to values of lanes. A gradient has a direction for each
# number of the arguments.

_WITHOUT_SLOPE: Final = frozenset({*LOCALLY_CONSTANT, *TRUTH_VALUES})
_SAME: Final = frozenset({float, operator.pos, PARTS["real"], PARTS["conjugate"]})


def _of_distance(v: Any, *coordinates: Any) -> list[Any]:
    half = len(coordinates) // 2
    partials = [0.0 if v == 0 else (p - q) / v for p, q in zip(coordinates[:half], coordinates[half:], strict=True)]
    return [*partials, *(-one for one in partials)]


def _of_inner_product(v: Any, *factors: Any) -> list[Any]:
    half = len(factors) // 2
    return [*factors[half:], *factors[:half]]


_OF_SEQUENCES: Final[dict[Any, Callable[..., list[Any]]]] = {
    **FOLDS,
    math.dist: _of_distance,
    **({math.sumprod: _of_inner_product} if hasattr(math, "sumprod") else {}),
}
"""The partial derivatives of functions of sequences, for all numbers in these."""


class Tangents(Level):
    """Differentiates a function: the parts of an annotation are the derivatives in each direction."""

    name = "derivative"

    def __init__(self, lanes: Lanes) -> None:
        super().__init__()
        self.lanes = lanes

    def lifted(self, part: Any, value: Any) -> Any:
        """The derivative of a value that does not depend on the arguments."""
        return 0.0

    def result(self, function: Any, operands: Sequence[Any], found: Sequence[Any]) -> Any:
        """The result with its derivatives."""
        value = evaluated(function, operands)
        if type(value) is tuple:
            return self._tuple(function, value, operands, found)
        kind = _kind(value)
        if kind == "truth" or _is_locally_constant(function):
            return value
        lanes = self.lanes
        if kind == "other":
            return self.annotate(lanes, lanes.active, value, None)
        if kind == "complex":
            raise lanes.refuse(self.refusal(f"{name_of(function)} returns a complex number"))
        if any(one is not None and one.parts is None for one in found):
            raise lanes.refuse(self.refusal(f"{name_of(function)} computes a number from an object or a text"))
        slopes = self._slopes(function, value, operands, found)
        if slopes is None:
            raise lanes.refuse(self.refusal(f"no rule is known for {name_of(function)}"))
        parts: dict[Any, Any] = {}
        for partial, one in slopes:
            for direction, tangent in one.parts.items():
                term = tangent if type(partial) is float and partial == 1.0 else partial * tangent
                parts[direction] = parts[direction] + term if direction in parts else term
        return self.annotate(lanes, lanes.active, value, parts)

    def _slopes(
        self, function: Any, value: Any, operands: Sequence[Any], found: Sequence[Any]
    ) -> list[tuple[Any, Any]] | None:
        """Pairs of a partial derivative and the annotation of an operand; None if no rule is known."""
        if function in _SAME:
            return [(1.0, found[0])]
        if type(function) is SequenceFunction:
            rule = _OF_SEQUENCES.get(function.function)
            if rule is None or function.keywords:
                return None
            every = rule(value, *operands)
            return [(every[number], one) for number, one in enumerate(found) if one is not None]
        if not has_slopes(function):
            return None
        return [(slope(function, number, value, operands), one) for number, one in enumerate(found) if one is not None]

    def _tuple(self, function: Any, value: tuple[Any, ...], operands: Sequence[Any], found: Sequence[Any]) -> Any:
        """The result of a function that returns a tuple."""
        if function is math.modf:
            return self.annotate(self.lanes, self.lanes.active, value[0], found[0].parts), value[1]
        if function is divmod:
            return value[0], self.result(operator.mod, operands, found)
        raise self.lanes.refuse(self.refusal(f"no rule is known for {name_of(function)}"))


def _kind(value: Any) -> str:
    """What a value is: a truth value, a number, a complex number, or something else."""
    column = value.data if type(value) is Lane else value
    kinds = {kind_of(array) for array in column.arrays} if type(column) is Mixed else {kind_of(column)}
    if kinds == {"b"}:
        return "truth"
    if "c" in kinds:
        return "complex"
    if "O" not in kinds:
        return "number"
    some = column.tolist() if type(value) is Lane else [value]
    are_numbers = all(isinstance(one, numbers.Number) and not isinstance(one, Decimal) for one in some)
    return "number" if are_numbers else "other"


def _is_locally_constant(function: Any) -> bool:
    return function in _WITHOUT_SLOPE or function is PARTS["imag"] or getattr(function, "decides", False)


# ---- what the program calls


def jvp(context: Any, f: Any, args: Any, tangents: Any) -> tuple[Any, Any]:
    """What `autodiff.jvp` returns, for all lanes."""
    if len(args) != len(tangents):
        raise ValueError(f"{len(args)} arguments need as many tangents, not {len(tangents)}")
    level = Tangents(context.lanes)
    annotated = [_with_tangent(level, value, tangent) for value, tangent in zip(args, tangents, strict=True)]
    result = _run(context, level, f, annotated)
    return _values(level, result), _read(level, result, lambda parts: parts.get(0, 0.0))


def derivative(context: Any, f: Any, x: Any) -> Any:
    """What `autodiff.derivative` returns, for all lanes."""
    return jvp(context, f, (x,), (1.0,))[1]


def vjp(context: Any, f: Any, args: Any, cotangent: Any = 1.0) -> tuple[Any, tuple[Any, ...]]:
    """What `autodiff.vjp` returns, for all lanes: in forward mode, with a direction for each number."""
    level = Tangents(context.lanes)
    count = 0

    def seed(value: Any) -> Any:
        nonlocal count
        if not _is_number(level, value):
            return value
        count += 1
        return _annotated(level, value, {count - 1: 1.0})

    result = _run(context, level, f, [_mapped(value, seed) for value in args])
    found: dict[Any, Any] = {}
    _collect(level, result, cotangent, found)
    places = iter(range(count))
    derivatives = tuple(
        _mapped(value, lambda one: found.get(next(places), 0.0) if _is_number(level, one) else None) for value in args
    )
    return _values(level, result), derivatives


def gradient(context: Any, f: Any, *args: Any) -> tuple[Any, ...]:
    """What `autodiff.gradient` returns, for all lanes."""
    return vjp(context, f, args)[1]


def _run(context: Any, level: Tangents, f: Any, given: Sequence[Any]) -> Any:
    if not callable(f):
        raise TypeError(f"the function must be callable, not {f!r}")
    try:
        result = context.call(f, *given)
    finally:
        level.ended = True
    if not _has_number(result):
        raise TypeError(f"the function returned {result!r}, which contains no number to differentiate")
    return result


def _has_number(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return not value or any(map(_has_number, value))
    return isinstance(value, numbers.Number)


def _is_number(level: Tangents, value: Any) -> bool:
    """Whether a value of the arguments can have a derivative."""
    if isinstance(value, (np.ndarray, Decimal, complex)):
        raise level.lanes.refuse(level.refusal(f"an argument is of type {value.__class__.__qualname__}"))
    return isinstance(value, numbers.Number) and not isinstance(value, bool)


def _annotated(level: Tangents, value: Any, parts: dict[Any, Any]) -> Any:
    return level.annotate(level.lanes, level.lanes.active, value, parts)


def _with_tangent(level: Tangents, value: Any, tangent: Any) -> Any:
    """An argument whose numbers have the given derivatives."""
    if _is_number(level, value):
        return value if tangent is None else _annotated(level, value, {0: tangent * 1.0})
    if isinstance(value, (list, tuple, dict)):
        if tangent is None:
            return value
        if not isinstance(tangent, (list, tuple, dict)) or len(tangent) != len(value):
            raise ValueError(f"a tangent of the structure of {value!r} is needed, not {tangent!r}")
        if isinstance(value, dict):
            return {key: _with_tangent(level, part, tangent[key]) for key, part in value.items()}
        return sequence_like(value, [_with_tangent(level, *pair) for pair in zip(value, tangent, strict=True)])
    if tangent is not None and (type(tangent) is Lane or tangent):
        raise TypeError(f"{value!r} is no number, so there is no derivative for it: its tangent must be None")
    return value


def _mapped(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """A structure of other leaves."""
    if type(value) is not Lane and isinstance(value, dict):
        return {key: _mapped(part, leaf) for key, part in value.items()}
    if type(value) is not Lane and isinstance(value, (list, tuple)):
        return sequence_like(value, [_mapped(part, leaf) for part in value])
    return leaf(value)


def _values(level: Tangents, result: Any) -> Any:
    """A result without its derivatives."""
    return _mapped(result, lambda value: taken_apart(level, value)[0])


def _read(level: Tangents, result: Any, read: Callable[[dict[Any, Any]], Any]) -> Any:
    """The derivatives of a result, in its structure."""
    if type(result) is not Lane and isinstance(result, dict):
        return {key: _read(level, part, read) for key, part in result.items()}
    if type(result) is not Lane and isinstance(result, (list, tuple)):
        parts = [_read(level, part, read) for part in result]
        return parts if isinstance(result, list) else tuple(parts)
    return read(taken_apart(level, result)[1] or {})


def _collect(level: Tangents, result: Any, weight: Any, found: dict[Any, Any]) -> None:
    """Add the weighted derivatives of a result in each direction."""
    if type(result) is not Lane and isinstance(result, (list, tuple, dict)):
        is_one = type(weight) is Lane or isinstance(weight, numbers.Number)
        for key, part in result.items() if isinstance(result, dict) else enumerate(result):
            _collect(level, part, weight if is_one else weight[key], found)
        return
    for direction, tangent in (taken_apart(level, result)[1] or {}).items():
        term = tangent if type(weight) is float and weight == 1.0 else tangent * weight
        found[direction] = found[direction] + term if direction in found else term


COMPUTED_BY[Lane] = compute


# ---- functions of contexts that compute for all lanes at once, where the program calls them within a run


def _enclosure(context: Any, *arguments: Any, **keywords: Any) -> Any:
    from cassette_import.contexts.lanes import enclosures  # needs python-flint, as the caller has it

    return enclosures.enclosure(context, *arguments, **keywords)


VECTORIZED: Final = "_vectorized_function"
"""The attribute of a vectorized function that has what it calls for one lane."""


def original_of(function: Any) -> Any:
    """What a vectorized function calls for each lane, if a call within a run means the same; else None."""
    return vars(function).get(VECTORIZED)


_AUTODIFF: Final = "cassette_import.contexts.autodiff.derivatives"

NESTED: Final[dict[tuple[str, str], Callable[..., Any]]] = {
    (_AUTODIFF, "derivative"): derivative,
    (_AUTODIFF, "gradient"): gradient,
    (_AUTODIFF, "jvp"): jvp,
    (_AUTODIFF, "vjp"): vjp,
    ("cassette_import.contexts.intervals.context", "enclosure"): _enclosure,
}
"""By module and name: a function of the context of the run, and of the arguments."""
