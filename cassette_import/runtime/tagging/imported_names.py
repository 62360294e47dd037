"""Values that `from … import` binds to variables of a function: the interpreter reads them from the module, plain."""

from __future__ import annotations

import sys
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.tagging.tag_scopes import active_store
from cassette_import.runtime.tagging.wrappers import Tagged


@hidden
def imported(value: Any, name: str, module: str, level: int, namespace: dict[str, Any]) -> Any:
    """The value of a name that was imported, wrapped if the attribute of the module has metadata."""
    store = active_store()
    if store is None:
        return value
    found = sys.modules.get(_absolute_name(module, level, namespace))
    read = value if found is None else store.load_part(store.attributes, found, name, value)
    return read if type(read) is Tagged else store.recognised.read(value, "an import of a name")


@hidden
def _absolute_name(module: str, level: int, namespace: dict[str, Any]) -> str:
    if not level:
        return module
    package = namespace.get("__package__") or namespace.get("__name__", "")
    base = package.rsplit(".", level - 1)[0]
    return f"{base}.{module}" if module else base


NAMES[symbols.IMPORTED] = imported
