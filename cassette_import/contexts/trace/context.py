"""`Trace`: the tree of calls with arguments and results, written while the program runs.

Nothing is collected, so a trace may be as long as it likes, and what a program did before it died is there to
be read.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any, ClassVar, Final

from cassette_import import Context, Events
from cassette_import.contexts.common.context_types import type_with_events
from cassette_import.contexts.common.function_names import module_of, thread_name
from cassette_import.contexts.common.options import options_of
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.trace.bounded_repr import Secrets, Shortener
from cassette_import.contexts.trace.output import ChromeTrace, JsonLines, Lane, Output, Tree, Unbuffered

__all__ = ["Trace"]

Predicate = Callable[[Any, tuple[Any, ...], dict[str, Any]], object]
_OUTPUTS: Final[Mapping[str, type[Output]]] = {".json": ChromeTrace, ".jsonl": JsonLines, ".ndjson": JsonLines}


_Call = tuple[Any, int | None, bool]
"""A call that is under way: its function, its level, which is None if it is not shown, and whether its result is a
secret."""


class _Calls:
    """The calls that are under way in a thread, outermost first."""

    __slots__ = ("calls", "lane", "level")

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.calls: list[_Call] = []
        self.level = 0


class _Thread(threading.local):
    """What is known of this thread."""

    here: _Calls | None = None


class Trace(Context, events=Events.CALLS):
    """Writes each call with its arguments, and its result or exception, indented by how deep it is.

    Parameters
    ----------
    depth:
        How many levels of calls to show; all if not given.
    package:
        Show calls of what is defined in this package only; several are separated by ``+``. What others call in
        turn is shown at the level of the call that is shown around it.
    predicate:
        Show calls only for which ``predicate(function, args, kwargs)`` is true. On the command line,
        ``module:function``.
    mask:
        Names of secrets: patterns such as ``*password*``, separated by ``|``. Arguments, keys of dictionaries and
        results that go by such a name are shown as ``***``, and so are their values wherever they turn up later.
    width:
        The longest representation of one value, in characters.
    reprs:
        Whether objects of classes with a ``__repr__`` in Python show themselves. If not, they are shown by the name of
        the class and some attributes, and no code of the program runs: a ``__repr__`` may do more than to show, as
        that of Django's query sets, which asks the database.
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

    def __init__(
        self,
        *,
        depth: int | None = None,
        package: str | None = None,
        predicate: Predicate | str | None = None,
        mask: str = "",
        width: int = 60,
        reprs: bool = False,
        file: IO[str] | None = None,
        events: Events | str | None = None,
    ) -> None:
        super().__init__()
        if depth is not None and depth < 1:
            raise ValueError(
                f"depth is 1 for the outermost calls alone, 2 for those that they make, and so on; not {depth}"
            )
        self._depth = sys.maxsize if depth is None else depth
        self._packages = tuple(name.strip() for name in package.split("+")) if package else ()
        self._predicate = _function_named(predicate) if isinstance(predicate, str) else predicate
        if self._predicate is not None and not callable(self._predicate):
            raise TypeError(f"predicate is a function of a call, or module:function, not {predicate!r}")
        self._has_filters = bool(self._packages) or self._predicate is not None
        self._secrets = Secrets(mask)
        self._show = Shortener(width, self._secrets, reprs=reprs)
        # The stream as it is now: what the program may put in its place is the program's.
        stream = sys.stderr if file is None else file
        self._output: Output = Tree(stream, show=self._show, secrets=self._secrets, whole_lines=file is None)
        self._thread = _Thread()
        self._numbers = itertools.count(1)
        self._shown = self._deeper = self._others = self._failures = 0

    @options_of(__init__)
    def __new__(cls, *, events: Events | str | None = None, **options: Any) -> Trace:
        """Make an instance of the type that intercepts these events."""
        return super().__new__(type_with_events(cls, events))

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Write the call."""
        thread = self._thread.here or self._begin_thread()
        wanted = not self._has_filters or self._wants(f, args, kwargs)
        level = thread.level
        if not wanted or level >= self._depth:
            self._others += not wanted
            self._deeper += wanted
            thread.calls.append((f, None, False))
            thread.level += wanted
            return
        self._shown += 1
        thread.calls.append((f, level, self._secrets.are_masked and self._output.hides_result(f, args)))
        thread.level += 1
        self._output.begin(thread.lane, level, f, args, kwargs)

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Write the result."""
        self._leave(f, "result", result)

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Write the exception."""
        self._leave(f, "exception", exception)

    def _begin_thread(self) -> _Calls:
        number = next(self._numbers)
        here = self._thread.here = _Calls(Lane(number, thread_name(threading.get_ident()), number == 1))
        return here

    def _wants(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the call passes the filters."""
        if self._packages and not self._is_of_packages(module_of(function)):
            return False
        if self._predicate is None:
            return True
        try:
            return bool(self._predicate(function, args, kwargs))
        except Exception:  # the program is not to notice
            self._failures += 1
            return True

    def _is_of_packages(self, module: str) -> bool:
        return any(module == name or module.startswith(f"{name}.") for name in self._packages)

    def _leave(self, function: Any, kind: str, value: Any) -> None:
        thread = self._thread.here
        if thread is None or not thread.calls:
            return
        calls = thread.calls
        if calls[-1][0] is not function:  # a pair was torn apart, by an interrupt that arrived in the hook itself
            known = [number for number, call in enumerate(calls) if call[0] is function]
            if not known:
                return
            del calls[known[-1] + 1 :]
        _, level, is_secret = calls.pop()
        if level is not None:
            thread.level = level
            self._output.end(thread.lane, level, function, kind, value, is_secret=is_secret)
        else:
            thread.level = next((inner + 1 for _, inner, _ in reversed(calls) if inner is not None), 0)

    def stream(self, path: str) -> None:
        """Write to a file from now on."""
        file: Any = Unbuffered(path)
        kind = next((kind for suffix, kind in _OUTPUTS.items() if path.lower().endswith(suffix)), Tree)
        self._output = kind(file, show=self._show, secrets=self._secrets)

    def summary(self) -> str:
        """How many calls there were; the calls themselves have been written by now."""
        self._output.finish()
        text = f"trace: {self._shown} call{'' if self._shown == 1 else 's'}"
        if self._deeper:
            text += f", {self._deeper} deeper ones not shown"
        if self._others:
            text += f", {self._others} others not shown"
        if self._failures:
            text += f"; the predicate failed {self._failures} times"
        return text

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the tree, `.jsonl` for one object a line, `.json` for Chrome and https://ui.perfetto.dev.

        `stream` has written them, but for the end.
        """
        return dict.fromkeys((".txt", *_OUTPUTS), self._close)

    def _close(self, path: str) -> None:
        self._output.close()


def _function_named(text: str) -> Any:
    """What `module:function` means; the text itself if it is not of that form."""
    module, colon, name = text.partition(":")
    try:
        return getattr(importlib.import_module(module), name) if colon else text
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"predicate {text!r}: {error}") from error
