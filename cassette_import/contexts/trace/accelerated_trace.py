"""The trace whose hooks are in C, which `Trace` makes where there is the accelerator."""

from __future__ import annotations

import functools
import os
import stat
import struct
import types
from contextvars import Token
from typing import Any, ClassVar, Final

from cassette_import.contexts.trace.bounded_repr import Secrets, Shortener
from cassette_import.contexts.trace.context import ACCELERATED, Trace
from cassette_import.contexts.trace.output import WORDS, CallStack, Output, TracedThread, Tree, output_of
from cassette_import.kits.calls.accelerator import ACCELERATOR
from cassette_import.kits.events import ACTIVE, Activation, ModuleImport, hook_activation
from cassette_import.kits.function_names import SYSTEM, display
from cassette_import.rewriting.events import Events

__all__ = ["complete"]

# ---- the rest of a trace whose process was killed: what lay in the block that was not written yet
#
# The accelerator writes a trace in blocks. The block that it is filling is a second file beside that of the trace,
# which a killed process leaves behind.

_SUFFIX: Final = ".rest"
"""What the name of the second file has at the end."""
_TEXT: Final = 65536
_LAYOUT: Final = struct.Struct(f"={_TEXT}s64sQQ")
"""Text between zeros, a mark, the place of the block in the file, and whether other processes have written, too."""
_MARK: Final = b"cassette_import: the rest of a trace"


def complete(path: str | os.PathLike[str]) -> bool:
    """Add the last lines to a trace whose process was killed while it wrote them.

    Parameters
    ----------
    path:
        The file of the trace. The lines are taken from the file beside it whose name ends with ``.rest``, which is
        removed.

    Returns
    -------
    bool
        Whether there was such a file.

    Raises
    ------
    ValueError
        If the other file is not the rest of a trace.
    OSError
        If the file cannot be written.

    Example
    -------
    >>> complete("trace.txt")  # this one is complete
    False
    """
    rest = os.fspath(path) + _SUFFIX
    try:
        with open(rest, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return False
    if len(data) != _LAYOUT.size or not data.startswith(_MARK, _TEXT):
        raise ValueError(f"{rest} is not the rest of a trace")
    text, _, place, is_shared = _LAYOUT.unpack(data)
    found = text.strip(b"\0")
    with open(path, "r+b") as file:
        # A kill may come when the block is written and not emptied yet: then it is written again, to the same place.
        file.seek(*((0, os.SEEK_END) if is_shared else (place + text.find(found), os.SEEK_SET)))
        file.write(found)
    os.remove(rest)
    return True


# ---- a trace that is a tree in a file, whose lines the accelerator writes
#
# Calls that the hooks in C show do not come here; those that the context shows do, and notes. Both share the lines, so
# that each call completes the line that it began.

_WRITING: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def _is_block_file(path: str) -> bool:
    """Whether the accelerator can write the file: it is a regular one, or there is none yet.

    >>> _is_block_file(os.devnull)
    False
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return True


class _TreeInC(Tree):
    """A tree in a file of its own."""

    def __init__(self, path: str, *, show: Shortener, secrets: Secrets) -> None:
        file: Any = ACCELERATOR.BlockFile(os.open(path, _WRITING, 0o666), path + _SUFFIX)
        super().__init__(file, show=show, secrets=secrets)
        self.lines = ACCELERATOR.TreeLines(file)
        """The lines, for the hooks in C."""

    def _start_line(self, thread: TracedThread, level: int, call: str) -> None:
        if self._works:
            self.lines.begin(thread, level, call)

    def write_outcome(
        self, thread: TracedThread, level: int, name: str, kind: str, text: str, at: float | None = None
    ) -> None:
        """Complete the line of the call, or write a new one."""
        if self._works:
            self.lines.end(thread, level, f"{WORDS[kind]} {text}")

    def note(self, text: str) -> None:
        """Write a line."""
        if self._works:
            self.lines.note(f"… {text}")

    def finish(self) -> None:
        """Complete the line that was started."""
        if self._works:
            self.lines.finish()


# ---- the trace whose hooks are in C, which `Trace` makes where there is the accelerator


class _AcceleratedTrace(Trace, events=Events.CALLS):
    """A trace without filters. Its hooks in C are suspended only while they show values: that may run other code."""

    leaf_hooks: ClassVar[bool] = True

    def __init__(self, **options: Any) -> None:
        self.recorder = ACCELERATOR.TraceRecorder(self._stack, self._begin_shown, self._end_shown, self._reach_limit)
        super().__init__(**options)
        self.recorder.deepest = self._deepest
        self.recorder.limit = self._limit

    def stream(self, path: str) -> None:
        """Write to a file from now on; the usual calls of a tree are shown in C."""
        self.recorder.show_in_python()
        super().stream(path)

    def _writer_to(self, path: str) -> Output:
        is_tree = output_of(path) is Tree and self._last is None and not self._secrets.are_masked
        if not is_tree or not _is_block_file(path):
            return super()._writer_to(path)
        writer = _TreeInC(path, show=self._show, secrets=self._secrets)
        formatter = ACCELERATOR.Formatter(
            self._show.width, self._show_suspended, self._show.form, display, SYSTEM, self._show_part_suspended
        )
        self.recorder.show_with(formatter, writer.lines, ModuleImport)
        return writer

    def _show_suspended(self, value: Any) -> str:
        with self._suspended():
            return self._show(value)

    def _show_part_suspended(self, value: Any, levels: int) -> str:
        with self._suspended():
            return self._show.part(value, levels)

    def _stack(self, makes: bool) -> CallStack | None:
        return self._here.stack or (self._new_stack() if makes else None)

    def _end_call(self, function: Any, kind: str, value: Any) -> None:
        self.recorder.end(function, kind, value)

    def _begin_shown(self, stack: CallStack, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        with self._suspended():
            self._show_call(stack, function, args, kwargs)

    def _reach_limit(self) -> None:
        with self._suspended():
            super()._reach_limit()

    def _end_shown(
        self, thread: TracedThread, level: int, function: Any, kind: str, value: Any, is_secret: bool
    ) -> None:
        with self._suspended():
            self._output.end(thread, level, function, kind, value, is_secret=is_secret)

    def _suspended(self) -> _Suspended:
        return _Suspended(self)


class _Suspended:
    """A block in which a trace and the contexts inside it are suspended, as far as they are active."""

    __slots__ = ("_token", "_trace")

    def __init__(self, trace: _AcceleratedTrace) -> None:
        self._trace = trace
        self._token: Token[Activation] | None = None

    def __enter__(self) -> None:
        activation = ACTIVE.get()
        for level, context in enumerate(activation.contexts):
            if context is self._trace or getattr(context, "recorder", None) is self._trace.recorder:  # copies share it
                self._token = ACTIVE.set(hook_activation(activation, level))
                return

    def __exit__(self, *exception: object) -> None:
        if self._token is not None:
            ACTIVE.reset(self._token)


@functools.cache
def _accelerated_type() -> type[Trace]:
    """The type whose hooks are in C: the extension may be there later than this module."""
    namespace = {
        "__module__": Trace.__module__,
        "__doc__": Trace.__doc__,
        "prehook": ACCELERATOR.begin_call,
        "posthook": ACCELERATOR.end_call,
        "_stack_type": ACCELERATOR.CallStack,
        **{f"_{name}": _of_recorder(name) for name in ("depth", "deeper", "left_out", "shown")},
    }
    keywords = {"events": Events.CALLS}
    return types.new_class(Trace.__name__, (_AcceleratedTrace,), keywords, lambda names: names.update(namespace))


def _of_recorder(name: str) -> property:
    """An attribute that the recorder has."""
    return property(lambda trace: getattr(trace.recorder, name), lambda trace, new: setattr(trace.recorder, name, new))


ACCELERATED.append(_accelerated_type)
