"""The names that a module binds, as rewriting needs them."""

from __future__ import annotations

from cassette_import.interpreter.records import Record


class ModuleNames(Record):
    """The names that a module binds at its level."""

    assigned: frozenset[str]
    """Those that it binds by assignments alone."""
    imported: frozenset[str]
    """Those that it binds by imports, among others."""
