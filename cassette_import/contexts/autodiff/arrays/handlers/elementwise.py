"""Calls of functions that work element by element, and of functions whose derivative is zero.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

from typing import Any, Final

import numpy

from cassette_import.contexts.autodiff.arrays.calls import (
    as_array,
    call_natively,
    call_untracked,
    check_out,
    handles,
    no_rule_error,
    split_array_metadata,
    with_derivative,
)
from cassette_import.contexts.autodiff.arrays.linear_maps import (
    scaling,
    shape_of,
)
from cassette_import.contexts.autodiff.arrays.rules.reductions import (
    NUMPY_FUNCTION,
    PARTIALS,
    PIECEWISE_CONSTANT,
    SELECTING,
)
from cassette_import.contexts.autodiff.modes import split_metadata
from cassette_import.kits.tagging import plain


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
