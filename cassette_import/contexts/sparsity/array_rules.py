"""The rules of NumPy's functions: those that move elements, choose among them, or mix them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from cassette_import.contexts.sparsity.arrays import (
    Array,
    array,
    as_array,
    as_objects,
    dependences_of,
    plain,
    plain_deep,
)
from cassette_import.contexts.sparsity.number import Number, curved, linear
from cassette_import.contexts.sparsity.run import Run, joined
from cassette_import.kits.numbers.table import MOVEMENTS
from cassette_import.kits.tagged_containers import sequence_like

__all__ = ["FUNCTIONS", "axis_of", "call_plain", "cast", "depends", "each", "handles", "joined_over"]

# ---- the table of NumPy's functions with a rule, and the tools that the rules share

Handler = Callable[[Run, Any, tuple[Any, ...], dict[str, Any]], Any]
FUNCTIONS: Final[dict[Any, Handler]] = {}
"""The handler of each function."""


def handles(names: str, module: Any = np) -> Callable[[Handler], Handler]:
    """Decorator: register a handler for functions of a module, by their names. Some versions of NumPy lack some."""

    def register(handler: Handler) -> Handler:
        FUNCTIONS.update((getattr(module, name), handler) for name in names.split() if hasattr(module, name))
        return handler

    return register


def call_plain(f: Any, arguments: Iterable[Any], keywords: dict[str, Any]) -> Any:
    """Call a function with the values of its arguments, without their dependences."""
    return f(*map(plain_deep, arguments), **{name: plain_deep(one) for name, one in keywords.items()})


def joined_over(values: Iterable[Any]) -> int:
    """The union of the dependences of all elements of several values."""
    return joined(joined(dependences_of(one).flat) for one in values)


def each(function: Callable[[int], int], dependences: Any) -> Any:
    """A function of each dependence of an array."""
    return as_objects(np.frompyfunc(function, 1, 1)(dependences))


def axis_of(arguments: tuple[Any, ...], keywords: dict[str, Any], default: Any = None) -> Any:
    """The argument `axis` of a call."""
    axis = arguments[1] if len(arguments) > 1 else keywords.get("axis", default)
    return plain_deep(axis)


def depends(value: Any) -> bool:
    """Whether a number or array depends on the inputs."""
    return bool(value.dependence) if type(value) is Number else not value.is_constant()


# ---- terms: dependences with sums and products, so that `np.einsum` and `np.dot` themselves compute the pattern
#
# A constant that is zero makes a product zero, so a matrix with zeros mixes only what it mixes.


class _Term:
    """A number of which only the dependence is known, and whether it is zero."""

    __slots__ = ("dependence", "run", "zero")

    def __init__(self, run: Run, dependence: int, zero: bool = False) -> None:
        self.run = run
        self.dependence = dependence
        self.zero = zero

    def _sum(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # it does it by element
        if type(other) is not _Term:
            return self if not other else _Term(self.run, self.dependence)
        if other.zero or self.zero:
            return self if other.zero else other
        return _Term(self.run, self.dependence | other.dependence)

    def _product(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if type(other) is not _Term:
            return self if other else _Term(self.run, 0, True)
        if self.zero or other.zero:
            return self if self.zero else other
        one, two = self.dependence, other.dependence
        return _Term(self.run, one | two | self.run.cross(one, two))

    __add__ = __radd__ = __sub__ = __rsub__ = _sum
    __mul__ = __rmul__ = __truediv__ = _product

    def __neg__(self) -> Any:
        return self

    conjugate = __pos__ = __neg__


def terms_of(run: Run, value: Any) -> Any:
    """Arrays and numbers as arrays of terms; anything else as it is, such as a subscript or an axis."""
    if type(value) not in (Array, Number, np.ndarray, list) and not isinstance(value, float):
        return value
    if type(value) is list and _is_of_integers(value):
        return value  # axes
    values, dependences = np.asarray(plain_deep(value)), dependences_of(value)
    if values.dtype.kind not in "fciub":
        return value
    made = np.empty(values.shape, object)
    zero, one = _Term(run, 0, True), _Term(run, 0)
    flat: Final = made.reshape(-1)
    for place, (number, dependence) in enumerate(zip(values.flat, dependences.flat, strict=True)):
        flat[place] = _Term(run, dependence) if dependence else one if number else zero
    return made if made.ndim else made[()]


def _is_of_integers(value: Any) -> bool:
    if type(value) is list:
        return all(map(_is_of_integers, value))
    return type(value) is int


def untermed(found: Any) -> Any:
    """The dependences of terms."""
    if type(found) is _Term:
        return found.dependence
    if not isinstance(found, np.ndarray):
        return 0
    made: Any = np.zeros(found.shape, object)
    one: Any
    for place, one in enumerate(found.flat):
        made.flat[place] = one.dependence if type(one) is _Term else 0
    return made if made.ndim else made.item()


# ---- the rules of NumPy's functions that mix elements: sums of products, differences, solutions of equations
#
# One that is made of sums and products, as `einsum` is, is called with terms that know both.


@handles(
    "dot matmul inner outer tensordot einsum vdot kron convolve correlate cross trace diff ediff1d trapezoid trapz"
)
def _terms(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    value = call_plain(f, arguments, keywords)
    given = [terms_of(run, one) for one in arguments]
    found = f(*given, **{name: terms_of(run, one) for name, one in keywords.items() if name != "optimize"})
    return array(run, value, untermed(found))


@handles("gradient")
def _gradient(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = as_array(run, arguments[0])
    if any(type(one) in (Array, Number) and depends(one) for one in arguments[1:]):
        raise run.refuse("np.gradient, with distances that depend on the inputs, has no rule")
    value = f(given.value, *map(plain_deep, arguments[1:]), **keywords)
    axis = keywords.get("axis")
    axes = range(given.ndim) if axis is None else (axis if type(axis) is tuple else (axis,))
    reach = int(keywords.get("edge_order", 1))
    found = [_neighbours(given.dependences, along, reach) for along in axes]
    if type(value) in (list, tuple):
        return type(value)(array(run, *pair) for pair in zip(value, found, strict=True))
    return array(run, value, found[0])


def _neighbours(dependences: Any, axis: int, reach: int) -> Any:
    """For each element, the union of those at most `reach` places away along an axis."""
    moved = np.moveaxis(dependences, axis, 0)
    found = moved.copy()
    for distance in range(1, reach + 1):
        found[distance:] |= moved[:-distance]
        found[:-distance] |= moved[distance:]
    return np.moveaxis(found, 0, axis)


@handles("interp polyval")
def _points(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    value = call_plain(f, arguments, keywords)
    by_element = 0 if f is np.interp else 1
    shared = joined_over(one for at, one in enumerate((*arguments, *keywords.values())) if at != by_element)
    own = np.bitwise_or(dependences_of(arguments[by_element]), as_objects(shared))
    return array(run, value, each(run.curved, own))


@handles("solve inv pinv det slogdet lstsq eigvals eigvalsh eig eigh svd qr cholesky matrix_power cond", np.linalg)
@handles("linspace logspace geomspace")
@handles("fft ifft rfft irfft fft2 ifft2 fftn ifftn rfftn irfftn", np.fft)
def _mixing(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    value = call_plain(f, arguments, keywords)
    every = joined_over((*arguments, *keywords.values()))
    constant = f is np.linalg.solve and not joined(dependences_of(arguments[0]).flat)
    kind = linear if constant or f is np.linspace or f.__module__.startswith("numpy.fft") else curved
    dependence = kind(run, (every,))
    if isinstance(value, tuple):
        parts = [array(run, one, dependence) for one in value]
        return sequence_like(value, parts)
    return array(run, value, dependence)


# ---- the rules of NumPy's functions that move elements, or choose among them
#
# A function that moves elements is called twice: with the values, and with the dependences.


def _dependences_of_data(value: Any) -> Any:
    """The dependences of data: arrays, numbers and lists of them."""
    if type(value) in (list, tuple):
        return [_dependences_of_data(part) for part in value]
    return dependences_of(value)


def _moved(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], data: tuple[int, ...]) -> Any:
    arguments = tuple(
        as_array(run, one) if number in data and type(one) in (list, tuple) and f not in _OF_SEQUENCES else one
        for number, one in enumerate(arguments)
    )
    for number, one in enumerate([*arguments, *keywords.values()]):
        if number not in data and type(one) in (Number, Array) and depends(one) and not run.local:
            raise run.refuse_branch("where elements are moved depends on the inputs")
    rest = {name: plain_deep(one) for name, one in keywords.items()}
    value = f(*map(plain_deep, arguments), **rest)
    given = [_dependences_of_data(one) if number in data else plain_deep(one) for number, one in enumerate(arguments)]
    found = f(*given, **{name: one for name, one in rest.items() if name != "dtype"})
    if type(value) in (list, tuple):
        return type(value)(array(run, *pair) for pair in zip(value, found, strict=True))
    return array(run, value, found)


_OF_SEQUENCES: Final = frozenset(
    getattr(np, name)
    for name in ["concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "block", "row_stack"]
    if name in vars(np)
)


@handles(" ".join(MOVEMENTS))
@handles("resize")
def _move(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if f is np.take and len(arguments) > 1 and type(arguments[1]) in (Number, Array) and depends(arguments[1]):
        if keywords or len(arguments) > 2:
            raise run.refuse_branch("which elements are taken depends on the inputs")
        return as_array(run, arguments[0]).ravel()[arguments[1]]
    return _moved(run, f, arguments, keywords, MOVEMENTS.get(f.__name__, (0,)))


@handles("pad")
def _pad(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given, width, *more = arguments
    mode = plain(more[0] if more else keywords.get("mode", "constant"))
    if mode not in ("constant", "edge", "wrap", "reflect", "symmetric") or keywords.get("reflect_type"):
        raise run.refuse(f"np.pad with the mode {mode!r} has no rule")
    constant = keywords.get("constant_values", 0)
    given, width = as_array(run, given), plain_deep(width)
    named = {"constant_values": plain_deep(constant)} if mode == "constant" else {}
    value = np.pad(given.value, width, mode, **named)
    dependences = each(int, np.pad(given.dependences, width, mode))
    if (filled := joined(dependences_of(constant).flat)) != 0:
        inside = np.pad(np.ones(given.shape, bool), width)
        dependences = np.where(inside, dependences, as_objects(filled))
    return array(run, value, dependences)


@handles("array asarray asanyarray ascontiguousarray asfortranarray")
def _array(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = arguments[0]
    dtype = plain(keywords.get("dtype", arguments[1] if len(arguments) > 1 else None))
    if type(given) is Array:
        if dtype is not None and np.dtype(dtype) != given.dtype:
            return cast(given, dtype)
        return given.__copy__() if f is np.array and keywords.get("copy", True) is not False else given
    return as_array(run, given, **({} if dtype is None else {"dtype": dtype}))


def cast(given: Any, dtype: Any) -> Any:
    """An array or number with elements of another type; the conversion to integers has steps."""
    run = given.run
    value = given.value.astype(dtype)
    found = dependences_of(given).copy() if type(given) is Array else dependences_of(given)
    if np.dtype(dtype).kind not in "fcO":
        found = each(run.step, found)
    return array(run, value, found)


@handles("where")
def _where(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if len(arguments) == 1:
        return _selected(run, f, arguments, keywords)
    test, one, other = (as_array(run, part) if type(part) in (list, tuple) else part for part in arguments)
    value = np.where(plain(test), plain(one), plain(other))
    decided = np.where(plain(test), dependences_of(one), dependences_of(other))
    either = np.bitwise_or(
        np.bitwise_or(dependences_of(one), dependences_of(other)), each(run.step, dependences_of(test))
    )
    return array(run, value, np.where(dependences_of(test).astype(bool) & (not run.local), either, decided))


@handles("select")
def _select(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    tests, choices, *more = arguments
    found = more[0] if more else keywords.get("default", 0)
    for test, choice in reversed(list(zip(tests, choices, strict=True))):
        found = _where(run, np.where, (test, choice, found), {})
    return found


@handles("nonzero flatnonzero argwhere unique extract")
def _selected(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if not run.local and any(depends(one) for one in arguments if type(one) in (Array, Number)):
        raise run.refuse_branch("which elements are selected depends on the inputs")
    if f in (np.unique, np.extract):
        raise run.refuse(f"np.{f.__name__} has no rule")
    return f(*map(plain_deep, arguments), **keywords)


@handles("clip")
def _clip(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    names = dict(zip(("a", "a_min", "a_max"), arguments, strict=False)) | keywords
    given = [names.get("a"), names.get("a_min", names.get("min")), names.get("a_max", names.get("max"))]
    value = np.clip(*(plain_deep(one) for one in given))
    found = dependences_of(given[0])
    for one in given[1:]:
        found = np.bitwise_or(found, dependences_of(0.0 if one is None else one))
    return array(run, value, found)


@handles("sort")
def _sort(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = as_array(run, arguments[0])
    axis = axis_of(arguments, keywords, -1)
    order = np.argsort(given.value, axis=axis, kind="stable")
    value = np.take_along_axis(given.value, order, axis)
    if run.local:
        return array(run, value, np.take_along_axis(given.dependences, order, axis))
    every = np.bitwise_or.reduce(given.dependences, axis=axis, keepdims=True)
    return array(run, value, np.broadcast_to(every, value.shape))


@handles("argsort searchsorted digitize isclose allclose array_equal around round round_ isin sign")
def _steps(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    value = call_plain(f, arguments, keywords)
    return array(run, value, run.step(joined_over((*arguments, *keywords.values()))))


@handles("nan_to_num real imag real_if_close")
def _copies(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    more = as_objects(joined_over((*arguments[1:], *keywords.values())))
    return array(run, call_plain(f, arguments, keywords), np.bitwise_or(dependences_of(arguments[0]), more))


@handles("zeros_like ones_like empty_like full_like")
def _like(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    given = as_array(run, arguments[0])
    fill = arguments[1:2] if f is np.full_like else ()
    rest = arguments[1 + len(fill) :]
    value = f(given.value, *map(plain, fill), *rest, **{name: plain_deep(one) for name, one in keywords.items()})
    return array(run, value, as_objects(joined_over(fill)) * np.ones(value.shape, object))


@handles("full")
def _full(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    shape, fill = arguments[0], arguments[1] if len(arguments) > 1 else keywords["fill_value"]
    rest = {name: plain_deep(one) for name, one in keywords.items() if name != "fill_value"}
    value = np.full(plain_deep(shape), plain_deep(fill), *arguments[2:], **rest)
    return array(run, value, np.broadcast_to(dependences_of(fill), value.shape))


@handles("shape ndim size iscomplexobj isrealobj result_type may_share_memory shares_memory")
def _of_shape(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return f(*map(plain_deep, arguments), **keywords)


@handles("copyto")
def _copyto(run: Run, f: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    if keywords or type(arguments[0]) is not Array:
        raise run.refuse("np.copyto, called in this way, has no rule")
    arguments[0][...] = arguments[1]
