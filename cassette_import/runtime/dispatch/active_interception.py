"""Interception by whichever variant is active, for code that was not specialised for one variant alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.state import ACTIVE


def intercept_if_active(kind: Events) -> Callable[[Any], Any]:
    """`intercept(callee)` of the active variant, for one kind of event."""
    number = int(kind)
    if not DISPATCH.reason:
        return DISPATCH.Interception(number)

    @hidden
    def intercept(callee: Any) -> Any:
        variant = ACTIVE.get().variant
        return callee if variant is None else variant.runners[number].intercept(callee)

    return intercept


@hidden
def run_if_active(kind: int, callee: Any, arguments: Any, keywords: Any) -> Any:
    """Run a call as an event of the active variant."""
    variant = ACTIVE.get().variant
    if variant is None:
        return callee(*arguments, **keywords)
    return variant.runners[kind].intercept(callee)(*arguments, **keywords)
