"""The options of a trace that choose calls: predicates by their names, and whether hooks in C know the options."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["Predicate", "can_be_accelerated", "predicate_named"]

Predicate = Callable[[Any, tuple[Any, ...], dict[str, Any]], object]

_FILTERS: Final = ("start", "stop", "package", "predicate")
"""The options that choose calls by what they call."""


def predicate_named(text: str) -> Any:
    """The function that `module:function` names; the text itself if it has another form.

    >>> predicate_named("operator:is_")
    <built-in function is_>
    """
    module, colon, name = text.partition(":")
    try:
        return getattr(importlib.import_module(module), name) if colon else text
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"predicate {text!r}: {error}") from error


def can_be_accelerated(options: Mapping[str, Any]) -> bool:
    """Whether the hooks are in C. They know no filters, and are no quicker if all calls are kept in memory."""
    is_kept = bool(options.get("last")) and options.get("depth") is None
    return not is_kept and not any(options.get(name) for name in _FILTERS)
