"""Changed copies of code objects that keep what `code.replace` forgets.

On 3.12 the variables of inlined comprehensions are *hidden* variables of the module or class body around them: `locals`
and `exec` leave them out there. `code.replace` tells them by their `LOAD_FAST_AND_CLEAR` instructions. The compiler
removes these where a comprehension is never executed, as in ``assert True, [x for x in xs]``. A copy of the code would
then have ordinary variables without values, and `locals()` would delete the names of the body that are equal to theirs.
"""

from __future__ import annotations

import opcode
import sys
from types import CodeType
from typing import Any, Final

_OPTIMIZED: Final = 0x01
_FORGETS_HIDDEN_VARIABLES: Final = sys.version_info[:2] == (3, 12)
_OF_THE_COMPILER: Final = ("__class__", "__classdict__")
"""The cells of a class body that are no variables of comprehensions."""


def changed_copy(code: CodeType, **changes: Any) -> CodeType:
    """Do what `code.replace` does, and keep hidden variables hidden."""
    if _FORGETS_HIDDEN_VARIABLES and not code.co_flags & _OPTIMIZED:
        instructions = _hiding(code)
        if instructions:
            count = len(instructions) // 2
            # Places without lines, for eight instructions at most: https://github.com/python/cpython, locations.md
            sizes = [min(8, count - start) for start in range(0, count, 8)]
            changes["co_code"] = code.co_code + instructions
            changes["co_linetable"] = code.co_linetable + bytes(0x80 | 15 << 3 | size - 1 for size in sizes)
    return code.replace(**changes)


def _hiding(code: CodeType) -> bytes:
    """Instructions that are never reached, and show that some variables are hidden.

    All variables of a body that is not optimised are those of comprehensions.
    """
    cells = tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    places = [place for place, name in enumerate(code.co_varnames + cells) if name not in _OF_THE_COMPILER]
    if not places:
        return b""
    load_and_clear = opcode.opmap["LOAD_FAST_AND_CLEAR"]
    existing = code.co_code
    shown = {existing[at + 1] for at in range(0, len(existing), 2) if existing[at] == load_and_clear}
    instructions = bytearray()
    for place in places:
        if place > 0xFF:
            instructions += bytes((opcode.EXTENDED_ARG, place >> 8))
        if place > 0xFF or place not in shown:
            instructions += bytes((load_and_clear, place & 0xFF))
    return bytes(instructions)
