"""Who is notified of compiled code. Listeners may be added before the body compiler is imported."""

from __future__ import annotations

import weakref
from typing import Final

from cassette_import.interpreter.protocols import Protocol


class CompilationListener(Protocol):
    """Notified of each compiled body and module level."""

    def code_begins(self) -> None:
        """Code is going to be made in this thread. A call of `code_made` follows; such pairs may nest."""

    def code_made(self, functions: int, seconds: float) -> None:
        """Code was made in this thread, which took so many seconds: so many functions were compiled.

        There are none if a body was in the cache, or if the code is a module level.
        """


LISTENERS: Final[weakref.WeakSet[CompilationListener]] = weakref.WeakSet()
"""They are not kept alive."""
