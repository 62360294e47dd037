"""Calls of functions whose derivative follows from a composition of other functions.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy

from cassette_import.contexts.autodiff.arrays.calls import (
    as_array,
    call_natively,
    call_untracked,
    check_others,
    differentiate_call,
    handles,
    no_rule_error,
    parts_of,
    record_view,
    split_array_metadata,
)
from cassette_import.contexts.autodiff.arrays.rules.compositions import COMPOSITIONS, OF_SEQUENCES
from cassette_import.contexts.autodiff.modes import split_metadata, with_metadata
from cassette_import.errors import NotOverdubbable
from cassette_import.kits.tagging import plain


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
def compose(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
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
