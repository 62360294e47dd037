"""Calls of functions that compute numbers: by element, by compositions, reductions, products, samples.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy

from cassette_import.contexts.autodiff.arrays.calls import (
    Array,
    as_array,
    call_natively,
    call_untracked,
    check_others,
    check_out,
    differentiate_call,
    handles,
    no_rule_error,
    parts_of,
    record_view,
    reject,
    split_array_metadata,
    with_derivative,
)
from cassette_import.contexts.autodiff.arrays.linear_maps import (
    call,
    cumulative_sum,
    product_factor,
    scaling,
    shape_of,
    weighted_sum,
)
from cassette_import.contexts.autodiff.arrays.rules import movements
from cassette_import.contexts.autodiff.arrays.rules import reductions as rules
from cassette_import.contexts.autodiff.arrays.rules.compositions import (
    COMPOSITIONS,
    MASKED,
    OF_SEQUENCES,
    einsum_of_diagonals,
)
from cassette_import.contexts.autodiff.arrays.rules.products import (
    LINEAR_ALGEBRA,
    PRODUCTS,
    explicit_subscripts,
    log_determinant,
)
from cassette_import.contexts.autodiff.arrays.rules.reductions import (
    NUMPY_FUNCTION,
    PARTIALS,
    PIECEWISE_CONSTANT,
    SELECTING,
    floor_divide,
    log,
)
from cassette_import.errors import NotOverdubbable
from cassette_import.kits.numbers.composed_calls import compose
from cassette_import.kits.numbers.overloads import split_metadata, with_metadata
from cassette_import.kits.numbers.partials import constant
from cassette_import.kits.tagging import plain

# ---- functions that work element by element, and functions whose derivative is zero


@handles(*PARTIALS, *(function for function, same in NUMPY_FUNCTION.items() if same in PARTIALS))
def elementwise(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of elementwise functions with partial derivatives."""
    partials = PARTIALS[NUMPY_FUNCTION.get(f, f)]
    given = [as_array(ctx, argument) for argument in arguments]
    own_tag, values, found = split_array_metadata(ctx, given)
    if not found:
        return call_untracked(ctx, f, arguments, keywords)
    if "where" in keywords or keywords.get("out") is not None or len(arguments) > len(partials):
        raise ctx.refuse(no_rule_error(f))
    value = call_natively(ctx, f, values, keywords)
    terms = []
    values = [numpy.asarray(one) if type(one) in _ROWS else one for one in values]
    with numpy.errstate(all="ignore"):
        for number, metadata in found:
            try:
                partial = partials[number](value, *values)
            except TypeError:  # of truth values
                partial = partials[number](value, *(numpy.add(plain(one), 0.0) for one in values))
            if any(partial is one for one in (value, *values)):
                partial = ctx.saved(partial)
            terms.append((scaling(partial, shape_of(values[number]), selects=f in SELECTING), metadata))
        return with_derivative(ctx, own_tag, value, terms)


_ROWS: Final = frozenset({list, tuple})
"""Types of arguments that partial derivatives cannot compute with."""


@handles(numpy.float64, numpy.float32, numpy.longdouble)
def convert(ctx: Any, f: Any, /, *arguments: Any) -> Any:
    """Handler of conversions to a number of NumPy."""
    own_tag, values, found = split_array_metadata(ctx, arguments)
    if not found:
        return call_untracked(ctx, f, arguments, {})
    value = call_natively(ctx, f, values, {})
    return with_derivative(ctx, own_tag, value, [(scaling(1.0, shape_of(values[0])), found[0][1])])


@handles(*PIECEWISE_CONSTANT)
def step(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of functions whose derivative is zero."""
    if keywords.get("out") is not None:
        check_out(ctx, f, keywords["out"])
    value = call_natively(ctx, f, split_metadata(ctx, arguments)[1], keywords)
    check_out(ctx, f, tuple(argument for argument in arguments[1:] if plain(argument) is plain(value)))
    return value


# ---- functions whose derivative follows from a composition of other functions


def are_close(value: Any, composed: Any) -> bool:
    """Whether a composition has the value of the function, up to rounding: else it does not have its derivative."""
    value, composed = numpy.asarray(value), numpy.asarray(composed)
    if value.shape != composed.shape:
        return False
    size = float(numpy.max(numpy.abs(value), initial=0.0, where=numpy.isfinite(value)))
    tolerance = 1e-6 if value.dtype.itemsize >= _DOUBLE else 1e-2
    return bool(numpy.allclose(value, composed, tolerance, tolerance * size, equal_nan=True))


_DOUBLE: Final = 8


@handles(*COMPOSITIONS)
def differentiate_composed(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of functions with a composition."""
    return differentiate_composition(ctx, f, COMPOSITIONS[f], arguments, keywords, f in OF_SEQUENCES)


def differentiate_composition(
    ctx: Any,
    f: Any,
    function: Any,
    arguments: tuple[Any, ...],
    keywords: dict[str, Any],
    of_sequences: bool = False,
) -> Any:
    """Make a call of a function whose derivative is that of a composition.

    `of_sequences` says that arguments may be sequences of arrays, which remain what they are.
    """
    if of_sequences:
        given, options = list(arguments), dict(keywords)
        own_tag, values, found = split_array_metadata(ctx, [*parts_of((*given, *options.values()))])
        found = found and [(0, None)]
        values = split_metadata(ctx, [*given, *options.values()])[1]
    else:
        given = [as_array(ctx, argument) for argument in arguments]
        options = {name: as_array(ctx, argument) for name, argument in keywords.items()}
        own_tag, values, found = split_array_metadata(ctx, [*given, *options.values()])
    if not found:
        return call_untracked(ctx, f, arguments, keywords)
    if options.get("out") is not None:
        raise ctx.refuse(no_rule_error(f))
    count = len(given)
    passed = [  # a list stays a list: NumPy converts it in its own way
        argument if type(argument) in (list, tuple) else value
        for argument, value in zip((*arguments, *keywords.values()), values, strict=True)
    ]
    value = call_natively(ctx, f, passed[:count], dict(zip(options, passed[count:], strict=True)))

    check_others(ctx, f, map(plain, arguments), value)
    try:
        with numpy.errstate(all="ignore"):
            composed = function(functools.partial(differentiate_call, ctx), *given, **options)
            if not are_close(plain(value), plain(composed)):
                raise NotImplementedError
    except NotOverdubbable:
        raise
    except Exception as error:  # the call itself has succeeded
        raise ctx.refuse(no_rule_error(f)) from error
    record_view(ctx, plain(value), [(plain(values[number]), metadata) for number, metadata in found])
    _, _, metadata = split_metadata(ctx, (composed,))
    return with_metadata(value, own_tag, metadata[0][1]) if metadata else value


# ---- calls of reductions and cumulative sums


@handles(*rules.REDUCTIONS)
def reduce(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of reductions, whose derivative is a weighted sum."""
    arguments, keywords = movements.first_by_position(arguments, keywords)
    masked = MASKED.get(f.__name__) if not {"where", "initial"}.isdisjoint(keywords) else None
    if masked is not None:
        return differentiate_composition(ctx, f, masked, arguments, keywords)
    given = (as_array(ctx, arguments[0]), *arguments[1:])
    own_tag, (x,), found = split_array_metadata(ctx, given[:1])
    if not found:
        return call_untracked(ctx, f, arguments, keywords)
    value = call_natively(ctx, f, (x, *given[1:]), keywords)
    names, weigh = rules.REDUCTIONS[f]
    check_others(ctx, f, (*given[1:], *keywords.values()))
    options = {**dict(zip(names, map(plain, given[1:]), strict=False)), **keywords}
    unusual = (options.get(name, numpy._NoValue) for name in ("initial", "where", "out", "correction", "mean"))
    if any(option is not numpy._NoValue and option is not None for option in unusual):
        raise ctx.refuse(no_rule_error(f))
    shape = shape_of(x)
    axes = rules.axes_of(shape, options.get("axis"))
    kept = tuple(1 if axis in axes else length for axis, length in enumerate(shape))
    with numpy.errstate(all="ignore"):
        try:
            weights = weigh(rules.Reduced(call(numpy.reshape, value, kept), x, axes, options))
        except NotImplementedError:
            raise ctx.refuse(no_rule_error(f)) from None
        summed = weighted_sum(weights, shape, axes, shape_of(value), selects=f in rules.EXTREMES)
        return with_derivative(ctx, own_tag, value, [(summed, found[0][1])])


@handles(numpy.ufunc.reduce)
def reduce_by(ctx: Any, f: Any, /, ufunc: Any, *arguments: Any, **keywords: Any) -> Any:
    """Handler of `numpy.add.reduce` and the like, which reduce the first axis by default."""
    function = rules.UFUNC_REDUCTIONS.get(ufunc)
    if function is None or len(arguments) > 2 or not keywords.keys() <= {"axis", "keepdims"}:
        return reject(ctx, f, ufunc, *arguments, **keywords)
    if len(arguments) < 2 and "axis" not in keywords:
        keywords = {"axis": 0, **keywords}
    return reduce(ctx, function, *arguments, **keywords)


@handles(numpy.cumsum, numpy.ndarray.cumsum)
def accumulate(ctx: Any, f: Any, /, x: Any, axis: Any = None, *rest: Any, **keywords: Any) -> Any:
    """Handler of `cumsum`."""
    keywords = {**dict(zip(("dtype", "out"), rest, strict=False)), **keywords}
    x = as_array(ctx, x)
    own_tag, (bare,), found = split_array_metadata(ctx, (x,))
    if not found:
        return call_untracked(ctx, f, (x, axis), keywords)
    if keywords.get("out") is not None:
        raise ctx.refuse(no_rule_error(f))
    value = call_natively(ctx, f, (bare, axis), keywords)
    return with_derivative(ctx, own_tag, value, [(cumulative_sum(shape_of(bare), axis), found[0][1])])


# ---- calls of products, and of functions of linear algebra


@handles(*PRODUCTS, operator.matmul)
def multiply(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of products of two arrays."""
    given = (*(as_array(ctx, argument) for argument in arguments[:2]), *arguments[2:])
    own_tag, values, found = split_array_metadata(ctx, given[:2])
    if not found:
        return call_untracked(ctx, f, arguments, keywords)
    function = NUMPY_FUNCTION.get(f, f)
    options = {**dict(zip(("axes",), arguments[2:], strict=False)), **keywords}
    if len(arguments) < 2 or not options.keys() <= ({"axes"} if function is numpy.tensordot else set()):
        raise ctx.refuse(no_rule_error(f))
    value = call_natively(ctx, f, (*values, *given[2:]), keywords)
    subscripts = PRODUCTS[function](*(len(shape_of(one)) for one in values), **options)
    return _product(ctx, own_tag, value, subscripts, values, found)


@handles(numpy.einsum)
def einsum(ctx: Any, f: Any, /, subscripts: Any, *operands: Any, **keywords: Any) -> Any:
    """Handler of `einsum`."""
    given = [as_array(ctx, operand) for operand in operands]
    own_tag, values, found = split_array_metadata(ctx, given)
    if not found:
        return call_untracked(ctx, f, (subscripts, *operands), keywords)
    written = explicit_subscripts(plain(subscripts), [len(shape_of(one)) for one in values])
    if written is None and keywords.keys() <= {"optimize"}:
        return differentiate_composition(ctx, f, einsum_of_diagonals, (plain(subscripts), *operands), keywords)
    if written is None or not keywords.keys() <= {"optimize"}:
        raise ctx.refuse(no_rule_error(f))
    value = call_natively(ctx, f, (subscripts, *values), keywords)
    return _product(ctx, own_tag, value, written, values, found)


def _product(
    ctx: Any, own_tag: Any, value: Any, subscripts: str, values: list[Any], found: list[tuple[int, Any]]
) -> Any:
    kept = [ctx.saved(one) for one in values] if len(values) > 1 else values
    return with_derivative(
        ctx, own_tag, value, [(product_factor(subscripts, kept, number), metadata) for number, metadata in found]
    )


@handles(*LINEAR_ALGEBRA)
def solve(ctx: Any, f: Any, /, *arguments: Any) -> Any:
    """Handler of functions of linear algebra."""
    given = [as_array(ctx, argument) for argument in arguments]
    own_tag, values, found = split_array_metadata(ctx, given)
    if not found:
        return call_untracked(ctx, f, arguments, {})
    value = call_natively(ctx, f, values, {})
    kept = [ctx.saved(one) for one in values]
    terms = LINEAR_ALGEBRA[f](ctx.saved(value), *kept)
    return with_derivative(ctx, own_tag, value, [(terms[number], metadata) for number, metadata in found])


@handles(numpy.linalg.slogdet)
def sign_and_log(ctx: Any, f: Any, /, x: Any) -> Any:
    """Handler of `slogdet`, which returns the sign and the logarithm of a determinant."""
    own_tag, (bare,), found = split_array_metadata(ctx, (x,))
    if not found:
        return call_untracked(ctx, f, (x,), {})
    value = call_natively(ctx, f, (bare,), {})
    sign, logarithm = own_tag.store.wrapped_items(plain(value))
    (term,) = log_determinant(logarithm, ctx.saved(bare))
    return own_tag.store.bind_items(
        plain(value), [sign, with_derivative(ctx, own_tag, logarithm, [(term, found[0][1])])]
    )


# ---- random numbers whose distribution has parameters with derivatives, and functions that return two arrays
#
# A sample is a function of its parameters and of noise that does not depend on them.


Partials = tuple[Callable[..., Any], ...]

_LOCATION_AND_SCALE: Final = (
    (("loc", 0.0), ("scale", 1.0)), (constant(1.0), lambda v, loc, scale: (v - loc) / scale),
)  # fmt: skip
_SCALE: Final = ((("scale", 1.0),), (lambda v, scale: v / scale,))

DISTRIBUTIONS: Final[dict[str, tuple[tuple[tuple[str, float], ...], Partials]]] = {
    **dict.fromkeys(("normal", "laplace", "logistic", "gumbel"), _LOCATION_AND_SCALE),
    **dict.fromkeys(("exponential", "rayleigh"), _SCALE),
    "uniform": (
        (("low", 0.0), ("high", 1.0)),
        (lambda v, low, high: (high - v) / (high - low), lambda v, low, high: (v - low) / (high - low)),
    ),
    "lognormal": (
        (("mean", 0.0), ("sigma", 1.0)),
        (lambda v, mean, sigma: v, lambda v, mean, sigma: v * (log(v) - mean) / sigma),
    ),
}
"""For each distribution, the names and defaults of its parameters, and the partial derivatives of a sample."""


@handles(
    *(getattr(owner, name) for owner in (numpy.random.Generator, numpy.random.RandomState) for name in DISTRIBUTIONS)
)
def sample(ctx: Any, f: Any, /, generator: Any, *arguments: Any, **keywords: Any) -> Any:
    """Handler of the methods of generators that draw samples."""
    parameters, partials = DISTRIBUTIONS[f.__name__]
    given = [
        as_array(ctx, arguments[number] if number < len(arguments) else keywords.get(name, default))
        for number, (name, default) in enumerate(parameters)
    ]
    own_tag, values, found = split_array_metadata(ctx, given)
    if not found:
        return call_untracked(ctx, f, (generator, *arguments), keywords)
    count = len(parameters)
    names = {name for name, _ in parameters}
    rest = {name: value for name, value in keywords.items() if name not in names}
    value = call_natively(ctx, f, (generator, *values, *arguments[count:]), rest)
    values = [numpy.asarray(one) if type(one) in (list, tuple) else one for one in values]
    terms = []
    with numpy.errstate(all="ignore"):
        for number, metadata in found:
            partial = partials[number](value, *values)
            if not numpy.all(numpy.isfinite(plain(partial))):  # a scale of zero: the noise is not known
                raise ctx.refuse(no_rule_error(f))
            terms.append((scaling(partial, shape_of(values[number])), metadata))
    return with_derivative(ctx, own_tag, value, terms)


_PAIRS: Final[dict[Any, tuple[Partials, Partials]]] = {
    numpy.modf: ((constant(1.0),), (constant(0.0),)),
    numpy.divmod: ((constant(0.0),) * 2, (constant(1.0), lambda v, x, y: -floor_divide(x, y))),
}
_PAIRS[divmod] = _PAIRS[numpy.divmod]
"""For each function that returns two arrays, the partial derivatives of both."""


@handles(numpy.modf, numpy.divmod)
def pair(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of functions that return two arrays."""
    given = [as_array(ctx, argument) for argument in arguments]
    if keywords or len(arguments) > len(_PAIRS[f][0]):
        return reject(ctx, f, *arguments, **keywords)
    own_tag, values, found = split_array_metadata(ctx, given)
    if not found:
        return call_untracked(ctx, f, arguments, keywords)
    value = call_natively(ctx, f, values, {})
    if type(plain(value)) is not tuple:
        raise ctx.refuse(no_rule_error(f))
    parts = []
    for part, partials in zip(own_tag.store.wrapped_items(plain(value)), _PAIRS[f], strict=True):
        terms = [
            (scaling(partials[number](part, *values), shape_of(values[number])), metadata) for number, metadata in found
        ]
        parts.append(with_derivative(ctx, own_tag, part, terms))
    return own_tag.store.bind_items(plain(value), parts)


def divide(ctx: Any, f: Any, /, *arguments: Any) -> Any:
    """Overload of `divmod` for arrays; numbers have a composition."""
    if any(isinstance(plain(argument), Array) for argument in arguments):
        return pair(ctx, f, *arguments)
    return compose(ctx, f, *arguments)
