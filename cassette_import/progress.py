"""Lines on the terminal while many functions are specialised, which a first run under a context may wait for.

Knows terminals, and that bodies are made one at a time; must not know how.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from time import perf_counter
from types import CodeType
from typing import IO, Any, Final

from cassette_import.bodies import bodies
from cassette_import.units import Unit, VariantLike

__all__ = ["show"]

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


def _watched(make: Callable[..., CodeType | None], terminal: IO[str], patience: float) -> Any:
    process = os.getpid()
    count, spent = 0, 0.0

    def made(unit: Unit, variants: Sequence[VariantLike]) -> CodeType | None:
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
