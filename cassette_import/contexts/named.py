"""Contexts by name, as on the command line: `context_named` makes one from a description. This is the public module.

It raises `UnknownContext` if there is no such context; `context_types` lists the names.
"""

from cassette_import.contexts.lookup import (
    ENTRY_POINTS,
    UnknownContext,
    context_named,
    context_types,
    entry_points,
    importable_from,
)

__all__ = ["ENTRY_POINTS", "UnknownContext", "context_named", "context_types", "entry_points", "importable_from"]
