"""The reporter of the escape report: it imports the report when the first context with `report_escapes` is entered.

Most programs never do that, and the report is slow to import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cassette_import.activation.escape_reporters import ESCAPE_REPORTERS

if TYPE_CHECKING:
    from cassette_import.activation.escape_report import EscapeWatch


class LateEscapeReport:
    """Enters and leaves the watching context together with the one that it watches."""

    def watch_to_enter(self, context: Any) -> EscapeWatch | None:
        """The context that counts for `context`, if it is not active yet."""
        from cassette_import.activation.escape_report import watch_to_enter

        return watch_to_enter(context)

    def watch_to_leave(self, context: Any) -> EscapeWatch | None:
        """The context that counts for `context`, if it is the innermost one: `context` has just been left."""
        from cassette_import.activation.escape_report import watch_to_leave

        return watch_to_leave(context)


ESCAPE_REPORTERS.append(LateEscapeReport())
