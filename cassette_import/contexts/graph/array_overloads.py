"""The overloads of a trace for arrays: what makes one, and statements that change one.

An array that gets unknown numbers is a node from the call on that has made it. That is known when the first such
number is assigned: the trace begins again then.
"""

from __future__ import annotations

import functools
import operator
import sys
from typing import Any, Final

from cassette_import.activation.tagging import allmetadata, metadata
from cassette_import.contexts.common.plain_calls import call_without_overload
from cassette_import.contexts.graph.array_changes import CHANGED_ARRAY, leaves_numbers, owner_of
from cassette_import.contexts.graph.context import TraceContext
from cassette_import.contexts.graph.errors import refusal
from cassette_import.contexts.graph.nodes import Node
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.call_sites import nearest_site
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["changes_array", "register_arrays"]

_MAKERS: Final = (
    *("zeros", "ones", "empty", "full", "arange", "linspace", "eye", "identity", "zeros_like", "ones_like"),
    *("empty_like", "full_like", "array"),
)
_registered: Final[set[Any]] = set()


def register_arrays() -> None:
    """Register the overloads of NumPy's functions that make arrays, if NumPy is imported by now."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or _registered or not hasattr(numpy, "full_like"):
        return
    functions = [*(getattr(numpy, name) for name in _MAKERS), numpy.ndarray.copy]
    _registered.update(functions)
    TraceContext.overdub.register(*functions)(_made)


@hidden
def _made(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """A call that makes an array. It is a node if the program changes the array later."""
    is_known = not allmetadata(ctx, *arguments, *keywords.values())
    site = nearest_site()
    if not is_known or not (leaves_numbers(f) or site in ctx.changed_later):
        value = call_without_overload(f, arguments, keywords)
        if is_known:
            ctx.arrays.made[id(plain(value))] = plain(value), site
        return value
    call = functools.partial(f, *map(plain, arguments), **{name: plain(one) for name, one in keywords.items()})
    return ctx.operation(f, arguments, keywords, call())


@hidden
def changes_array(ctx: Any, f: Any, array: Any, *operands: Any) -> Any:
    """A statement that changes an array: an item, or all of it by an operator."""
    node, bare = metadata(array, ctx), plain(array)
    if not isinstance(node, Node):
        owner = owner_of(bare)
        made, site = ctx.arrays.made.get(id(owner), (None, None))
        if made is owner and site is not None:
            ctx.begins_again = site
        raise ctx.refuse(refusal(*CHANGED_ARRAY))
    templates = tuple(map(ctx.template, operands))
    values = tuple(map(_plain_key, operands) if f is operator.setitem else map(plain, operands))
    try:
        ctx.arrays.change(bare, node, f, templates, values)
    except Exception as error:
        ctx.raised(error, f)
        raise
    return None if f is operator.setitem else array


def _plain_key(key: Any) -> Any:
    bare = plain(key)
    if type(bare) is slice:
        return slice(plain(bare.start), plain(bare.stop), plain(bare.step))
    return tuple(map(_plain_key, bare)) if type(bare) is tuple else bare
