"""Hidden frames: functions of ours that run between the program's frames without being seen.

CPython 3.11 to 3.15 regard a frame as *incomplete* until it has executed its `RESUME` instruction, and look through
incomplete frames everywhere: `sys._getframe`, `f_back`, tracebacks, `warnings`, `locals()`, tracing. A function whose
code never comes to a `RESUME` is therefore never seen. It does count for the recursion limit.

Exceptions that leave a hidden frame are another matter: `sys.monitoring`, and `sys.settrace` through it, is told of
them for each frame. 3.15 looks up whom to tell in data of the code object that the `RESUME` makes, and crashes where
there is none. So there a hidden code object has them, and says that nobody is to be told.

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


_TELLS_BY_CODE = sys.version_info >= (3, 15)
_TOOL = 4
"""An identifier of `sys.monitoring` that is taken for a moment; whoever has it already loses nothing."""


def hide(code: CodeType) -> CodeType:
    """Return `code` without its `RESUME` instruction (3.15: and without the cache entry that follows it)."""
    instructions = bytearray(code.co_code)
    resume = bytearray()
    for index in range(0, len(instructions), 2):
        if instructions[index] == _RESUME:
            while not resume or instructions[index] == _CACHE:
                if index + 2 == len(instructions):
                    return code  # which is hidden already: nothing comes after it
                resume += instructions[index : index + 2]
                instructions[index : index + 2] = bytes((_NOP, 0))
                index += 2
            break
    if _TELLS_BY_CODE:
        instructions += resume  # which is never reached: code that has none cannot have the data
    consts = tuple([hide(const) if _is_comprehension(const) else const for const in code.co_consts])
    return unwatched(code.replace(co_code=bytes(instructions), co_consts=consts))


def _is_comprehension(const: object) -> bool:
    """Whether a constant is the code of a comprehension, which runs in a frame of its own before 3.12."""
    return isinstance(const, CodeType) and const.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>")


def unwatched(code: CodeType) -> CodeType:
    """`code`, which is hidden: nobody is told of the exceptions that leave it. To be said again of each copy of it."""
    if _TELLS_BY_CODE:
        monitoring = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        try:
            monitoring.use_tool_id(_TOOL, __name__)
        except ValueError:  # somebody has it
            monitoring.set_local_events(_TOOL, code, 0)
        else:
            monitoring.set_local_events(_TOOL, code, 0)
            monitoring.free_tool_id(_TOOL)
    return code


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
