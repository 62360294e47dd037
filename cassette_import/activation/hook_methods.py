"""Hook methods: the hook points that take the places of the methods `prehook`, `overdub`, ... of context types."""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from typing import Any, Final

from cassette_import.activation.activations import refresh
from cassette_import.activation.variant_registry import variants
from cassette_import.runtime.dispatch.hook_functions import KINDS
from cassette_import.runtime.dispatch.hook_points import HookPoint


def add_hook_points(context_type: type, recurse: Callable[..., Any]) -> None:
    """Replace the hook methods of a class by hook points, which call the methods and register handlers.

    `recurse` is what the overload of a context type does that defines none.
    """
    for kind in KINDS:
        _add_hook_point(context_type, kind, recurse)


def add_assigned_methods(context_type: type, base: type, recurse: Callable[..., Any]) -> None:
    """Make hook points of methods that were assigned after the class was created: `Ctx.prehook = function`.

    The classes are those that inherit from `base`.
    """
    for cls in context_type.__mro__:
        if issubclass(cls, base):
            for kind in KINDS:
                if not isinstance(cls.__dict__.get(kind), HookPoint):
                    _add_hook_point(cls, kind, recurse)


def _add_hook_point(cls: type, kind: str, recurse: Callable[..., Any]) -> None:
    there = cls.__dict__.get(kind)
    own = there.method if isinstance(there, HookPoint) else there
    inherited = None
    if own is None:
        for base in cls.__mro__[1:]:
            found = base.__dict__.get(kind)
            if isinstance(found, HookPoint):
                found = inherited = found.method
            elif found is not None:  # of a mix-in class that is no context
                own = found
            if found is not None:
                break
    if isinstance(own, (staticmethod, classmethod)):
        own = own.__get__(None, cls)
    if own is not None and not callable(own):
        raise TypeError(f"{cls.__qualname__}.{kind} must be a method, not {own!r}")
    default = recurse if kind == "overdub" else _do_nothing
    setattr(cls, kind, HookPoint(kind, cls, own, inherited or default, _changed))


def _do_nothing(context: Any, /, *arguments: Any, **keywords: Any) -> None:
    """The hook of a context type that defines none."""


def _changed(context_type: type) -> None:
    """Refresh what is active where handlers of a context type were registered; have its unreached targets named."""
    if not (_REPORTING or context_type.__module__.partition(".")[0] == _PACKAGE):
        _REPORTING.append(os.getpid())
        atexit.register(_report_unreached)
    for activation in variants.changed(context_type):
        refresh(activation)


def _report_unreached() -> None:
    from cassette_import.activation.unreached_targets import take_unreached  # late: few runs need it before their end
    from cassette_import.runtime.dispatch.unfitting_handlers import issue_at_end

    issue_at_end(take_unreached, _REPORTING[0])


_PACKAGE: Final = __name__.partition(".")[0]
_REPORTING: Final[list[int]] = []
"""The process that names unreached targets when it ends."""
