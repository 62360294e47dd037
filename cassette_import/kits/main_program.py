"""The program that is about to run while contexts are made: its functions do not exist yet."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["MAIN", "MAIN_NAMES", "about_to_run", "modules_below"]

MAIN: Final = "__main__"
MAIN_NAMES: Final[set[str]] = set()
"""The module names of the program that is about to run."""


@contextlib.contextmanager
def about_to_run(module: str) -> Iterator[None]:
    """Look for the functions of this module in `__main__`, where it is about to run, instead of importing it."""
    MAIN_NAMES.update((module, MAIN))
    try:
        yield
    finally:
        MAIN_NAMES.clear()


def modules_below(packages: Iterable[str]) -> tuple[str, ...]:
    """The packages; and `__main__`, if the program that is about to run is one of them or in one of them."""
    names = tuple(packages)
    is_main = any(main == name or main.startswith(f"{name}.") for name in names for main in MAIN_NAMES)
    return (*names, MAIN) if is_main and MAIN not in names else names
