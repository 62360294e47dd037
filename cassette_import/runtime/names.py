"""The names that rewritten code uses, and when they are in `builtins`.

Knows no name itself: each module adds those that it defines. Must not know what is active.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any, Final

NAMES: Final[dict[str, Any]] = vars(builtins)
"""The namespace in which rewritten code finds its names (N1, V5: no module shows them). They start with ``@``, so they
are no identifiers."""


class ProvidedNames:
    """The names that rewritten code uses whatever context is active.

    They are added to `builtins` when the first variant is made. Until then no rewritten code exists, and a program that
    lists all builtins finds only those of Python.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, Any] | None = {}

    def add(self, names: Mapping[str, Any]) -> None:
        """Make names available to rewritten code."""
        if self._waiting is not None:
            self._waiting.update(names)
        if self._waiting is None:  # or no longer so: another thread has entered a context meanwhile
            NAMES.update(names)

    def show(self) -> None:
        """Put the names into `builtins`: rewritten code may exist from now on."""
        waiting = self._waiting
        if waiting is not None:
            for name, value in list(waiting.items()):
                NAMES.setdefault(name, value)  # `@on` may be true already
            self._waiting = None


PROVIDED: Final = ProvidedNames()
"""The names that all rewritten code may use. `state`, `bindings` (for `runtime.syntax`), the modules of `tagging` and
`specialization` that define such names add them when they are imported."""
