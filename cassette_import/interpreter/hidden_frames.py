"""Hidden frames: functions of cassette_import that run between the program's frames and are invisible to it.

CPython 3.11 to 3.15 regard a frame as *incomplete* until it has executed its `RESUME` instruction, and skip incomplete
frames everywhere: in `sys._getframe`, `f_back`, tracebacks, `warnings`, `locals()` and tracing. So a function whose
code never executes a `RESUME` is invisible. It does count for the recursion limit.

Exceptions that leave a frame are reported all the same. From 3.13 on, code has a flag that keeps them from tools;
without it, 3.15 crashes, because it looks up the tools in data that the `RESUME` creates. Before 3.13, `observers`
filters what tools are notified of.
"""

from __future__ import annotations

import sys
from opcode import opmap
from types import CodeType, FunctionType
from typing import Any, Final, TypeVar

from cassette_import.interpreter.hidden_code import HIDDEN

_Function = TypeVar("_Function")

_RESUME = opmap["RESUME"]
_NOP = opmap["NOP"]
_CACHE = opmap["CACHE"]


_NOTHING = bytes((_NOP, 0))
_COMPREHENSIONS_ARE_INLINED = (3, 12) <= sys.version_info < (3, 15)  # since PEP 709; see below for 3.15

UNMONITORED: Final = 0x2000000 if sys.version_info >= (3, 13) else 0
"""The flag of code whose frames cause no event of `sys.monitoring`: `CO_NO_MONITORING_EVENTS`."""


def hide(code: CodeType) -> CodeType:
    """Return `code` without its `RESUME` instruction (3.15: and without the cache entry that follows it)."""
    flags = code.co_flags | UNMONITORED
    if _COMPREHENSIONS_ARE_INLINED and code.co_code[0] == _RESUME:  # most code: a start hides hundreds of functions
        return code.replace(co_code=_NOTHING + code.co_code[2:], co_flags=flags)
    instructions = bytearray(code.co_code)
    resume = code.co_code[::2].find(_RESUME) * 2
    while resume >= 0:
        end = resume + 2
        while instructions[end] == _CACHE:
            end += 2
        instructions[resume:end] = _NOTHING * ((end - resume) // 2)
        # Generators have another one behind each `yield`. With the flag, it would wait for ever for the instrumentation
        # of code that has none, when a tool was set or removed meanwhile.
        resume = instructions[::2].find(_RESUME) * 2 if UNMONITORED else -1
    consts = tuple([hide(const) if _is_comprehension(const) else const for const in code.co_consts])
    return code.replace(co_code=bytes(instructions), co_consts=consts, co_flags=flags)


def _is_comprehension(const: object) -> bool:
    """Whether a constant is the code of a comprehension, which runs in a frame of its own before 3.12."""
    return isinstance(const, CodeType) and const.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>")


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


def _is_broken_subinterpreter() -> bool:
    """Whether this is a subinterpreter of CPython 3.13.0, which aborts at its end (a double free) after an overdub."""
    if sys.version_info[:3] != (3, 13, 0):
        return False
    import _interpreters  # type: ignore[import-not-found,unused-ignore]  # from 3.13 on

    return bool(_interpreters.get_current()[0] != _interpreters.get_main()[0])


if _is_broken_subinterpreter():
    raise ImportError("CPython 3.13.0 would abort at the end of this subinterpreter: use 3.13.1 or later")
if not _frames_can_be_hidden():  # pragma: no cover - no supported interpreter
    raise ImportError(
        f"cassette_import relies on how CPython treats frames; {sys.implementation.name} {sys.version.split()[0]} "
        "differs; use CPython 3.11 to 3.15"
    )
