"""Hidden frames: functions of cassette_import that run between the program's frames and are invisible to it.

CPython 3.11 to 3.15 regard a frame as *incomplete* until it has executed its `RESUME` instruction, and skip incomplete
frames everywhere: in `sys._getframe`, `f_back`, tracebacks, `warnings`, `locals()` and tracing. So a function whose
code never executes a `RESUME` is invisible. It does count for the recursion limit.

Exceptions that leave a hidden frame are an exception to this: `sys.monitoring`, and `sys.settrace` through it, is
notified of them for each frame. 3.15 looks up the tools to notify in data of the code object that the `RESUME` creates,
and crashes without these data. So there a hidden code object has them, and they name no tools.

Knows code objects; must not know contexts.
"""

from __future__ import annotations

import sys
from opcode import opmap
from types import CodeType, FunctionType
from typing import Any, TypeVar

from cassette_import.interpreter.hidden_code import HIDDEN

_Function = TypeVar("_Function")

_RESUME = opmap["RESUME"]
_NOP = opmap["NOP"]
_CACHE = opmap["CACHE"]


_BEGIN_OF_HIDDEN = bytes((_NOP, 0))
_COMPREHENSIONS_ARE_INLINED = (3, 12) <= sys.version_info < (3, 15)  # since PEP 709; see below for 3.15

MONITORS_BY_CODE = sys.version_info >= (3, 15)
"""Whether each hidden code object needs data of its own, which no copy of it has."""
_TOOL = 4
"""An identifier of `sys.monitoring` that is used for a moment, also if another tool has it, which loses nothing."""


def hide(code: CodeType) -> CodeType:
    """Return `code` without its `RESUME` instruction (3.15: and without the cache entry that follows it)."""
    if _COMPREHENSIONS_ARE_INLINED and code.co_code[0] == _RESUME:  # most code: a start hides hundreds of functions
        return code.replace(co_code=_BEGIN_OF_HIDDEN + code.co_code[2:])
    instructions = bytearray(code.co_code)
    resume = bytearray()
    for index in range(0, len(instructions), 2):
        if instructions[index] == _RESUME:
            while not resume or instructions[index] == _CACHE:
                if index + 2 == len(instructions):
                    return code  # it is hidden already: nothing follows the `RESUME`
                resume += instructions[index : index + 2]
                instructions[index : index + 2] = bytes((_NOP, 0))
                index += 2
            break
    if MONITORS_BY_CODE:
        instructions += resume  # never reached; code without a `RESUME` cannot have the data
    consts = tuple([hide(const) if _is_comprehension(const) else const for const in code.co_consts])
    return unmonitored(code.replace(co_code=bytes(instructions), co_consts=consts))


def _is_comprehension(const: object) -> bool:
    """Whether a constant is the code of a comprehension, which runs in a frame of its own before 3.12."""
    return isinstance(const, CodeType) and const.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>")


def unmonitored(code: CodeType) -> CodeType:
    """Return hidden code, and have no tool notified of its exceptions. Each copy of the code needs a call."""
    if MONITORS_BY_CODE:
        monitoring = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # from 3.12 on
        try:
            monitoring.use_tool_id(_TOOL, __name__)
        except ValueError:  # another tool has the identifier
            monitoring.set_local_events(_TOOL, code, 0)
        else:
            monitoring.set_local_events(_TOOL, code, 0)
            monitoring.free_tool_id(_TOOL)
    return code


def hidden(function: _Function) -> _Function:
    """Decorator: the frames of `function` are invisible to the program.

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
    code = function.__code__
    if id(code) not in HIDDEN:
        function.__code__ = hide(code)
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
