"""Packages that keep code objects, to know their functions' frames by them, keep the new ones too. The list is data.

Knows code objects and containers; must not know which code is live, nor rewriting.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable
from types import CodeType
from typing import Any, Final

from cassette_import.runtime.state import ACTIVE, INACTIVE
from cassette_import.specialization.body_compiler import SPECIALISING

KEEPERS: Final[list[tuple[str, str]]] = [
    ("jinja2.utils", "internal_code"),
    ("trio._core._ki", "_CODE_KI_PROTECTION_STATUS_WMAP"),
]
"""Module and global name of a set of code objects, or of a mapping with weak references to its keys."""


def update_keepers(former: Iterable[CodeType | None], code: CodeType) -> None:
    """Whoever keeps one of the code objects that a function had keeps the one that it has now."""
    for module_name, name in KEEPERS:
        module = sys.modules.get(module_name)
        kept = vars(module).get(name) if module is not None else None
        if kept is not None:
            known = [one for one in former if one is not None and one is not code]
            if isinstance(kept, set):
                if any(one in kept for one in known):
                    kept.add(code)
            else:
                _map(kept, [one for one in known if weakref.getweakrefcount(one)], code)


def _map(kept: Any, known: list[CodeType], code: CodeType) -> None:
    """A mapping that is written in Python may be overdubbed itself: it runs plain here."""
    token = ACTIVE.set(INACTIVE)
    was_busy = getattr(SPECIALISING, "now", False)
    SPECIALISING.now = True
    try:
        for one in known:
            try:
                kept[code] = kept[one]
            except KeyError:
                continue
            return
    finally:
        SPECIALISING.now = was_busy
        ACTIVE.reset(token)
