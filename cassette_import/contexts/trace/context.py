"""`Trace`: the tree of calls with arguments and results, written while the program runs.

Nothing is collected in memory, except the last calls if only these are wanted: a trace is complete up to the point
where a program is killed, or up to its limit.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import IO, Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.contexts.trace.bounded_repr import Secrets, Shortener
from cassette_import.contexts.trace.output import (
    OUTPUTS,
    CallStack,
    Output,
    ShownCall,
    StackHere,
    TracedThread,
    Tree,
    UnbufferedFile,
    output_of,
)
from cassette_import.interpreter.callables import python_function
from cassette_import.interpreter.clock import perf_counter
from cassette_import.kits.calls.accelerator import ACCELERATOR
from cassette_import.kits.function_names import module_of, thread_name
from cassette_import.kits.main_program import modules_below
from cassette_import.kits.options import check_number, options_of, type_with_events
from cassette_import.kits.reporting import Writer
from cassette_import.kits.targets import ResolvedTarget, never_called, resolve_target, track
from cassette_import.kits.text import plural
from cassette_import.rewriting.events import Events

__all__ = ["Trace"]

# ---- the last calls of a trace, kept in memory until the end: a ring buffer, so that a trace of any length fits
#
# Values are shown when the call happens, as they may change later.

_MOST_AROUND: Final = 50
"""How many calls around one of the last calls are shown."""


class _Call:
    """A call as text.

    `begun` and `ended` number the moments of the trace; `ended` is 0 while the call is in progress.
    """

    __slots__ = ("at", "begun", "caller", "ended", "ended_at", "kind", "level", "outcome", "shown", "thread")

    def __init__(
        self, thread: TracedThread, level: int, shown: ShownCall, caller: _Call | None, begun: int, at: float
    ) -> None:
        self.thread = thread
        self.level = level
        self.shown = shown
        self.caller = caller
        self.begun = begun
        self.at = at
        self.ended = 0
        self.ended_at = 0.0
        self.kind = self.outcome = ""


class _LastCalls:
    """Keeps the last calls, and writes them to an output with the calls around them.

    It takes the place of an output: a trace calls `begin` and `end`, and `write_all` once at the end.

    Memory is bounded: a call refers to the calls around it only, so besides the last calls, those in progress are kept.
    """

    def __init__(self, output: Output, most: int) -> None:
        self._output = output
        self._most: Final = most
        self._calls: deque[_Call] = deque(maxlen=most)
        self._in_progress: dict[int, list[_Call]] = {}
        self._moments = itertools.count(1)
        self._count = 0
        self._lock = threading.RLock()  # reentrant, see `Output`

    def begin(
        self, thread: TracedThread, level: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Keep a call."""
        shown = self._output.shown_call(function, args, kwargs)
        with self._lock:
            outer = self._in_progress.setdefault(thread.number, [])
            while outer and outer[-1].level >= level:  # an interrupt separated a pair of hooks
                outer.pop()
            call = _Call(thread, level, shown, outer[-1] if outer else None, next(self._moments), perf_counter())
            outer.append(call)
            self._calls.append(call)
            self._count += 1

    def end(self, thread: TracedThread, level: int, function: Any, kind: str, value: Any, *, is_secret: bool) -> None:
        """Keep the outcome of a call."""
        text = self._output.shown_value(kind, value, is_secret=is_secret)
        with self._lock:
            outer = self._in_progress.get(thread.number, [])
            while outer and outer[-1].level > level:
                outer.pop()
            if not outer or outer[-1].level != level:
                return
            call = outer.pop()
            if not outer:
                del self._in_progress[thread.number]
            call.kind, call.outcome, call.ended, call.ended_at = kind, text, next(self._moments), perf_counter()

    def forget(self) -> None:
        """Forget the calls so far: they are those of the process of which this one is a copy."""
        self._lock = threading.RLock()  # a thread that exists there alone may hold the other one
        self._calls.clear()
        self._count = 0

    def hides_result(self, function: Any, args: tuple[Any, ...]) -> bool:
        """Whether the result is a secret, see `Output.hides_result`."""
        return self._output.hides_result(function, args)

    def write_to(self, output: Output) -> None:
        """Write the calls from now on to another output, at the end."""
        self._output = output
        self._calls.clear()
        self._count = 0

    def write_all(self) -> None:
        """Write the calls, and the calls around them, in the order in which they began and ended; then forget them."""
        with self._lock:
            calls, self._calls = self._calls, deque(maxlen=self._most)
            earlier = self._count - len(calls)
            self._count = 0
        if earlier:
            self._output.note(f"{plural(earlier, 'earlier call')} left out, except those around the last {len(calls)}")
        moments: list[tuple[int, bool, _Call]] = []
        for call in _with_callers(calls):
            moments.append((call.begun, True, call))
            if call.ended:
                moments.append((call.ended, False, call))
        for _, begins, call in sorted(moments, key=itemgetter(0)):
            if begins:
                self._output.write_call(call.thread, call.level, call.shown, call.at)
            else:
                self._output.write_outcome(
                    call.thread, call.level, call.shown.name, call.kind, call.outcome, call.ended_at
                )


def _with_callers(calls: deque[_Call]) -> list[_Call]:
    """The calls, and those around them; of many calls around one, the innermost."""
    found: dict[int, _Call] = {}
    for call in calls:
        each: _Call | None = call
        for _ in range(_MOST_AROUND):
            if each is None or each.begun in found:
                break
            found[each.begun] = each
            each = each.caller
    return list(found.values())


# ---- when a trace is on: from a call of one function to the end of a call of another


class _Switch:
    """Whether the calls of now are traced, in all threads.

    Each call of `start` turns the trace on. The end of a call of `stop` that began while the trace was on turns it off.
    Without `start`, the trace is on from the beginning, once.

    Parameters
    ----------
    start, stop:
        Dotted names of functions, separated by ``+``, or empty.

    Raises
    ------
    ValueError
        If a name leads nowhere. The message is one line.

    >>> switch = _Switch("os.path.join", "")
    >>> import os
    >>> switch.begins(len, (), None, 0), switch.begins(os.path.join, (), None, 0), switch.begins(len, (), None, 1)
    (False, True, True)
    """

    def __init__(self, start: str, stop: str) -> None:
        self._starts = _targets("start", start)
        self._stops = _targets("stop", stop)
        self._is_on = not self._starts
        self._stopping: tuple[object, int] | None = None
        self._met: set[str] = set()

    def begins(self, function: Any, args: tuple[Any, ...], calls: object, position: int) -> bool:
        """Whether a call is traced that begins now. It is the call at this position among the thread's calls."""
        if not self._is_on and self._matched(self._starts, function, args):
            self._is_on = True
        if self._is_on and self._stopping is None and self._matched(self._stops, function, args):
            self._stopping = calls, position
        return self._is_on

    def ends(self, calls: object, position: int) -> None:
        """Note that the calls of a thread from this position on have ended."""
        if self._stopping is not None and self._stopping[0] is calls and position <= self._stopping[1]:
            self._is_on = False
            self._stopping = None

    def unmatched(self) -> list[str]:
        """The options whose functions were never called, with these."""
        groups = {"start": self._starts, "stop": self._stops}
        return [
            f"{option}={never_called(target.name)}"
            for option, targets in groups.items()
            for target in targets
            if f"{option} {target.name}" not in self._met
        ]

    def _matched(self, targets: list[ResolvedTarget], function: Any, args: tuple[Any, ...]) -> bool:
        runs = python_function(function)  # of a class its `__init__`, of an object `__call__`
        for target in targets:
            if target.pending and not target.resolve():
                continue
            if target.function is function or (target.function is runs and runs is not None):
                if not target.matches(args):
                    continue
                self._met.add(f"{'start' if targets is self._starts else 'stop'} {target.name}")
                return True
        return False


def _targets(option: str, names: str) -> list[ResolvedTarget]:
    try:
        return [resolve_target(name.strip()) for name in names.split("+") if name.strip()]
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from error


# ---- the options of a trace that choose calls: predicates by their names, and whether hooks in C know the options

Predicate = Callable[[Any, tuple[Any, ...], dict[str, Any]], object]

_FILTERS: Final = ("start", "stop", "package", "predicate")
"""The options that choose calls by what they call."""


def _predicate_named(text: str) -> Any:
    """The function that `module:function` names; the text itself if it has another form.

    >>> _predicate_named("operator:is_")
    <built-in function is_>
    """
    module, colon, name = text.partition(":")
    try:
        return getattr(importlib.import_module(module), name) if colon else text
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"predicate {text!r}: {error}") from error


def _can_be_accelerated(options: Mapping[str, Any]) -> bool:
    """Whether the hooks are in C. They know no filters, and are no quicker if all calls are kept in memory."""
    is_kept = bool(options.get("last")) and options.get("depth") is None
    return not is_kept and not any(options.get(name) for name in _FILTERS)


# ---- `Trace`: the tree of calls with arguments and results, written while the program runs


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
        self._switch = _Switch(start, stop) if start or stop else None
        if self._switch is not None:
            track(self, self._switch.unmatched)
        self._packages = modules_below(name.strip() for name in package.split("+")) if package else ()
        self._predicate = _predicate_named(predicate) if isinstance(predicate, str) else predicate
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
        self._last = _LastCalls(writer, last) if last else None
        self._output: Output | _LastCalls = writer if self._last is None else self._last
        self._here = StackHere()
        self._numbers = itertools.count(1)
        self._start_counting()

    @options_of(__init__)
    def __new__(cls, *, events: Events | str | None = None, **options: Any) -> Trace:
        """Make an instance of the type that intercepts these events."""
        if cls is Trace and ACCELERATOR.is_used and _can_be_accelerated(options):
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
