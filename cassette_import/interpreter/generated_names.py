"""The file and module names of generated code, whose text is in no file: `compile`, `exec` or `eval` got it."""

from __future__ import annotations

from typing import Final

NAMED_TUPLES: Final = "namedtuple_"
"""How the name of the module begins that `__new__` of a named tuple has; no such module exists."""


def is_generated(filename: str) -> bool:
    """Whether code with this file name is in no file."""
    return filename == "<string>" or filename.startswith("<attrs generated ")
