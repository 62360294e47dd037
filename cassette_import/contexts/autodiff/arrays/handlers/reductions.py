"""Calls of reductions and cumulative sums.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

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
    shape_of,
    weighted_sum,
)
from cassette_import.contexts.autodiff.arrays.rules import movements
from cassette_import.contexts.autodiff.arrays.rules import reductions as rules
from cassette_import.contexts.autodiff.arrays.rules.statistics import MASKED
from cassette_import.runtime.tagging.wrappers import plain


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
