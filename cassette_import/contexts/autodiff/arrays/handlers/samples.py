"""Random numbers whose distribution has parameters with derivatives, and functions that return two arrays.

A sample is a function of its parameters and of noise that does not depend on them. Imported only if the program
imports NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy

from cassette_import.contexts.autodiff.arrays.calls import (
    Array,
    as_array,
    call_natively,
    call_untracked,
    handles,
    no_rule_error,
    reject,
    split_array_metadata,
    with_derivative,
)
from cassette_import.contexts.autodiff.arrays.linear_maps import scaling, shape_of
from cassette_import.contexts.autodiff.arrays.rules.reductions import floor_divide, log
from cassette_import.kits.numbers.composed_calls import compose
from cassette_import.kits.numbers.partials import constant
from cassette_import.kits.tagging import plain

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
