"""Contexts: entering and leaving them, the verbs, tagging's functions for users, and the escape report."""

from cassette_import.activation import late_escape_report as late_escape_report  # adds itself to `ESCAPE_REPORTERS`
