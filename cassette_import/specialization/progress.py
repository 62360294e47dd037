"""How specialising goes on: lines on the terminal while a first run under a context waits for it, and its time.

Knows terminals, and that bodies are made one at a time; must not know how.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from time import perf_counter
from types import CodeType
from typing import IO, Any, Final, Protocol

from cassette_import.runtime.variant import Variant
from cassette_import.specialization.body_compiler import bodies
from cassette_import.specialization.function_unit import Unit

__all__ = ["add_listener", "show"]

_PATIENCE: Final = 2.0
"""Seconds of specialising after which somebody may wonder; then twice as many, and so on."""


def show(terminal: IO[str] | None, patience: float = _PATIENCE) -> None:
    """From now on, tell how specialising goes on, each time that it has taken twice as long as the last time.

    Parameters
    ----------
    terminal:
        Where to; anything but a terminal is told nothing, because somebody may compare what is in it.
    patience:
        The seconds before the first line.
    """
    try:
        if terminal is None or not terminal.isatty():
            return
    except ValueError:  # closed
        return
    bodies.make = _watched(bodies.make, terminal, patience)  # type: ignore[method-assign]


class _Listener(Protocol):
    def body_made(self, seconds: float) -> None:
        """A body was made, in this thread, and took so long."""


_listeners: Final[weakref.WeakSet[Any]] = weakref.WeakSet()


def add_listener(listener: _Listener) -> None:
    """From now on, tell of each body that is made, as long as the listener is there."""
    if not hasattr(bodies.make, "tells"):
        bodies.make = _told(bodies.make)  # type: ignore[method-assign]
    _listeners.add(listener)


def _told(make: Callable[..., CodeType | None]) -> Any:
    def made(unit: Unit, variants: Sequence[Variant]) -> CodeType | None:
        start = perf_counter()
        try:
            return make(unit, variants)
        finally:
            seconds = perf_counter() - start
            for listener in list(_listeners):
                listener.body_made(seconds)

    made.tells = True  # type: ignore[attr-defined]
    return made


def _watched(make: Callable[..., CodeType | None], terminal: IO[str], patience: float) -> Any:
    process = os.getpid()
    count, spent = 0, 0.0

    def made(unit: Unit, variants: Sequence[Variant]) -> CodeType | None:
        nonlocal count, spent, patience
        start = perf_counter()
        try:
            return make(unit, variants)
        finally:
            count += 1
            spent += perf_counter() - start
            if spent >= patience and os.getpid() == process:
                patience = 2 * spent
                _tell(terminal, f"cassette_import: {count} functions specialised in {spent:.0f} seconds, so far")

    return made


def _tell(terminal: IO[str], text: str) -> None:
    try:
        terminal.write(text + "\n")
        terminal.flush()
    except (OSError, ValueError):
        pass
