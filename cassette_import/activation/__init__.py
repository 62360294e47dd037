"""Contexts: entering and leaving them, the verbs, tagging's functions for users, and the escape report.

Knows the runtime and the registry of specialised functions; must not know source or syntax.
"""

from cassette_import.activation import escape_report as escape_report  # adds itself to `context.ESCAPE_REPORTERS`
