"""Calls of functions whose derivative follows from a composition of other functions.

Knows how to differentiate a composition; must not know what differs between the two modes. Imported only if the program
imports NumPy.
"""

from __future__ import annotations

import functools
from typing import Any

from cassette_import.contexts.autodiff.arrays.calls import (
    as_array,
    call_natively,
    call_untracked,
    differentiate_call,
    handles,
    no_rule_error,
    record_view,
    split_array_metadata,
)
from cassette_import.contexts.autodiff.arrays.rules.compositions import COMPOSITIONS
from cassette_import.contexts.autodiff.modes import split_metadata, with_metadata
from cassette_import.runtime.tagging.wrappers import plain


@handles(*COMPOSITIONS)
def compose(ctx: Any, f: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Handler of functions with a composition."""
    return differentiate_composition(ctx, f, COMPOSITIONS[f], arguments, keywords)


def differentiate_composition(
    ctx: Any, f: Any, function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    given = [as_array(ctx, argument) for argument in arguments]
    options = {name: as_array(ctx, argument) for name, argument in keywords.items()}
    own_tag, values, found = split_array_metadata(ctx, [*given, *options.values()])
    if not found:
        return call_untracked(ctx, f, arguments, keywords)
    if options.get("out") is not None:
        raise no_rule_error(f)
    count = len(given)
    value = call_natively(f, values[:count], dict(zip(options, values[count:], strict=True)))

    try:
        composed = function(functools.partial(differentiate_call, ctx), *given, **options)
    except NotImplementedError:
        raise no_rule_error(f) from None
    record_view(ctx, plain(value), [(plain(values[number]), metadata) for number, metadata in found])
    _, _, metadata = split_metadata(ctx, (composed,))
    return with_metadata(value, own_tag, metadata[0][1]) if metadata else value
