"""Whether a family of variants is that of the active contexts: `family in ACTIVE_FAMILIES`, which the extension in C
does without a call.
"""

from __future__ import annotations

from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.state import ACTIVE


class ActiveFamiliesInPython:
    """Contains the family of the contexts that are active in this thread and task."""

    __slots__ = ()

    @hidden
    def __contains__(self, family: object) -> bool:
        return ACTIVE.get().family is family


ARE_QUICK: Final = not DISPATCH.reason
"""Whether that takes less time than to call what returns the activation."""

ACTIVE_FAMILIES: Final[Any] = DISPATCH.ActiveFamilies() if ARE_QUICK else ActiveFamiliesInPython()

BINDINGS: Final[dict[str, Any]] = {symbols.ACTIVE_FAMILIES: ACTIVE_FAMILIES}
