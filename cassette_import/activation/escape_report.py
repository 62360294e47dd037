"""The escape report: the Python functions that ran as leaves in a context, how often they were called, and why.

A context with `report_escapes` gets a second context around it, which counts. Other contexts pay nothing.
"""

from __future__ import annotations

import linecache
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.activation.entering import original
from cassette_import.importing.finder import finder
from cassette_import.importing.selection import OURSELVES
from cassette_import.interpreter.callables import code_of, python_function
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.hook_points import Table
from cassette_import.runtime.state import ACTIVE
from cassette_import.runtime.tagging.lost_metadata import LOSSES
from cassette_import.specialization.function_unit import Unit
from cassette_import.specialization.registry import registry
from cassette_import.specialization.source_file import SourceFile

__all__ = ["Escape", "EscapeWatch", "escapes"]

_WATCH: Final = "watch of escapes"
_INSTALLED: Final = "its module is installed"


@dataclass(frozen=True, order=True)
class Escape:
    """A Python function that ran as a leaf: neither its body nor the functions that it called were overdubbed.

    Or a leaf that has lost metadata, such as a C function: then the file and line are those of its first call.
    """

    function: str
    """The qualified name of the function. If a class was called, that of its `__init__` or `__new__`."""
    module: str
    filename: str
    lineno: int
    reason: str
    calls: int
    """The number of calls from overdubbed code."""

    def __str__(self) -> str:
        return f"{self.module}.{self.function}: {_number(self.calls, 'call')}; {self.reason}"


class _Called:
    """A function that was called and may have escaped."""

    __slots__ = ("code", "count", "module", "reason", "unit")

    def __init__(self, code: CodeType, unit: Unit | None, module: str, reason: str) -> None:
        self.code = code
        self.unit = unit
        self.module = module
        self.reason = reason
        self.count = 0


class EscapeWatch(Context, events=Events.CALLS):
    """Counts the calls of Python functions that are not overdubbed.

    Parameters
    ----------
    contexts:
        Those for which it counts. A function for which they have an overload does not run, and so does not escape.
    """

    _adopts: ClassVar[bool] = False  # the context that it watches is entered inside it
    leaf_hooks: ClassVar[bool] = True
    inherit: ClassVar[bool] = True

    def __init__(self, contexts: Iterable[Context] = ()) -> None:
        super().__init__()
        self._contexts = tuple(contexts)
        self.module_level = all(context.module_level for context in self._contexts)
        self._called: dict[tuple[int, str], _Called] = {}
        self._lock = threading.Lock()

    def prehook(self, f: Any, *args: Any, **kwargs: Any) -> None:
        """Count the call, if it is a call of a Python function that is not overdubbed."""
        function = python_function(f)
        activation = ACTIVE.get()
        if function is None or activation.suspended is not None:  # calls by hooks are not calls of the program
            return
        code = function.__code__
        record = registry.records.get(code.co_filename)
        # A record alone is no proof: "<string>" may have one because of another function in another "<string>".
        is_overdubbed = record is not None and (record.installed or code.co_filename in activation.roots)
        unit = registry.index.unit_of(code) if is_overdubbed else None
        if unit is not None:
            code = unit.plain  # specialising replaces code objects
        reason = _reason(function, is_overdubbed)
        if reason is None:
            return
        with self._lock:
            called = self._called.get((id(code), reason))
            if called is None:
                called = self._called[id(code), reason] = _Called(code, unit, str(function.__module__), reason)
            called.count += 1

    def root_runs(self, f: Any) -> None:
        """Count a root call, if its function has no source: any other root function is overdubbed."""
        function = python_function(f)
        if function is None or registry.index.overdubbable(function):
            return
        if registry.index.reason_left_alone(function) is None:
            self.prehook(function)

    def escapes(self) -> list[Escape]:
        """What escaped so far, most often called first."""
        with self._lock:
            seen = [(called, called.count) for called in self._called.values()]
        replaced = _overloaded(self._contexts)
        found = []
        for called, count in seen:
            known, code = _final_reason(called), called.code
            if known is not None and code not in replaced:
                place = code.co_filename, code.co_firstlineno
                found.append(Escape(code.co_qualname, called.module, *place, known, count))
        return sorted(found, key=lambda escape: (-escape.calls, escape))

    def summary(self) -> str:
        """The report as a table, for the terminal."""
        return "\n".join(_report_lines(self.escapes()))

    @property
    def formats(self) -> Mapping[str, Any]:
        """None: the report is printed on the terminal."""
        return MappingProxyType({})


def _reason(function: FunctionType, is_overdubbed: bool) -> str | None:
    """Why a function that is called now is a leaf, as far as is known before it runs.

    None for cassette_import's own functions.
    """
    module: Any = function.__module__
    if not isinstance(module, str):
        return "it belongs to no module"
    if module == OURSELVES or module.startswith(f"{OURSELVES}."):
        return None
    if is_overdubbed or finder.covers(module):
        return _INSTALLED
    if any(selection.matches(module) for selection in finder.selections):
        return f"{module} is excluded"
    return f"{module} is not installed"


def _final_reason(called: _Called) -> str | None:
    """Why a function escaped, now that it has run; None if it did not."""
    code, module, reason = called.code, called.module, called.reason
    record = registry.records.get(code.co_filename)
    if reason == _INSTALLED:
        if called.unit is not None:
            return None if called.unit.reason is None else f"it is left alone: {called.unit.reason}"
        decision = finder.decisions.get(module)
        if decision is not None and decision.action == "left alone":
            return f"{module} is left alone: {decision.reason}"
    source = record.source if record is not None else SourceFile(code.co_filename)
    if record is None:
        source.refresh(module, getattr(sys.modules.get(module), "__dict__", None))
    # A loader has one source for everything that its module compiles by itself. Code in `<…>` is in no file.
    if not source.available or (code.co_filename.startswith("<") and not linecache.getlines(code.co_filename)):
        return "there is no source"
    return "its code is not what its source says" if reason == _INSTALLED else reason


def _overloaded(contexts: Iterable[Context]) -> set[CodeType]:
    """The code of the functions that contexts have an overload for."""
    found = set()
    for one in contexts:
        for target in Table(type(one), "overdub").targets.values():
            code = code_of(target)
            unit = registry.index.unit_of(code) if code is not None and code.co_filename in registry.records else None
            if code is not None:
                found.add(code if unit is None else unit.plain)
    return found


def escapes(ctx: Context) -> list[Escape]:
    """The Python functions that ran as leaves in a context, and the leaves that have lost metadata; most calls first.

    Parameters
    ----------
    ctx:
        A context with `report_escapes`, or one that tags values, or a copy of it. It may still be active.

    Returns
    -------
    One `Escape` for each function and reason.

    Raises
    ------
    ValueError
        If the context does not have `report_escapes` and does not tag values.

    >>> import textwrap
    >>> from cassette_import import Context, overdub
    >>> def f(text):
    ...     return textwrap.dedent(text)
    >>> ctx = Context(report_escapes=True)
    >>> _ = overdub(ctx, f, "  x")
    >>> [(escape.module, escape.function, escape.calls) for escape in escapes(ctx)]
    [('textwrap', 'dedent', 1)]
    """
    watch = vars(original(ctx)).get(_WATCH)
    if watch is None and not ctx.report_escapes and not ctx._tagging:
        raise ValueError(f"{ctx!r} does not report escapes: ask for it with report_escapes=True")
    found = [] if watch is None else watch.escapes()
    return sorted([*found, *_losses(ctx)], key=lambda escape: (-escape.calls, escape))


def _losses(ctx: Context) -> Iterator[Escape]:
    """The leaves that have lost metadata in a context."""
    for loss in list(vars(original(ctx)).get(LOSSES, {}).values()):
        name = str(getattr(loss.function, "__qualname__", None) or repr(loss.function))
        module = str(getattr(loss.function, "__module__", None) or "builtins")
        yield Escape(name, module, loss.site.filename, loss.site.lineno, "it has lost metadata", loss.count)


def watch_of(ctx: Context) -> EscapeWatch:
    """The context that counts for `ctx` and its copies."""
    holder = vars(original(ctx))
    found: EscapeWatch = holder.get(_WATCH) or holder.setdefault(_WATCH, EscapeWatch((ctx,)))
    return found


def watch_to_enter(context: Context) -> EscapeWatch | None:
    """The context that counts for `context`, if it is not active yet."""
    watch = watch_of(context)
    return None if any(other is watch for other in ACTIVE.get().contexts) else watch


def watch_to_leave(context: Context) -> EscapeWatch | None:
    """The context that counts for `context`, if it is the innermost one: `context` has just been left."""
    watch = watch_of(context)
    return watch if ACTIVE.get().contexts[-1:] == (watch,) else None


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _report_lines(found: list[Escape]) -> Iterator[str]:
    """The report, line by line."""
    calls = sum(escape.calls for escape in found)
    yield f"escapes: {_number(calls, 'call')} of {_number(len(found), 'Python function')}"
    if not found:
        return
    rows = [(str(escape.calls), f"{escape.module}.{escape.function}", escape.reason) for escape in found]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    yield ""
    for count, name, reason in rows:
        yield f"{count:>{max(first, 8)}}  {name:<{second}}  {reason}"
