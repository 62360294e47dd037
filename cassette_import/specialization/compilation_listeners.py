"""Who is notified of compiled bodies. Listeners may be added before the body compiler is imported.

Knows the protocol of listeners; must not know how bodies are compiled.
"""

from __future__ import annotations

import weakref
from typing import Final, Protocol


class CompilationListener(Protocol):
    """Notified of each compiled body."""

    def body_made(self, seconds: float) -> None:
        """A body was compiled, or read from the cache, in this thread, which took so many seconds."""


LISTENERS: Final[weakref.WeakSet[CompilationListener]] = weakref.WeakSet()
"""They are not kept alive."""
