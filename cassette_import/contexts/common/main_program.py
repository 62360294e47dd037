"""The program that is about to run while contexts are made: its functions do not exist yet.

Knows names of modules; must not know how programs are run, or any context.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

__all__ = ["MAIN", "MAIN_NAMES", "about_to_run"]

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
