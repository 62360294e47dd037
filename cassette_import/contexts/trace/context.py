"""`Trace`: the tree of calls with arguments and results, written while the program runs.

Nothing is collected in memory, except the last calls if only these are wanted: a trace is complete up to the point
where a program is killed, or up to its limit.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Mapping
from typing import IO, Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.contexts.common.accelerator import ACCELERATOR
from cassette_import.contexts.common.context_types import type_with_events
from cassette_import.contexts.common.function_names import module_of, thread_name
from cassette_import.contexts.common.main_program import modules_below
from cassette_import.contexts.common.options import check_number, options_of
from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.text import plural
from cassette_import.contexts.common.unmatched_targets import track
from cassette_import.contexts.trace.bounded_repr import Shortener
from cassette_import.contexts.trace.call_stack import CallStack, StackHere
from cassette_import.contexts.trace.choices import Predicate, can_be_accelerated, predicate_named
from cassette_import.contexts.trace.last_calls import LastCalls
from cassette_import.contexts.trace.output import OUTPUTS, Output, TracedThread, Tree, UnbufferedFile, output_of
from cassette_import.contexts.trace.secret_masking import Secrets
from cassette_import.contexts.trace.switch import Switch
from cassette_import.rewriting.events import Events

__all__ = ["Trace"]


class Trace(Context, events=Events.CALLS):
    """Writes each call with its arguments, and its result or exception, indented by depth.

    Parameters
    ----------
    limit:
        How many calls to show, the first ones. Later calls are counted. 0 means all.
    last:
        Show only so many calls, the last ones, with the calls around them. They are kept in memory, and written at the
        end or by `summary`. There is no limit then.
    start:
        Show calls from the first call of this function on: a dotted name; several are separated by ``+``.
    stop:
        Show calls up to the end of the first call of this function; the next call of `start` begins again. With the
        same function as `start`, only what happens in it is shown.
    depth:
        How many levels of calls to show. Without it, all are shown.
    package:
        Show only calls of functions that are defined in this package; several packages are separated by ``+``. The name
        of a script is that of its file without ``.py``. The level of a call counts the calls around it that are shown.
    predicate:
        Show only calls for which ``predicate(function, args, kwargs)`` is true. On the command line,
        ``module:function``.
    mask:
        Names of secrets: patterns such as ``*password*``, separated by ``+``. Arguments, dictionary values and
        results with such a name are shown as ``***``, and so are the same values wherever they appear later.
    width:
        The most characters of one value.
    reprs:
        Whether ``__repr__`` methods written in Python are called. If not, such objects are shown by their class and
        some attributes, and no code of the program runs. A ``__repr__`` may have side effects: that of Django's query
        sets queries the database.
    file:
        A stream to write to, instead of standard error.
    events:
        The events to show: an `Events`, or text such as ``"calls+operators"``. Without it, calls.
    imports:
        Whether the module level of imported modules is shown, too. If not, an import is one line, ``import NAME``.

    Raises
    ------
    ValueError, TypeError
        If an option has no such value. The message is one line.

    Example
    -------
    ``python -m cassette_import run -c trace:depth=2 app.py`` writes, for instance::

        main()
          parse('1 + 2') -> <Sum>
          int('x') raised ValueError("invalid literal for int() with base 10: 'x'")
          -> None

    >>> import colorsys, io
    >>> from cassette_import import overdub
    >>> file = io.StringIO()
    >>> _ = overdub(Trace(file=file), colorsys.rgb_to_hls, 0, 0.5, 1)
    >>> print(file.getvalue(), end="")
    max(0, 0.5, 1) -> 1
    min(0, 0.5, 1) -> 0
    """

    inherit: ClassVar[bool] = True
    module_level = False
    _stack_type: ClassVar[type[CallStack]] = CallStack

    def __init__(
        self,
        *,
        limit: int = 10_000,
        last: int = 0,
        start: str = "",
        stop: str = "",
        depth: int | None = None,
        package: str | None = None,
        predicate: Predicate | str | None = None,
        mask: str = "",
        width: int = 60,
        reprs: bool = False,
        file: IO[str] | None = None,
        events: Events | str | None = None,
        imports: bool = False,
    ) -> None:
        super().__init__()
        self.module_level = imports
        if depth is not None:
            check_number("depth", depth, "levels of calls", least=1)
        check_number("width", width, "characters")
        bounds: dict[str, object] = {"limit": limit, "last": last}
        for name, value in bounds.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValueError(f"{name} is a number of calls, or 0, not {value!r}")
        self._limit = sys.maxsize if last or not limit else limit
        self._deepest: int = sys.maxsize if depth is None else depth
        self._depth: int = self._deepest
        self._switch = Switch(start, stop) if start or stop else None
        if self._switch is not None:
            track(self, self._switch.unmatched)
        self._packages = modules_below(name.strip() for name in package.split("+")) if package else ()
        self._predicate = predicate_named(predicate) if isinstance(predicate, str) else predicate
        if self._predicate is not None and not callable(self._predicate):
            raise TypeError(f"predicate is a function of a call, or module:function, not {predicate!r}")
        self._has_filters = bool(self._packages) or self._predicate is not None or self._switch is not None
        self._secrets = Secrets(mask)
        self._show = Shortener(width, self._secrets, reprs=reprs)
        # The stream as it is now: if the program replaces it, the new one is for the program's own output.
        stream = sys.stderr if file is None else file
        writer: Output = Tree(stream, show=self._show, secrets=self._secrets, whole_lines=file is None)
        self._writer = writer
        self._is_captured = type(stream).__module__.startswith("_pytest.")
        self._last = LastCalls(writer, last) if last else None
        self._output: Output | LastCalls = writer if self._last is None else self._last
        self._here = StackHere()
        self._numbers = itertools.count(1)
        self._start_counting()

    @options_of(__init__)
    def __new__(cls, *, events: Events | str | None = None, **options: Any) -> Trace:
        """Make an instance of the type that intercepts these events."""
        if cls is Trace and ACCELERATOR.is_used and can_be_accelerated(options):
            cls = ACCELERATED[0]()
        return super().__new__(type_with_events(cls, events))

    def forked(self) -> None:
        """Start with no calls in a forked process; the calls in progress are still those around later ones."""
        self._depth = self._deepest
        self._shown = self._deeper = self._others = self._failures = self._left_out = 0
        if self._last is not None:
            self._last.forget()

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Write the call."""
        stack = self._here.stack or self._new_stack()
        wanted = not self._has_filters or self._wants(stack, f, args, kwargs)
        level = stack.level
        if not wanted or level >= self._depth or self._shown >= self._limit:
            if not wanted:
                self._others += 1
            elif level >= self._deepest:
                self._deeper += 1
            else:
                self._left_out += 1
            stack.calls.append((f, level, None))
            stack.level += wanted
            return
        self._shown += 1
        number = self._shown  # another thread may run while the call is shown
        self._show_call(stack, f, args, kwargs)
        if number == self._limit:
            self._reach_limit()

    def _show_call(self, stack: CallStack, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        level = stack.level
        stack.push(f, self._secrets.are_masked and self._output.hides_result(f, args))
        self._output.begin(stack.thread, level, f, args, kwargs)

    def _reach_limit(self) -> None:
        """Show no further call."""
        self._depth = 0
        self._writer.note(f"limit of {plural(self._limit, 'call')} reached: further calls are only counted")

    def posthook(self, result: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Write the result."""
        self._end_call(f, "result", result)

    def errorhook(self, exception: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        """Write the exception."""
        try:
            self._end_call(f, "exception", exception)
        except RecursionError:  # the program's own exception goes on
            return

    def _new_stack(self) -> CallStack:
        number = next(self._numbers)
        thread = TracedThread(number, thread_name(threading.get_ident()), number == 1)
        stack = self._here.stack = self._stack_type(thread)
        return stack

    def _wants(self, stack: CallStack, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the call passes the filters."""
        if self._switch is not None and not self._switch.begins(function, args, stack, len(stack.calls)):
            return False
        if self._packages and not self._is_in_packages(module_of(function)):
            return False
        if self._predicate is None:
            return True
        try:
            return bool(self._predicate(function, args, kwargs))
        except Exception:  # the program must not notice
            self._failures += 1
            return True

    def _is_in_packages(self, module: str) -> bool:
        return any(module == name or module.startswith(f"{name}.") for name in self._packages)

    def _end_call(self, function: Any, kind: str, value: Any) -> None:
        stack = self._here.stack
        if stack is None or not stack.calls:
            return
        calls = stack.calls
        if calls[-1][0] is not function:  # an interrupt inside a hook separated a pair of hooks
            known = [number for number, call in enumerate(calls) if call[0] is function]
            if not known:
                return
            del calls[known[-1] + 1 :]
        _, level, is_secret = calls.pop()
        if self._switch is not None:
            self._switch.ends(stack, len(calls))
        stack.level = level
        if is_secret is not None:
            self._output.end(stack.thread, level, function, kind, value, is_secret=is_secret)

    def _start_counting(self) -> None:
        self._shown = self._deeper = self._others = self._failures = self._left_out = 0
        self._depth = self._deepest

    def stream(self, path: str) -> None:
        """Write to a file from now on, in the format of its suffix. What was before is not written, or counted."""
        self._start_counting()
        self._writer = self._writer_to(path)
        self._is_captured = False
        if self._last is None:
            self._output = self._writer
        else:
            self._last.write_to(self._writer)

    def _writer_to(self, path: str) -> Output:
        file: Any = UnbufferedFile(path)
        return output_of(path)(file, show=self._show, secrets=self._secrets)

    def summary(self) -> str:
        """The number of calls; the calls themselves are written already, except those that `last` asks for."""
        self._complete()
        where = ["pytest shows them with the output of tests that failed, and with -s those of all tests"]
        captured = where if self._is_captured and self._shown else []
        return "; ".join(filter(None, (f"trace: {self._counts()}", *captured, *self._remarks())))

    def notice(self) -> str:
        """What a file leaves out, for the terminal; empty if it has everything that was asked for."""
        remarks = self._remarks()
        return "; ".join((f"trace: {plural(self._shown, 'call')}", *remarks)) if remarks else ""

    def _counts(self) -> str:
        text = plural(self._shown, "call")
        if self._deeper:
            text += f", {self._deeper} deeper ones not shown"
        if self._others:
            text += f", {self._others} others not shown"
        return text

    def _remarks(self) -> list[str]:
        """What the user does not expect."""
        remarks = []
        if self._left_out:
            remarks.append(
                f"{plural(self._left_out, 'further call')} left out after the first {self._limit}: limit=0 shows all "
                "calls, last=1000 the last ones, start=, stop=, depth= and package= choose some"
            )
        if self._failures:
            remarks.append(f"the predicate raised in {plural(self._failures, 'call')}")
        return remarks + (self._switch.unmatched() if self._switch is not None else [])

    def _complete(self) -> None:
        """Write what is not written yet."""
        if self._last is not None:
            self._last.write_all()
        self._writer.finish()

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the tree, `.jsonl` for JSON lines, `.json` for Chrome and https://ui.perfetto.dev.

        `stream` has written the file already; each writer only completes and closes it.
        """
        return dict.fromkeys((".txt", *OUTPUTS), self._close)

    def _close(self, path: str) -> None:
        self._complete()
        if self._left_out:
            self._writer.note(self._remarks()[0])
        self._writer.close()


ACCELERATED: Final[list[Callable[[], type[Trace]]]] = []
"""What makes the type whose hooks are in C; its module adds it."""
