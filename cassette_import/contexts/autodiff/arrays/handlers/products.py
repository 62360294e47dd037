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
    handles,
    no_rule_error,
    split_array_metadata,
    with_derivative,
)
from cassette_import.contexts.autodiff.arrays.handlers.compositions import differentiate_composition
from cassette_import.contexts.autodiff.arrays.linear_maps import (
    product_factor,
    shape_of,
)
from cassette_import.contexts.autodiff.arrays.rules.compositions import einsum_of_diagonals
from cassette_import.contexts.autodiff.arrays.rules.elementwise import NUMPY_FUNCTION
from cassette_import.contexts.autodiff.arrays.rules.linear_algebra import LINEAR_ALGEBRA, log_determinant
from cassette_import.contexts.autodiff.arrays.rules.products import PRODUCTS, explicit_subscripts
from cassette_import.runtime.tagging.wrappers import plain


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
