"""What a worker does with one task: it calls the function, captures its output, and finds what must not happen.

A function must not change its arguments, nor return parts of them: the program would not see the change, or would get
a copy. Both are found and said in the outcome.
"""

from __future__ import annotations

import datetime
import inspect
import io
import itertools
import logging
import os
import pickle
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from types import FrameType, TracebackType
from typing import Any, Final, TextIO, TypeAlias
from uuid import UUID

__all__ = ["Dependency", "Outcome", "comparable", "do_again", "execute", "rebuilt", "settings_of_program"]


# ---- tracebacks as data

Position: TypeAlias = tuple[int | None, int | None, int | None, int | None]
Entry: TypeAlias = tuple[str, str, str, str, Position]
"""The file, name and qualified name of a function, the name of its module, and line, last line, column, last column."""

_LONG_FORM: Final = 14
_NO_COLUMNS: Final = 13
_UNITS: Final = 8
"""So many code units an entry of a line table describes."""


def _described(traceback: TracebackType | None) -> list[Entry]:
    """The entries of a traceback, the outermost first."""
    found: list[Entry] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        position = next(itertools.islice(code.co_positions(), traceback.tb_lasti // 2, None))
        if position[0] != traceback.tb_lineno:
            position = (traceback.tb_lineno, None, None, None)
        module = str(traceback.tb_frame.f_globals.get("__name__"))
        found.append((code.co_filename, code.co_name, code.co_qualname, module, position))
        traceback = traceback.tb_next
    return found


def rebuilt(entries: Sequence[Entry]) -> TracebackType | None:
    """A traceback with these entries. Its frames have no variables."""
    made: TracebackType | None = None
    for entry in reversed(entries):
        here = _raised_at(*entry)
        made = TracebackType(made, here.tb_frame, here.tb_lasti, here.tb_lineno)
    return made


def _raised_at(filename: str, name: str, qualified: str, module: str, position: Position) -> TracebackType:
    code: Any = compile("raise error", filename, "exec")
    units = len(code.co_code) // 2
    code = code.replace(
        co_name=name,
        co_qualname=qualified,
        co_firstlineno=position[0] or 1,
        co_linetable=b"".join(_line_entry(min(_UNITS, units - at), position) for at in range(0, units, _UNITS)),
    )
    error = Exception()
    try:
        exec(code, {"__name__": module, "__file__": filename, "error": error})
    except Exception:
        pass
    traceback = error.__traceback__
    assert traceback is not None
    assert traceback.tb_next is not None
    return traceback.tb_next


def _line_entry(units: int, position: Position) -> bytes:
    """An entry of a line table that stays on the first line of the code."""
    line, last, column, last_column = position
    if line is None or last is None or column is None or last_column is None or last < line:
        return bytes((0x80 | _NO_COLUMNS << 3 | units - 1, 0))
    numbers = b"".join(map(_variable_length, (last - line, column + 1, last_column + 1)))
    return bytes((0x80 | _LONG_FORM << 3 | units - 1, 0)) + numbers


def _variable_length(number: int) -> bytes:
    made = bytearray()
    while number > 63:
        made.append(64 | number & 63)
        number >>= 6
    made.append(number)
    return bytes(made)


# ---- frames of a task as log records and warnings name them
#
# A worker says how many frames above the function one is; the process of the program finds it, from the call on.

Callers: TypeAlias = Sequence[tuple[FrameType, int, int]]
"""The frames of a call, the innermost first, each with its last instruction and its line then."""
StackEntry: TypeAlias = tuple[str, int, str, str | None]
"""File, line, function and text of the line."""

_PACKAGE: Final = os.path.dirname(__file__) + os.sep


class _Above(str):
    """A text about frames of a worker, and which frames of the program are meant.

    Attributes
    ----------
    level:
        How many frames above the function the first one is; 0 for one in the function.
    inside:
        The entries of a stack that are in the function, the innermost first.
    """

    level: int = 0
    inside: Sequence[StackEntry] = ()


def _frames_of_task(is_skipped: Callable[[FrameType], bool]) -> tuple[list[FrameType], list[FrameType]]:
    """The frames of this thread, the innermost first: those in the function of a task, and those above it.

    Parameters
    ----------
    is_skipped:
        Whether a frame does not count.
    """
    frames = list(_outwards(sys._getframe(1)))
    first = next(number for number, frame in enumerate(frames) if not _is_in_package(frame))
    last = next((number for number in range(first, len(frames)) if _is_in_package(frames[number])), len(frames))
    return [frame for frame in frames[first:last] if not is_skipped(frame)], frames[last:]


def _caller(callers: Callers, level: int) -> tuple[FrameType, int]:
    """The frame so many levels above a function, and its line; the outermost one if there are fewer."""
    last = callers[0][0], callers[0][2]
    for number, above in enumerate(_above(callers), 1):
        last = above
        if number == level:
            break
    return last


def _stack_entries(frames: Sequence[FrameType]) -> list[StackEntry]:
    """Frames as entries of a stack, in the same order."""
    return _entries((frame, frame.f_lineno) for frame in frames)


def _stack_text(inside: Sequence[StackEntry], callers: Callers, level: int) -> str:
    """A stack as `logging` writes it: what is in the function, and the program's frames from a level on."""
    above = _entries(_above(callers))[max(level - 1, 0) :] or _entries([_caller(callers, level)])
    lines = traceback.StackSummary.from_list([*inside, *above][::-1]).format()
    return ("Stack (most recent call last):\n" + "".join(lines)).removesuffix("\n")


def _entries(frames: Iterator[tuple[FrameType, int]] | Sequence[tuple[FrameType, int]]) -> list[StackEntry]:
    return [(one.filename, one.lineno or 0, one.name, one.line) for one in traceback.StackSummary.extract(iter(frames))]


def _above(callers: Callers) -> Iterator[tuple[FrameType, int]]:
    for frame, _, line in callers:
        yield frame, line
    for frame in _outwards(callers[-1][0].f_back):
        yield frame, frame.f_lineno


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_in_package(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)


# ---- what a task writes, logs and warns of
#
# So handlers of `logging`, and the filters of both modules, are those of the program.

Noted: TypeAlias = tuple[Any, ...]
"""Something that a task did: its kind, and what is needed to do it again."""
_Settings: TypeAlias = tuple[int, dict[str, int], list[tuple[Any, ...]]]
"""The level that logging is disabled at, the levels of loggers by name, and the filters of warnings."""

_OUTERMOST: Final = sys.maxsize
"""The level of the outermost frame of the program."""
_ONCE_ACTIONS: Final = frozenset({"default", "module", "once"})
"""Filters which show a warning only once: that is decided in the program's process."""


class _NotedOutput(threading.local):
    """What a thread notes, and the settings of the program."""

    output: list[Noted] | None = None
    levels: Mapping[str, int] = {}
    disabled: int = 0


_noted: Final = _NotedOutput()


class _Captured:
    """While this is entered, what the thread writes, logs and warns of goes to a list.

    Parameters
    ----------
    output:
        The list.
    settings:
        What `settings_of_program` returned; empty in the process of the program.
    """

    def __init__(self, output: list[Noted], settings: bytes = b"") -> None:
        self._output = output
        self._settings: _Settings = pickle.loads(settings) if settings else (*_settings_here()[:2], [])

    def __enter__(self) -> None:
        _noted.disabled, _noted.levels, filters = self._settings
        _REPLACED.begin(filters)
        _noted.output = self._output

    def __exit__(self, *exception: object) -> None:
        _noted.output = None
        _REPLACED.end()


def settings_of_program() -> bytes:
    """What decides here which log records and warnings there are, for workers."""
    disabled, levels, filters = _settings_here()
    try:
        return pickle.dumps((disabled, levels, filters))
    except Exception:  # a filter for a class that cannot be imported
        return pickle.dumps((disabled, levels, []))


def _settings_here() -> _Settings:
    loggers = {"": logging.getLogger(), **logging.getLogger().manager.loggerDict}
    levels = {name: one.level for name, one in loggers.items() if isinstance(one, logging.Logger) and one.level}
    filters = [("always" if one[0] in _ONCE_ACTIONS else one[0], *one[1:]) for one in warnings.filters]
    return logging.getLogger().manager.disable, levels, [*filters, ("always", None, Warning, None, 0)]


def do_again(noted: Noted, callers: Callers) -> None:
    """Do what a task has done.

    Parameters
    ----------
    noted:
        What it did.
    callers:
        The frames that called the function, and their lines then.
    """
    kind, *details = noted
    _KINDS[kind](*details, callers)


def comparable(output: list[Noted]) -> list[Noted]:
    """What two runs of a call have in common, if it is pure: not warnings, nor the times and threads of log records."""
    shown = ("name", "levelname", "msg", "args", "exc_info", "exc_text")
    return [
        ("log", *(str(noted[1].get(name)) for name in shown)) if noted[0] == "log" else noted
        for noted in output
        if noted[0] != "warn"
    ]


# ---- streams


class _Stream:
    """A text stream that notes what a thread writes, if that is captured."""

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name = name
        self.stream = stream

    def write(self, text: str) -> int:
        """Write to where this thread writes."""
        if _noted.output is None:
            return self.stream.write(text)
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        _noted.output.append(("write", self._name, text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Flush the stream, or note that this was done."""
        if _noted.output is None:
            self.stream.flush()
        else:
            _noted.output.append(("flush", self._name))

    @property
    def buffer(self) -> Any:
        """The stream for bytes."""
        return self.stream.buffer if _noted.output is None else _Bytes(self._name, self.stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Bytes:
    """The stream for bytes below a text stream, whose thread is captured."""

    def __init__(self, name: str, stream: TextIO) -> None:
        self._name = name
        self._stream = stream

    def write(self, data: Any) -> int:
        """Note bytes."""
        if _noted.output is None:
            return self._stream.buffer.write(data)
        _noted.output.append(("write bytes", self._name, bytes(data)))
        return len(data)

    def flush(self) -> None:
        """Note that the bytes were flushed."""
        if _noted.output is not None:
            _noted.output.append(("flush", self._name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream.buffer, name)


def _write(name: str, text: str, callers: Callers) -> None:
    getattr(sys, name).write(text)


def _write_bytes(name: str, data: bytes, callers: Callers) -> None:
    getattr(sys, name).buffer.write(data)


def _flush(name: str, callers: Callers) -> None:
    getattr(sys, name).flush()


# ---- log records


def _is_enabled(plain: Callable[[logging.Logger, int], bool], logger: logging.Logger, level: int) -> bool:
    """`Logger.isEnabledFor`, by the levels of the program if the thread is captured."""
    if _noted.output is None:
        return plain(logger, level)
    if level <= _noted.disabled or logger.disabled:
        return False
    name = logger.name
    while name and name not in _noted.levels:
        name = name.rpartition(".")[0]
    return level >= _noted.levels.get("" if name == "root" else name, logging.WARNING)


def _find_caller(
    plain: Callable[..., tuple[str, int, str, str | None]],
    logger: logging.Logger,
    stack_info: bool = False,
    stacklevel: int = 1,
) -> tuple[str, int, str, str | None]:
    """`Logger.findCaller`, which says how far above the function of a task a frame is."""
    if _noted.output is None:
        return plain(logger, stack_info, stacklevel)
    inside, above = _frames_of_task(logging._is_internal_frame)  # type: ignore[attr-defined]  # private
    chosen = max(stacklevel, 1) - 1
    frame = [*inside, *above][min(chosen, len(inside) + len(above) - 1)]
    path, stack = _Above(frame.f_code.co_filename), _Above("Stack (most recent call last):")
    path.level = stack.level = max(chosen - len(inside) + 1, 0)
    stack.inside = _stack_entries(inside[chosen:])
    return path, frame.f_lineno, frame.f_code.co_name, stack if stack_info else None


def _handle(plain: Callable[[logging.Logger, Any], None], logger: logging.Logger, record: logging.LogRecord) -> None:
    """`Logger.callHandlers`, which notes the record if the thread is captured."""
    if _noted.output is None:
        return plain(logger, record)
    fields = dict(vars(record))
    if record.exc_info:
        fields["exc_info"] = _transferable(record.exc_info[1])
        if fields["exc_info"] is None:
            fields["exc_text"] = record.exc_text or logging.Formatter().formatException(record.exc_info)
    try:
        pickle.dumps(fields)
    except Exception:
        fields["msg"], fields["args"] = record.getMessage(), None
        fields = {key: value for key, value in fields.items() if type(value) in _PRINTED_ATOMS or key in _SENT}
    _noted.output.append(("log", fields))
    return None


def _transferable(error: BaseException | None) -> tuple[BaseException, list[Any]] | None:
    """An exception and its traceback as data; None if a copy of it would differ."""
    if error is None or error.__cause__ is not None or error.__context__ is not None:
        return None
    try:
        again = pickle.loads(pickle.dumps(error))
    except Exception:
        return None
    return (error, _described(error.__traceback__)) if (type(again), str(again)) == (type(error), str(error)) else None


def _log(fields: dict[str, Any], callers: Callers) -> None:
    path, stack = fields["pathname"], fields["stack_info"]
    changed: dict[str, Any] = {"pathname": str(path)}
    if type(path) is _Above and path.level:
        frame, line = _caller(callers, path.level)
        path = frame.f_code.co_filename
        name = os.path.basename(path)
        changed = {"pathname": path, "filename": name, "module": os.path.splitext(name)[0]}
        changed |= {"funcName": frame.f_code.co_name, "lineno": line}
    if type(stack) is _Above:
        changed["stack_info"] = _stack_text(stack.inside, callers, stack.level)
    if fields["exc_info"]:
        error, frames = fields["exc_info"]
        error = error.with_traceback(rebuilt(frames))
        changed["exc_info"] = type(error), error, error.__traceback__
    here = threading.current_thread()
    changed |= {"process": os.getpid(), "processName": "MainProcess", "thread": here.ident, "threadName": here.name}
    record = logging.makeLogRecord({**fields, **changed, "taskName": None})
    logging.getLogger(record.name).handle(record)


_SENT: Final = frozenset({"pathname", "stack_info", "exc_info"})
"""Fields that can be sent, though they are no plain values."""
_PRINTED_ATOMS: Final = frozenset({str, int, float, bool, type(None)})


# ---- warnings


def _show(plain: Any, message: Any, category: Any, filename: str, lineno: int, *others: Any, **named: Any) -> None:
    """`warnings.showwarning`, which notes the warning if the thread is captured."""
    if _noted.output is None:
        plain(message, category, filename, lineno, *others, **named)
        return
    try:
        pickle.dumps(message)
    except Exception:
        message = str(message)
    level = _level(filename, lineno)
    if level:  # a caller of the function, as `stacklevel` says
        _noted.output.append(("warn", message, category, None, None, None, level))
        return
    modules = list(sys.modules.items())
    module = next((name for name, one in modules if getattr(one, "__file__", None) == filename), None)
    _noted.output.append(("warn", message, category, filename, lineno, module, 0))


def _level(filename: str, lineno: int) -> int:
    """How many frames above the function of a task a warning is of; 0 if it is of none of them."""
    if filename in ("sys", "<sys>"):  # it is above all frames
        return _OUTERMOST
    inside, above = _frames_of_task(lambda _: False)
    if any(frame.f_code.co_filename == filename for frame in inside):
        return 0
    places = [(frame.f_code.co_filename, frame.f_lineno) for frame in above]
    return places.index((filename, lineno)) + 1 if (filename, lineno) in places else 0


def _warn(
    message: Any,
    category: Any,
    filename: str | None,
    lineno: int | None,
    module: str | None,
    level: int,
    callers: Callers,
) -> None:
    if filename is None or lineno is None:
        frame, lineno = _caller(callers, level)
        filename, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__"))
        namespace: Any = frame.f_globals
    else:
        namespace = vars(sys.modules[module]) if module in sys.modules else {}
    registry = namespace.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, filename, lineno, module, registry)


# ---- what is replaced


class _Replaced:
    """The streams, loggers and filters of a process, replaced as long as some thread is captured."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._undo: list[Callable[[], None]] = []

    def begin(self, filters: list[tuple[Any, ...]]) -> None:
        """Replace them, unless another thread has done so."""
        with self._lock:
            self._count += 1
            for name in ("stdout", "stderr"):
                stream = getattr(sys, name)
                if stream is not None and type(stream) is not _Stream:
                    self._replace(sys, name, _Stream(name, stream))
            if self._count > 1:
                return
            if filters:
                kept: Any = warnings.catch_warnings()
                kept.__enter__()
                self._undo.append(lambda: kept.__exit__(None, None, None))
                warnings.filters[:] = filters  # type: ignore[index]  # it is a list
            self._replace(warnings, "showwarning", _with_plain(_show, warnings.showwarning))
            self._replace(logging.Logger, "isEnabledFor", _with_plain(_is_enabled, logging.Logger.isEnabledFor))
            self._replace(logging.Logger, "findCaller", _with_plain(_find_caller, logging.Logger.findCaller))
            self._replace(logging.Logger, "callHandlers", _with_plain(_handle, logging.Logger.callHandlers))

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        plain = getattr(owner, name)
        setattr(owner, name, value)

        def undo() -> None:
            if getattr(owner, name) is value:
                setattr(owner, name, plain)

        self._undo.append(undo)

    def end(self) -> None:
        """Undo this when no thread is captured any more."""
        with self._lock:
            self._count -= 1
            if self._count == 0:
                while self._undo:
                    self._undo.pop()()


def _with_plain(function: Callable[..., Any], plain: Any) -> Any:
    return lambda *arguments, **named: function(plain, *arguments, **named)


_REPLACED: Final = _Replaced()
_KINDS: Final[dict[str, Callable[..., None]]] = {
    "write": _write,
    "write bytes": _write_bytes,
    "flush": _flush,
    "log": _log,
    "warn": _warn,
}


# ---- what a worker does with one task: it calls the function, captures its output, and finds what must not happen

_ATOMS: Final = frozenset({str, int, float, bool, bytes, complex, type(None), type(Ellipsis), range})

_IMMUTABLE: Final = (frozenset, datetime.date, datetime.time, datetime.timedelta, Decimal, Fraction, PurePath, UUID)
"""Types whose objects nobody can change, so copies of them will do."""


class Dependency:
    """Stands for the result of an earlier task among pickled arguments, by number."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Outcome:
    """What came of a task: a value or an exception, the output, or the reason why the task says nothing.

    Attributes
    ----------
    value:
        The result of the function.
    error, frames:
        The exception that it raised, and its traceback below the call, as data.
    below:
        This traceback itself, if the call was made in the process of the program.
    context:
        What was being handled when it was raised.
    output:
        What it wrote, logged and warned of, for `do_again`.
    problem:
        Why the call has to be repeated in the program's process; or empty.
    refusal:
        Why the function cannot be a task at all; or empty.
    """

    __slots__ = ("below", "context", "error", "frames", "output", "problem", "refusal", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.error: BaseException | None = None
        self.context: BaseException | None = None
        self.frames: list[Entry] | None = None
        self.below: TracebackType | None = None
        self.output: list[Noted] = []
        self.problem = ""
        self.refusal = ""

    def __getstate__(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for name, value in zip(self.__slots__, state, strict=True):
            setattr(self, name, value)


def execute(
    payload: bytes,
    *earlier: Outcome,
    path: Sequence[str] = (),
    settings: bytes = b"",
    folder: str = "",
    here: bool = False,
) -> Outcome:
    """Make a call that was pickled, with the results of earlier tasks.

    Parameters
    ----------
    payload:
        The function, positional and keyword arguments, pickled. A `Dependency` stands for the result of another task.
    earlier:
        The outcomes of these tasks.
    path:
        `sys.path` of the program, where modules are looked for last.
    settings:
        `settings_of_program`, which say what is logged and warned of.
    folder:
        The current folder of the program, if the worker belongs to it; else empty.
    here:
        Whether this is the process of the program: output is written at once, and nothing has to be pickled.

    Returns
    -------
    The outcome.
    """
    outcome = Outcome()
    if any(one.error is not None or one.problem or one.refusal for one in earlier):
        outcome.problem = "a task whose result it needs has none"
        return outcome
    sys.path += [one for one in path if one not in sys.path]
    if folder and folder != os.getcwd():
        os.chdir(folder)
    try:
        function, arguments, keywords = pickle.loads(payload)
    except BaseException as error:
        outcome.problem = f"the worker cannot load the call: {type(error).__name__}: {error}"
        return outcome
    arguments = tuple(earlier[one.number].value if type(one) is Dependency else one for one in arguments)
    keywords = {k: earlier[one.number].value if type(one) is Dependency else one for k, one in keywords.items()}
    given = arguments, keywords
    has_mutable = not all(type(one) in _ATOMS for one in (*arguments, *keywords.values()))
    before, parts = _contents(given) if has_mutable else (b"", {})
    if here:
        _call_here(outcome, function, arguments, keywords)
    else:
        _call(outcome, function, arguments, keywords, settings)
    if has_mutable and not _is_unchanged(given, before):
        outcome.refusal = "changes an argument"
    elif outcome.error is None and not outcome.problem:
        _check_result(outcome, function, parts, here)
    return outcome


def _call_here(outcome: Outcome, function: Any, arguments: Any, keywords: Any) -> None:
    handled = sys.exc_info()[1]  # it was not when the program made the call
    try:
        outcome.value = function(*arguments, **keywords)
    except BaseException as error:
        here = error.__traceback__
        outcome.below = None if here is None else here.tb_next
        outcome.error = error
        first: BaseException = error
        while first.__context__ is not None and first.__context__ is not handled:
            first = first.__context__
        first.__context__ = None
        outcome.context = error.__context__


def _is_unchanged(given: Any, before: bytes) -> bool:
    try:
        return _contents(given)[0] == before
    except Exception:  # the call has put something into them that cannot be pickled
        return False


def _call(outcome: Outcome, function: Any, arguments: Any, keywords: Any, settings: bytes) -> None:
    with _Captured(outcome.output, settings):
        try:
            outcome.value = function(*arguments, **keywords)
        except Exception as error:
            _keep(outcome, error)
        except BaseException as error:  # a worker must live on
            outcome.problem = f"it raised {type(error).__name__}"


def _keep(outcome: Outcome, error: Exception) -> None:
    here = error.__traceback__
    below = here.tb_next if here is not None else None
    try:
        again = pickle.loads(pickle.dumps(error))
        if type(again) is not type(error) or str(again) != str(error):
            raise TypeError("a copy of it differs")
    except Exception as why:
        outcome.problem = f"its {type(error).__name__} cannot be pickled: {why}"
        return
    if error.__cause__ is not None or error.__context__ is not None:
        outcome.problem = f"its {type(error).__name__} has a cause, whose traceback cannot be pickled"
        return
    error.__traceback__ = None
    outcome.error = error
    outcome.frames = _described(below)


def _check_result(outcome: Outcome, function: Any, parts: dict[int, Any], here: bool) -> None:
    value = outcome.value
    if type(value) in _ATOMS:
        return
    try:
        _, made = _contents(value)
    except Exception as error:
        if here:
            return
        outcome.value = None
        outcome.problem = f"its result cannot be pickled: {error}"
        return
    if any(id(part) in parts and not _is_singleton(part) for part in made.values()):
        outcome.value = None
        outcome.refusal = "returns a part of an argument"
        return
    held = set(map(id, _objects_of_module(function)))
    if not here and any(id(part) in held and not _is_singleton(part) for part in made.values()):
        outcome.value = None
        outcome.problem = "its result is or contains an object that its module holds"


def _objects_of_module(function: Any) -> Iterable[Any]:
    """The values of the global names of the module in which a function is defined."""
    globals_of_module = getattr(inspect.unwrap(function), "__globals__", None)
    return [] if globals_of_module is None else list(globals_of_module.values())


def _is_singleton(part: Any) -> bool:
    """Whether copies are the object itself, such as members of enumerations."""
    return pickle.loads(pickle.dumps(part)) is part


class _Noting(pickle.Pickler):
    """Notes the mutable objects that are pickled."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.parts: dict[int, Any] = {}

    def persistent_id(self, obj: Any) -> None:
        """Called for each object."""
        kind = type(obj)
        if kind in _ATOMS or issubclass(kind, (tuple, *_IMMUTABLE, type)) or callable(obj):
            return
        if kind.__module__ == "numpy.dtypes":
            return
        if kind.__module__ == "numpy" and getattr(obj, "base", None) is not None:
            obj = obj.base  # what the memory belongs to
        self.parts[id(obj)] = obj


def _contents(value: Any) -> tuple[bytes, dict[int, Any]]:
    """A value's state as bytes, and its mutable parts by identity."""
    file = io.BytesIO()
    pickler = _Noting(file)
    pickler.dump(value)
    return file.getvalue(), pickler.parts
