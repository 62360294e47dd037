"""The two modes of differentiation as contexts: `Forward` pushes derivatives forward, `Reverse` records a tape."""

from __future__ import annotations

import cmath
import functools
import itertools
import math
import numbers
import operator
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from decimal import Decimal
from types import FunctionType, SimpleNamespace
from typing import Any, ClassVar, Final

from cassette_import.activation.tagging import NO_METADATA, metadata
from cassette_import.activation.verbs import fallback
from cassette_import.contexts.autodiff.structures import is_number
from cassette_import.errors import CassetteError, NotOverdubbable
from cassette_import.kits.events import nearest_site
from cassette_import.kits.numbers.composed_calls import compose, finished, ieee
from cassette_import.kits.numbers.compositions import COMPOSITIONS
from cassette_import.kits.numbers.lost_numbers import INDEPENDENT, UNKNOWN, LosesNothing
from cassette_import.kits.numbers.overloads import (
    NUMBERS,
    call_without_overload,
    fold_call,
    runs_own_method,
    split_metadata,
    with_metadata,
    without_modulus,
)
from cassette_import.kits.numbers.partials import (
    FOLDS,
    JOINT_PARTIALS,
    LOCALLY_CONSTANT,
    PARTIALS,
    TRUTH_VALUES,
    Partial,
    constant,
    partials_of,
)
from cassette_import.kits.numbers.table import FOLDS as OF_TWO
from cassette_import.kits.numbers.table import row_of
from cassette_import.kits.tagging import Tagged, leaf_name, metas_of, plain, run, wrapped

__all__ = ["COMPLEX_PARTIALS", "Differentiating", "Forward", "Node", "Reverse", "differentiate"]

# ---- the derivatives of functions of complex numbers, as data

_HOLOMORPHIC: Final = (
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log",
    "log10", "sqrt",
)  # fmt: skip
_COMPLEX: Final = SimpleNamespace(
    **{name: functools.partial(run, getattr(cmath, name)) for name in ("sqrt", "sin", "cos", "sinh", "cosh", "log")}
)
"""The arithmetic of complex numbers, in which partial derivatives are computed."""
_OWN: Final[dict[str, tuple[Partial, ...]]] = {
    "acosh": (lambda v, x: 1.0 / (run(cmath.sqrt, x - 1.0) * run(cmath.sqrt, x + 1.0)),),  # on both sides of the cut
}


def _partials(name: str) -> tuple[Partial, ...]:
    row = row_of(getattr(math, name))
    assert row is not None
    return _OWN.get(name) or partials_of(row, _COMPLEX)


COMPLEX_PARTIALS: Final[dict[Any, tuple[Partial, ...]]] = {
    **{getattr(cmath, name): _partials(name) for name in _HOLOMORPHIC},
    cmath.phase: (lambda v, x: -1j / x,),
    complex: (constant(1.0), constant(1j)),
}
"""The partial derivatives of functions whose arguments or results are complex. If the result is real, its derivative is
the real part of the product; if an argument is real, so is the derivative for it."""

ATTRIBUTES: Final[dict[Any, Callable[[Any], Any]]] = {
    "real": lambda owner: 1.0,
    "imag": lambda owner: -1j if isinstance(owner, complex) else 0.0,
}
"""The derivatives of attributes of a number. Where the attribute is real and the number is complex, the real part of
the product counts."""


# ---- the two modes of differentiation as contexts: `Forward` pushes derivatives forward, `Reverse` records a tape

_LOCALLY_CONSTANT: Final = frozenset(map(id, LOCALLY_CONSTANT))


class Differentiating(LosesNothing, tagging=True):
    """The base of both modes: computes metadata of results from partial derivatives and metadata of arguments."""

    exempt_leaves: ClassVar[frozenset[int]] = frozenset(map(id, (*INDEPENDENT, *TRUTH_VALUES))) - {id(slice)}
    arrays: ClassVar[tuple[type, ...]] = ()
    """The types of arrays that may have derivatives although they are not wrapped."""

    def __init__(self) -> None:
        super().__init__()
        self.integers: list[Any] = []  # the metadata of arguments that are integers

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """The metadata of what a leaf computes: `UNKNOWN` for text and objects, none where the derivative is zero."""
        if isinstance(value, bool):
            return NO_METADATA
        if f is slice:  # of integers, except where NumPy makes a grid from it
            return UNKNOWN if any(isinstance(part, float) for part in (value.start, value.stop)) else NO_METADATA
        if id(f) in _LOCALLY_CONSTANT and not any(metadata(one, self) is UNKNOWN for one in arguments[:1]):
            return NO_METADATA
        if value is not None and not isinstance(value, (numbers.Number, FunctionType)):
            if self.is_called_later(value, f, arguments, keywords):
                raise self.refuse(no_rule_error(f, arguments))
            return UNKNOWN
        found = self.attribute(value, arguments) if f is getattr else self.converted(f, arguments)
        if found is not NO_METADATA:
            return found
        raise self.refuse(no_rule_error(f, arguments))

    def attribute(self, value: Any, arguments: tuple[Any, ...]) -> Any:
        """The metadata of an attribute of a number."""
        owner, partials = arguments[0], ATTRIBUTES.get(plain(arguments[1]))
        if partials is None or not is_number(plain(owner)) or metadata(owner, self) is UNKNOWN:
            return NO_METADATA
        return self.combine_for(value, [(partials(plain(owner)), metadata(owner, self))])

    def combine_for(self, value: Any, pairs: list[tuple[Any, Any]]) -> Any:
        """The metadata of a result, which may be real although it depends on complex numbers, or complex."""
        return self.combine(pairs)

    def combine(self, pairs: list[tuple[Any, Any]]) -> Any:
        """The metadata of a result, from pairs of a partial derivative and the metadata of an argument."""
        raise NotImplementedError

    quiet: ClassVar[Callable[[], Any]] = nullcontext
    """A block in which the program gets no warnings of what rules compute."""

    def call_on_non_numbers(self, f: Any, arguments: tuple[Any, ...]) -> Any:
        """A call of a function with a rule, where an argument is no number or none has a derivative."""
        return call_without_overload(f, arguments, {})

    def split_array(self, array: Any) -> tuple[Any, Any]:
        """An array of the result without this context's metadata, and the metadata."""
        return array, None

    def add_input(self, array: Any, metadata: Any) -> None:
        """Called when an array of the arguments gets its metadata."""

    def snapshot(self, value: Any) -> Any:
        """A copy of a value that is used later, if the program can change it."""
        return value


class Forward(Differentiating):
    """The metadata of a number is its derivative."""

    def combine(self, pairs: list[tuple[Any, Any]]) -> Any:
        return functools.reduce(operator.add, [partial * tangent for partial, tangent in pairs])

    def combine_for(self, value: Any, pairs: list[tuple[Any, Any]]) -> Any:
        tangent = self.combine(pairs)
        if type(tangent) is not float and isinstance(tangent, complex) and not isinstance(value, complex):
            return run(getattr, tangent, "real")
        return tangent


class Node:
    """A number on the tape: pairs of a partial derivative and an earlier node on which it depends."""

    __slots__ = ("number", "pairs")

    def __init__(self, number: int, pairs: list[tuple[Any, Node]]) -> None:
        self.number = number
        self.pairs = pairs

    def contributions(self, weight: Any) -> Iterable[tuple[Node, Any]]:
        """The contributions of a weight to the nodes on which this one depends; overridden where nodes are arrays."""
        raise NotImplementedError


_number: Final = operator.attrgetter("number")
_UNREACHED: Final = float("0")
"""The weight of a node on which the seeds do not depend. Another zero times an infinite derivative is not zero."""


class ComplexNode(Node):
    """A complex number on the tape. Its derivative w is the number with which d(result) = Re(w dz)."""

    __slots__ = ()


class Reverse(Differentiating):
    """The metadata of a number is its node on the tape."""

    def __init__(self) -> None:
        super().__init__()
        self.tape: list[Node] = []  # threads may append nodes in another order than that of their numbers
        self._numbers = itertools.count()

    def combine(self, pairs: list[tuple[Any, Any]]) -> Node:
        node = Node(next(self._numbers), pairs)
        self.tape.append(node)
        return node

    def combine_for(self, value: Any, pairs: list[tuple[Any, Any]]) -> Node:
        if not isinstance(value, complex):
            return self.combine(pairs)
        node = ComplexNode(next(self._numbers), pairs)
        self.tape.append(node)
        return node

    def pull_back(self, seeds: list[tuple[Node, Any]]) -> list[Any]:
        """The derivatives of the weighted sum of the seeds, with respect to each node on the tape."""
        self.tape.sort(key=_number)
        found: list[Any] = [_UNREACHED] * len(self.tape)
        for node, weight in seeds:
            if not (type(weight) is float and weight == 0.0):
                found[node.number] = found[node.number] + weight
        for node in reversed(self.tape):
            weight = found[node.number]
            if node.pairs and weight is not _UNREACHED:
                kind = type(node)
                if kind is Node or kind is ComplexNode:
                    weight = real_weight(node, weight)
                    for partial, source in node.pairs:
                        share = partial * weight if type(partial) is float else scaled(partial, weight)
                        found[source.number] = found[source.number] + share
                else:
                    for source, contribution in node.contributions(weight):
                        found[source.number] = found[source.number] + contribution
        return found

    def new_input(self, value: Any) -> Node:
        """A new node for a number or array of the arguments."""
        node: Node = self.combine_for(value, [])
        return node

    def derivative_of(self, found: list[Any], node: Node) -> Any:
        """The derivative for a number or array of the arguments, from the result of `pull_back`."""
        derivative = found[node.number]
        return derivative if type(derivative) is float or type(node) is ComplexNode else _real(derivative)


def scaled(partial: Any, weight: Any) -> Any:
    """The weight of a node, times a partial derivative."""
    try:
        return partial * weight
    except OverflowError:  # of an integer that is larger than all floats
        return finished(ieee(partial) * weight)


def real_weight(node: Node, weight: Any) -> Any:
    """The weight of a node on the tape: a real one, unless the number is complex."""
    return _real(weight) if type(weight) is not float and type(node) is not ComplexNode else weight


def _real(derivative: Any) -> Any:
    """The real part of a complex derivative; any other derivative itself."""
    return run(getattr, derivative, "real") if type(plain(derivative)) is complex else derivative


def no_rule_error(f: Any, arguments: Sequence[Any] = ()) -> NotOverdubbable:
    """The error for a leaf without a rule."""
    site = nearest_site()
    name = f"the attribute {plain(arguments[1])}" if f is getattr and len(arguments) > 1 else leaf_name(f)
    return NotOverdubbable(
        f"there is no derivative of {name}: no rule is known for it, or for this way to call it, "
        f"at {site}: {site.source}\n"
        "Compute the same with functions that have one, or, if it is Python, install its package"
    )


def differentiate(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """The overload of a function with known partial derivatives."""
    if keywords:
        return call_without_overload(f, arguments, keywords)
    own_tag, values, found = split_metadata(ctx, arguments)
    if not found:
        return ctx.call_on_non_numbers(f, arguments)
    for value in values:
        bare = plain(value)
        if id(type(bare)) not in NUMBERS and (not is_number(bare) or runs_own_method(f, (bare,))):
            return ctx.call_on_non_numbers(f, arguments)
    value = run(f, *values)
    result = value
    if isinstance(value, Decimal) or isinstance(values[0], Decimal) or isinstance(values[-1], Decimal):
        kind = complex if isinstance(value, complex) else float
        values, value = [run(kind, one) for one in values], run(kind, value)
    return with_metadata(result, own_tag, _derivative(ctx, f, value, values, found))


def _derivative(ctx: Any, f: Any, value: Any, values: list[Any], found: list[tuple[int, Any]]) -> Any:
    """The metadata of a result by the rule of a function.

    At the edge of a domain, the rule may raise where the function has a value. The program must not get that error: the
    derivative is infinite there, or NaN.
    """
    with ctx.quiet():
        try:
            pairs = _pairs(f, value, values, found)
            if type(value) is float and type(pairs[0][0]) is float:  # nothing is complex
                return ctx.combine(pairs)
            return ctx.combine_for(value, [(finished(partial), metadata) for partial, metadata in pairs])
        except CassetteError:
            raise
        except Exception as error:
            try:
                pairs = _pairs(f, ieee(value), [*map(ieee, values)], found)
                return ctx.combine_for(value, [(finished(partial), metadata) for partial, metadata in pairs])
            except CassetteError:
                raise
            except Exception:
                raise ctx.refuse(no_rule_error(f)) from error


def _pairs(f: Any, value: Any, values: list[Any], found: list[tuple[int, Any]]) -> list[tuple[Any, Any]]:
    """The partial derivatives of a call with the metadata of their arguments."""
    if f in FOLDS:
        every = FOLDS[f](value, *values)
    elif f in JOINT_PARTIALS:
        every = JOINT_PARTIALS[f](value, *values)
    else:
        partials = ALL_PARTIALS[f]
        return [(partials[number](value, *values), metadata) for number, metadata in found]
    return [(every[number], metadata) for number, metadata in found]


def _differentiate_fold(ctx: Any, f: Any, items: Any, *start: Any, **keywords: Any) -> Any:
    """The overload of a function of the items of an iterable, such as `sum`."""
    call = fold_call(f, items, start, keywords)
    own_tag, values, found = split_metadata(ctx, call.operands)
    if not found:
        if has_no_metadata(call.items):
            return call_without_overload(f, call.arguments, keywords)
        return fallback(ctx, f, *call.arguments, **keywords)
    if runs_own_method(f, values):
        raise ctx.refuse(no_rule_error(f, call.items))
    value = call.value_of(map(plain, values))
    if any(type(one) is Tagged for one in values):
        value = wrapped(value, metas_of(functools.reduce(functools.partial(run, OF_TWO[f]), values)))
    return with_metadata(value, own_tag, _derivative(ctx, f, value, values, found))


def has_no_metadata(items: list[Any]) -> bool:
    """Whether no item is wrapped."""
    return not any(type(item) is Tagged for item in items)


ALL_PARTIALS: Final = {**PARTIALS, **COMPLEX_PARTIALS}

for _function in (*ALL_PARTIALS, *JOINT_PARTIALS):
    Differentiating.overdub.register(_function)(differentiate)
Differentiating.overdub.register(pow)(without_modulus(differentiate))
for _function in FOLDS:
    Differentiating.overdub.register(_function)(_differentiate_fold)
for _function in COMPOSITIONS:
    Differentiating.overdub.register(_function)(compose)
