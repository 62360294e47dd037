"""Hidden frames: functions of ours that run between the program's frames without being seen.

CPython 3.11 to 3.15 regard a frame as *incomplete* until it has executed its `RESUME` instruction, and look through
incomplete frames everywhere: `sys._getframe`, `f_back`, tracebacks, `warnings`, `locals()`, tracing. A function
whose code
has no `RESUME` at all is therefore never seen. It does count for the recursion limit.

Knows code objects; must not know contexts.
"""

from __future__ import annotations

import dis
import sys
from types import CodeType, FunctionType
from typing import Any, TypeVar

_Function = TypeVar("_Function")

_RESUME = dis.opmap["RESUME"]
_NOP = dis.opmap["NOP"]
_CACHE = dis.opmap["CACHE"]


def hide(code: CodeType) -> CodeType:
    """Return `code` without its `RESUME` instruction (3.15: and without the cache entry that follows it)."""
    instructions = bytearray(code.co_code)
    for index in range(0, len(instructions), 2):
        if instructions[index] == _RESUME:
            instructions[index : index + 2] = bytes((_NOP, 0))
            index += 2
            while instructions[index] == _CACHE:
                instructions[index : index + 2] = bytes((_NOP, 0))
                index += 2
            break
    return code.replace(co_code=bytes(instructions))


def hidden(function: _Function) -> _Function:
    """Decorator: the frames of `function` are not seen by the program.

    >>> @hidden
    ... def helper(function):
    ...     return function()
    >>> import sys
    >>> def caller():
    ...     return helper(lambda: sys._getframe(1).f_code.co_name)
    >>> caller()
    'caller'
    """
    assert isinstance(function, FunctionType)
    function.__code__ = hide(function.__code__)
    return function


def _frames_can_be_hidden() -> bool:
    def look(depth: int) -> Any:
        return sys._getframe(depth).f_code.co_name

    @hidden
    def between() -> Any:
        return look(1)

    return bool(between() == "_frames_can_be_hidden")


if not _frames_can_be_hidden():  # pragma: no cover - no supported interpreter
    raise ImportError(
        f"cassette_import relies on how CPython treats frames; {sys.implementation.name} {sys.version.split()[0]} "
        "differs; use CPython 3.11 to 3.15"
    )
