"""What the rewriter puts where names are bound that are no variables: in class bodies, and of annotations.

Knows wrappers and the shadow store; must not know where in a program it stands.
"""

from __future__ import annotations

from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.names import PROVIDED
from cassette_import.runtime.tagging.propagation import store_here
from cassette_import.runtime.tagging.wrappers import Tagged, plain


@hidden
def plain_items(iterable: Any) -> Any:
    """What the names of a class are bound to: a list or tuple whose items have metadata is given as a copy that has
    none."""
    value = plain(iterable)
    store = store_here()
    if store is None or type(value) not in (list, tuple) or store.items.of(value) is None:
        return value
    items = list(value)
    return items if type(value) is list else tuple(items)


@hidden
def annotated(function: Any) -> Any:
    """A function that has just been made."""
    evaluated(function.__annotations__)
    return function


@hidden
def evaluated(found: Any) -> None:
    """The annotations of a function or class that has just been made: they keep no wrappers."""
    for name, value in list(found.items()):
        if type(value) is Tagged:
            found[name] = value._tagged_value


PROVIDED.add({"@plain.items": plain_items, "@annotated": annotated, "@annotations": evaluated})
