"""Calls of products, and of functions of linear algebra.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy

from cassette_import.contexts.autodiff.arrays.calls import (
    as_array,
    call_natively,
    call_untracked,
    check_others,
    handles,
    no_rule_error,
    reject,
    split_array_metadata,
    with_derivative,
)
from cassette_import.contexts.autodiff.arrays.handlers.compositions import differentiate_composition
from cassette_import.contexts.autodiff.arrays.linear_maps import (
    call,
    cumulative_sum,
    product_factor,
    shape_of,
    weighted_sum,
)
from cassette_import.contexts.autodiff.arrays.rules import movements
from cassette_import.contexts.autodiff.arrays.rules import reductions as rules
from cassette_import.contexts.autodiff.arrays.rules.compositions import einsum_of_diagonals
from cassette_import.contexts.autodiff.arrays.rules.products import (
    LINEAR_ALGEBRA,
    PRODUCTS,
    explicit_subscripts,
    log_determinant,
)
from cassette_import.contexts.autodiff.arrays.rules.reductions import NUMPY_FUNCTION
from cassette_import.contexts.autodiff.arrays.rules.statistics import MASKED
from cassette_import.kits.tagging import plain

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
