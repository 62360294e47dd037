"""Changed copies of contexts: `similarcontext` and `disablehooks`."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from cassette_import.activation.context import Context
from cassette_import.runtime.tagging.overdubbed_calls import WRAPPER_AWARE
from cassette_import.specialization.passes.validation import checked_passes

__all__ = ["disablehooks", "similarcontext"]

AnyContext = TypeVar("AnyContext", bound=Context)
_UNSET: Any = object()


def similarcontext(ctx: AnyContext, *, metadata: Any = _UNSET, passes: Any = _UNSET) -> AnyContext:
    """A copy of a context with other metadata or passes; it keeps the type's hooks and overloads.

    Parameters
    ----------
    ctx:
        The context.
    metadata, passes:
        The metadata and passes of the copy, if they differ from those of the context.

    Returns
    -------
    A new context of the same type.

    Raises
    ------
    TypeError
        If `ctx` is no context, or a pass is not callable.

    >>> similarcontext(Context(1), metadata=2).metadata
    2
    """
    made = _copied("similarcontext", ctx)
    if metadata is not _UNSET:
        object.__setattr__(made, "metadata", metadata)
    if passes is not _UNSET:
        object.__setattr__(made, "passes", checked_passes("passes", passes))
    return made


def disablehooks(ctx: AnyContext) -> AnyContext:
    """A copy of a context without hooks: compiled bodies do not contain them. Overloads stay.

    Parameters
    ----------
    ctx:
        The context.

    Returns
    -------
    A new context of the same type.

    Raises
    ------
    TypeError
        If `ctx` is no context.

    >>> import math
    >>> from cassette_import import overdub
    >>> class Loud(Context):
    ...     def prehook(self, f, *args, **kwargs):
    ...         print(f.__name__)
    >>> def program():
    ...     return math.sqrt(4.0)
    >>> overdub(Loud(), program)
    sqrt
    2.0
    >>> overdub(disablehooks(Loud()), program)
    2.0
    """
    made = _copied("disablehooks", ctx)
    object.__setattr__(made, "_hooks_enabled", False)
    object.__setattr__(made, "follows_bodies", False)
    object.__setattr__(made, "_is_changed", True)
    return made


def _copied(verb: str, ctx: AnyContext) -> AnyContext:
    if not isinstance(ctx, Context):
        raise TypeError(f"{verb}(ctx, ...): ctx must be an instance of a Context, not {ctx!r}")
    made = copy.copy(ctx)
    object.__setattr__(made, "_copy_of", ctx)  # a frozen dataclass may be a context
    return made


WRAPPER_AWARE.add(id(similarcontext))
