"""`Trace`: the tree of calls with arguments and results, written while the program runs.

Nothing is collected, so a trace may be as long as it likes, and what a program did before it died is there to
be read.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from typing import IO, Any, ClassVar

from cassette_import import Context, Events

from .naming import thread_name
from .options import seeing
from .report import Writer
from .trace_output import JsonLines, Output, Tree

__all__ = ["Trace"]


class _Thread(threading.local):
    """The calls that are under way in this thread, outermost first."""

    name: str | None = None

    def __init__(self) -> None:
        self.calls: list[Any] = []


class Trace(Context, events=Events.CALLS):
    """Writes each call with its arguments, and its result or exception, indented by how deep it is.

    Parameters
    ----------
    depth:
        How many levels of calls to show; all if not given.
    width:
        The longest representation of one value, in characters.
    file:
        A stream to write to, instead of standard error.
    events:
        The events to show, calls if not given: an `Events`, or text such as ``"calls+operators"``.

    Example
    -------
    ``python -m cassette_import run -c trace:depth=2 app.py`` writes, for instance::

        main()
          parse('1 + 2') -> <Sum>
          int('x') raised ValueError("invalid literal for int() with base 10: 'x'")
          -> None
    """

    inherit: ClassVar[bool] = True

    def __new__(
        cls,
        *,
        depth: int | None = None,
        width: int = 60,
        file: IO[str] | None = None,
        events: Events | str | None = None,
    ) -> Trace:
        """Make an instance of the type that sees these events."""
        return super().__new__(seeing(cls, events))

    def __init__(
        self,
        *,
        depth: int | None = None,
        width: int = 60,
        file: IO[str] | None = None,
        events: Events | str | None = None,
    ) -> None:
        super().__init__()
        self._depth = sys.maxsize if depth is None else depth
        self._width = width
        # The stream as it is now: what the program may put in its place is the program's.
        self._output: Output = Tree(sys.stderr if file is None else file, width=width, whole_lines=file is None)
        self._thread = _Thread()
        self._is_first = True
        self._shown = self._hidden = 0

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Write the call."""
        thread = self._thread
        if thread.name is None:
            # The thread that is there first needs no name.
            thread.name = "" if self._is_first else thread_name(threading.get_ident())
            self._is_first = False
        level = len(thread.calls)
        thread.calls.append(f)
        if level < self._depth:
            self._shown += 1
            self._output.begin(thread.name, level, f, args, kwargs)
        else:
            self._hidden += 1

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Write the result."""
        self._leave(f, "result", result)

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Write the exception."""
        self._leave(f, "exception", exception)

    def _leave(self, function: Any, kind: str, value: Any) -> None:
        calls = self._thread.calls
        # A pair may be torn apart, by an interrupt that arrives in the hook itself.
        level = next((level for level in reversed(range(len(calls))) if calls[level] is function), None)
        if level is None:
            return
        del calls[level:]
        if level < self._depth:
            self._output.end(self._thread.name or "", level, function, kind, value)

    def stream(self, path: str) -> None:
        """Write to a file from now on."""
        file = open(path, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - closed by _close
        kind = JsonLines if path.lower().endswith(".json") else Tree
        self._output = kind(file, width=self._width, whole_lines=False)

    def summary(self) -> str:
        """How many calls there were; the calls themselves have been written by now."""
        self._output.finish()
        hidden = f", {self._hidden} deeper ones not shown" if self._hidden else ""
        return f"trace: {self._shown} call{'' if self._shown == 1 else 's'}{hidden}"

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the tree, `.json` for one object a line; `stream` has written them, but for the end."""
        return {".txt": self._close, ".json": self._close}

    def _close(self, path: str) -> None:
        self._output.close()
