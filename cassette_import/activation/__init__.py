"""Contexts: entering and leaving them, the verbs, tagging's functions for users, and the escape report.

Knows the runtime, the registry of specialised functions, and the kinds of events; must not know source, or how code is
rewritten.
"""

from cassette_import.activation import late_escape_report as late_escape_report  # adds itself to `ESCAPE_REPORTERS`
