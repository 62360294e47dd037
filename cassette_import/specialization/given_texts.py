"""The texts and trees that modules give to `compile`, `exec` and `eval`: functions in them are overdubbed as those of
the module.

Only the extension of dispatch tells of them.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from types import CodeType
from typing import TYPE_CHECKING, Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.own_work import OWN_WORK, own_work
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.specialization.function_unit import INSTALLED, FileRecord
from cassette_import.specialization.registry import Registry

if TYPE_CHECKING:
    import ast

__all__ = ["GivenTexts"]


class GivenTexts:
    """Notes the texts of installed modules.

    Parameters
    ----------
    registry:
        The registry whose modules they are.
    generators:
        The modules that generate methods in the namespaces of other modules, whose texts these are not: the text of a
        method is found when it is needed.
    """

    def __init__(self, registry: Registry, generators: Collection[str]) -> None:
        self._registry = registry
        self._generators = generators
        self._known: tuple[int, dict[str, FileRecord]] = (-1, {})
        if DISPATCH.tell_of_texts is not None:
            DISPATCH.tell_of_texts(self._tell, INSTALLED)

    @hidden
    def _tell(self, text: str | bytes | ast.Module, code: CodeType | None, namespace: Any) -> Any:
        """Whether a text is wanted, if there is no code; else the code to execute."""
        if OWN_WORK.now or self._registry.is_over:
            return False
        frame = sys._getframe(1)  # that of the caller of the builtin
        giver = frame.f_globals.get("__name__")
        record = self._record_of(giver)
        if type(namespace) is dict and giver not in self._generators:
            record = self._record_of(namespace.get("__name__")) or record
        if record is None or code is None:
            return record is not None
        with own_work():
            return self._registry.given_text(record, code, text)

    def _record_of(self, name: Any) -> FileRecord | None:
        """The record of an installed module."""
        if self._known[0] != self._registry.generation:
            records = list(self._registry.records.values())
            self._known = self._registry.generation, {name: one for one in records for name in one.module_names}
        return self._known[1].get(name) if type(name) is str else None
