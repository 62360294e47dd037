"""Derived code: the code objects that cassette_import makes of a program's functions, and that stay as they are.

A copy of a function has the file, name and line of the original, so it looks like one of the program's functions. The
registry tells the two apart, by identity: code in it is never instrumented, and never compiled from the source that its
file and line point to. Trampolines and compiled bodies are not in it: the index of code knows their units.
"""

from __future__ import annotations

import weakref
from types import CodeType
from typing import Final


class DerivedCode:
    """The code objects that stay as they are. It does not keep them alive."""

    def __init__(self) -> None:
        self._references: dict[int, weakref.ref[CodeType]] = {}  # by identity: equal code objects differ in their use

    def add(self, code: CodeType) -> CodeType:
        """Add a code object, before a function has it; return it."""
        key = id(code)
        self._references[key] = weakref.ref(code, lambda _: self._references.pop(key, None))
        return code

    def __contains__(self, code: CodeType) -> bool:
        return id(code) in self._references


DERIVED: Final = DerivedCode()
