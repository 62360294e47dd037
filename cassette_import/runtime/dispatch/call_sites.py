"""`callsite()`: where in the program the event is that a hook or overload is called for.

The frames of the caller are searched when a hook asks. Cassette_import's own frames are hidden, so the program's frame
follows that of the hook.
"""

from __future__ import annotations

import dis
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import CodeType, FrameType
from typing import Any, Final, TypeAlias

from cassette_import.interpreter.generated_names import is_generated
from cassette_import.rewriting.variant_names import is_failed
from cassette_import.runtime.dispatch.hook_functions import HOOK_FUNCTIONS
from cassette_import.runtime.module_imports import importer
from cassette_import.runtime.names import SYMBOLS
from cassette_import.runtime.overdubbed_code import OVERDUBBED

_PACKAGE: Final = __name__.partition(".")[0]
_Position: TypeAlias = tuple[int | None, int | None, int | None, int | None]


@dataclass(frozen=True)
class CallSite:
    """A place in the program: one call, operator or other event, as it is written.

    Equal places are equal objects, so a place can be the key of a dictionary.

    Attributes
    ----------
    filename, lineno, end_lineno:
        The file, and its first and last line that belong to the event; lines count from 1.
    column, end_column:
        Where in the first line it starts and where in the last line it ends, in characters from 0, as slices have it.
        None if Python does not record them (`-X no_debug_ranges`).
    function:
        The qualified name of the function, `<module>` outside of any.
    module:
        The name of the module.
    """

    filename: str
    lineno: int
    end_lineno: int
    column: int | None
    end_column: int | None
    function: str
    module: str

    @property
    def source(self) -> str:
        """The text of the event in the file; empty if the file cannot be read."""
        lines = linecache.getlines(self.filename)[self.lineno - 1 : self.end_lineno]
        if not lines:
            return ""
        if self.column is None or self.end_column is None:
            return "".join(lines).strip()
        lines[-1] = lines[-1][: self.end_column]
        lines[0] = lines[0][self.column :]
        return "".join(lines)

    def __str__(self) -> str:
        return f"{self.filename}:{self.lineno} in {self.function}"


def callsite() -> CallSite:
    """Where the event is that the running hook or overload was called for.

    A hook or an overload calls it, or a function that one of these calls. Hooks that do not call it pay nothing for it.

    Returns
    -------
    The place, with its file, lines, columns and function.

    Raises
    ------
    RuntimeError
        If no hook or overload is running in this thread.

    >>> from cassette_import import Context, overdub
    >>> class Where(Context):
    ...     def prehook(self, f, *args):
    ...         self.metadata.append(callsite().function)
    >>> import colorsys
    >>> places = []
    >>> _ = overdub(Where(places), colorsys.rgb_to_yiq, 1, 0, 0)
    >>> set(places)
    {'rgb_to_yiq'}
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not HOOK_FUNCTIONS.has_code(frame.f_code):
        frame = frame.f_back
    frame = None if frame is None else frame.f_back
    while frame is not None and _is_internal(frame):
        frame = frame.f_back
    if frame is None:
        raise RuntimeError("callsite() must be called in a hook or overload: there is none running here")
    if frame.f_code.co_filename.startswith("<frozen importlib"):  # the event is an import
        frame = importer(frame)
    return _site(frame)


def nearest_site(entered: tuple[str, ...] = ()) -> CallSite:
    """Where the program is, for code that runs in hidden frames: the innermost place outside cassette_import.

    A method that was generated for a class has no place, so that of its caller is shown. The same holds for code of the
    modules `entered`, which a context overdubs like the program, unless they are installed.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{_PACKAGE}."):
        frame = frame.f_back
    if frame is None:
        raise RuntimeError("there is no code of the program around")
    if entered:
        frame = _outside(frame, entered) or frame
    return _site(_caller_with_file(frame) or frame) if _is_generated(frame.f_code) else _site(frame)


def _outside(caller: FrameType | None, modules: tuple[str, ...]) -> FrameType | None:
    """The nearest frame outside cassette_import and some modules."""
    while caller is not None and not _is_of_program(caller, modules):
        caller = caller.f_back
    return caller


def _is_of_program(frame: FrameType, modules: tuple[str, ...]) -> bool:
    name = frame.f_globals.get("__name__", "")
    if name.startswith(f"{_PACKAGE}."):
        return False
    if name not in modules:
        return True
    record = OVERDUBBED.record_with(frame.f_code)
    return record is not None and record.installed


def _is_generated(code: CodeType) -> bool:
    """Whether code is in no file, and not that of a program that is in none itself, as with `python -c`."""
    name = code.co_filename
    if not is_generated(name):
        return False
    record = OVERDUBBED.record_with(code)
    return record is None or record.filename != name


def _caller_with_file(frame: FrameType) -> FrameType | None:
    """The nearest frame of an overdubbed file: what generates methods is of none."""
    caller = frame.f_back
    while caller is not None and (_is_generated(caller.f_code) or OVERDUBBED.record_with(caller.f_code) is None):
        caller = caller.f_back
    return caller


def _is_internal(frame: FrameType) -> bool:
    """Whether it is one of the few frames of cassette_import that are not hidden."""
    name = frame.f_globals.get("__name__", "")
    return name.startswith(f"{_PACKAGE}.") and not name.startswith(f"{_PACKAGE}.contexts")


_sites: Final[dict[tuple[int, int], tuple[CodeType, CallSite]]] = {}
"""The sites that were found so far, with their code objects, by the code object and the instruction."""


def _site(frame: FrameType) -> CallSite:
    code = frame.f_code
    instruction = _instruction_of_event(frame)
    known = _sites.get((id(code), instruction))
    if known is None:
        known = _sites[id(code), instruction] = code, _make_site(frame, instruction)
    return known[1]


def _make_site(frame: FrameType, instruction: int) -> CallSite:
    code = frame.f_code
    positions: _Position = (None, None, None, None)
    if instruction >= 0:
        positions = _position(code, instruction // 2)
    line, end_line, column, end_column = positions
    return call_site_at(code, (line or frame.f_lineno, end_line, column, end_column), frame.f_globals)


def call_site_at(code: CodeType, position: _Position, module_globals: dict[str, Any]) -> CallSite:
    """The call site at a position that code has, with columns in bytes."""
    line, end_line, column, end_column = position
    line = line or code.co_firstlineno
    end_line = end_line or line
    linecache.lazycache(code.co_filename, module_globals)
    return CallSite(
        code.co_filename,
        line,
        end_line,
        characters_before(code.co_filename, line, column),
        characters_before(code.co_filename, end_line, end_column),
        code.co_qualname,
        module_globals.get("__name__", ""),
    )


_readers: Final[dict[int, tuple[CodeType, Iterator[_Position], int]]] = {}
"""For code objects: their positions from some instruction on, and its number.

Rewritten code has many instructions, and its sites are mostly asked for in their order. A list of all positions would
take ten times as long to make.
"""


def _position(code: CodeType, number: int) -> _Position:
    """The position of an instruction."""
    _, positions, place = _readers.pop(id(code), (code, iter(code.co_positions()), 0))  # no other thread reads them now
    if number < place:
        positions, place = iter(code.co_positions()), 0
    found = next(islice(positions, number - place, None))
    _readers[id(code)] = code, positions, number + 1
    return found


def characters_before(filename: str, line: int, offset: int | None) -> int | None:
    """A column in characters; Python counts bytes of UTF-8."""
    if offset is None:
        return None
    text = linecache.getline(filename, line)
    return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))


def _instruction_of_event(frame: FrameType) -> int:
    """The instruction that a frame is at; where its handler notifies errorhooks, that of the event that raised."""
    error = sys.exc_info()[1]
    if error is not None and _notifies_errorhooks(frame):
        while error is not None:
            traceback = error.__traceback__
            while traceback is not None:
                if traceback.tb_frame is frame:
                    return traceback.tb_lasti
                traceback = traceback.tb_next
            error = error.__context__  # the hook has caught this one
    return frame.f_lasti


_LOADING_ARGUMENTS: Final = (
    *("LOAD_FAST", "LOAD_CONST", "BUILD_", "MAP_ADD", "DICT_", "COPY"),
    *("PUSH_NULL", "PRECALL", "CACHE", "EXTENDED_ARG", "CALL"),
)
"""How the instructions begin that are between the load of a function and its call."""

_LOADING_METHODS: Final = "LOAD_ATTR", "LOAD_METHOD"
"""The instructions that load a function from a cell."""


_notifying: Final[dict[tuple[int, int], tuple[CodeType, bool]]] = {}
"""What `_notifies_errorhooks` has found: a program that handles an exception for long asks at each of its events."""


def _notifies_errorhooks(frame: FrameType) -> bool:
    """Whether the frame is at its call of `@7.failed(@a, @p, @x, {"@f0": @f0, …})`, `@7.` being a cell."""
    code, instruction = frame.f_code, frame.f_lasti
    known = _notifying.get((id(code), instruction))
    if known is None:
        known = _notifying[id(code), instruction] = code, _is_at_notifying(code, instruction)
    return known[1]


def _is_at_notifying(code: CodeType, place: int) -> bool:
    if not any(map(is_failed, code.co_names)):
        return False
    before = [one for one in dis.get_instructions(code) if one.offset < place]
    while before:
        instruction = before.pop()
        if instruction.opname in _LOADING_METHODS:
            return bool(before) and id(before[-1].argval) in SYMBOLS and is_failed(str(instruction.argval))
        if not instruction.opname.startswith(_LOADING_ARGUMENTS):
            return False
    return False
