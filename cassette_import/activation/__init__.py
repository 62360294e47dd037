"""Contexts, and what entering one makes active.

Knows the runtime and the registry of specialised functions; must not know source or syntax.
"""

from cassette_import.activation import escape_report as escape_report  # registers with `context`
