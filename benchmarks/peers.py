"""Drives other tools: imports a workload as each of them requires, and activates the tool.

Each function gets the name of a module in a separate folder, on `sys.path` and not imported yet, and returns
the module, and a factory of context managers during which the tool is active. The tools do the least that their kind of
handler can do: they count.
"""

from __future__ import annotations

import contextlib
import cProfile
import importlib
import io
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final
from unittest import mock

from benchmarks.profilers import Counter

Active = Callable[[], AbstractContextManager[Any]]
Prepared = tuple[ModuleType, Active]

_TOOL: Final = 4  # a number that `sys.monitoring` leaves to anybody


def _switched(on: Callable[[], Any], off: Callable[[], Any]) -> Active:
    @contextlib.contextmanager
    def active() -> Iterator[None]:
        on()
        try:
            yield
        finally:
            off()

    return active


def setprofile(name: str, folder: Path) -> Prepared:
    """Python's hook for profilers."""
    profile = Counter().profile
    return importlib.import_module(name), _switched(lambda: sys.setprofile(profile), lambda: sys.setprofile(None))


def settrace(name: str, folder: Path) -> Prepared:
    """Python's hook for debuggers."""
    seen = Counter()

    def trace(frame: Any, event: str, argument: Any) -> Any:
        seen.before += 1
        return trace

    return importlib.import_module(name), _switched(lambda: sys.settrace(trace), lambda: sys.settrace(None))


def monitoring(name: str, folder: Path) -> Prepared:
    """PEP 669."""
    module, seen, monitor = importlib.import_module(name), Counter(), sys.monitoring
    events = monitor.events

    def before(code: Any, offset: int, function: Any, argument: Any) -> None:
        seen.before += 1

    def after_builtin(code: Any, offset: int, function: Any, argument: Any) -> None:
        seen.after += 1

    def after(code: Any, offset: int, result: Any) -> None:
        seen.after += 1

    def on() -> None:
        monitor.use_tool_id(_TOOL, "benchmarks")
        monitor.register_callback(_TOOL, events.CALL, before)
        monitor.register_callback(_TOOL, events.C_RETURN, after_builtin)
        monitor.register_callback(_TOOL, events.C_RAISE, after_builtin)
        monitor.register_callback(_TOOL, events.PY_RETURN, after)
        monitor.set_events(_TOOL, events.CALL | events.PY_RETURN)

    def off() -> None:
        monitor.set_events(_TOOL, 0)
        monitor.free_tool_id(_TOOL)

    return module, _switched(on, off)


def cprofile(name: str, folder: Path) -> Prepared:
    """The standard library's profiler."""
    return importlib.import_module(name), cProfile.Profile


def viztracer(name: str, folder: Path, **options: Any) -> Prepared:
    """Names and times."""
    from viztracer import VizTracer

    tracer = VizTracer(verbose=0, tracer_entries=2_000_000, **options)

    def on() -> None:
        tracer.clear()
        tracer.start()

    return importlib.import_module(name), _switched(on, tracer.stop)


def viztracer_arguments(name: str, folder: Path) -> Prepared:
    """Names, times, arguments and results."""
    return viztracer(name, folder, log_func_args=True, log_func_retval=True)


def wrapt(name: str, folder: Path) -> Prepared:
    """Wraps every function that a module or a class of it has under a name; functions written in C are left alone."""
    from wrapt import FunctionWrapper

    module, seen = importlib.import_module(name), Counter()

    def wrapper(wrapped: Any, instance: Any, arguments: Any, keywords: Any) -> Any:
        seen.before += 1
        return wrapped(*arguments, **keywords)

    holders = [module, *(value for value in vars(module).values() if isinstance(value, type))]
    for holder in holders:
        if holder is not module and holder.__module__ != name:
            continue
        for key, value in list(vars(holder).items()):
            if isinstance(value, FunctionType) and value.__module__ == name:
                setattr(holder, key, FunctionWrapper(value, wrapper))
    return module, contextlib.nullcontext


def patched(name: str, folder: Path) -> Prepared:
    """Replaces two functions where they are defined; modules that imported them by name keep the originals."""
    module, sine, clock = importlib.import_module(name), math.sin, time.time

    def other_sine(x: float) -> float:
        return sine(x)

    def other_clock() -> float:
        return clock()

    @contextlib.contextmanager
    def active() -> Iterator[None]:
        with mock.patch("math.sin", other_sine), mock.patch("time.time", other_clock):
            yield

    return module, active


_PYCCOLO_OPERATORS: Final = [
    f"{when}_{what}" for what in ("binop", "compare", "subscript_load") for when in ("before", "after")
]


def pyccolo(name: str, folder: Path, operators: bool = False, is_active: bool = True) -> Prepared:
    """Handlers that get the value alone, in the tool's cheapest form."""
    import pyccolo as tool

    seen = Counter()
    events = ["before_call", "after_call", *(_PYCCOLO_OPERATORS if operators else ())]

    class Tracer(tool.BaseTracer):
        bytecode_caching_allowed = False
        global_guards_enabled = not is_active  # cheaper if there is nothing to do, more expensive otherwise

        def should_instrument_file(self, filename: str) -> bool:
            return filename.startswith(str(folder))

        @tool.register_raw_handler(tuple(getattr(tool, event) for event in events))
        def handler(self, *_: Any, **__: Any) -> None:
            seen.before += 1

    tracer = Tracer.instance()
    with tracer:
        module = importlib.import_module(name)
    return module, (lambda: tracer) if is_active else contextlib.nullcontext


_DYNAPYT_OPERATORS: Final = ("binary_operation", "unary_operation", "comparison", "read_subscript")


def dynapyt(name: str, folder: Path, operators: bool = False) -> Prepared:
    """The file is rewritten on disk before it is imported; from then on the analysis is always active."""
    from dynapyt.instrument.instrument import instrument_files

    hooks = ("pre_call", "post_call", *(_DYNAPYT_OPERATORS if operators else ()))
    lines = ["from dynapyt.analyses.BaseAnalysis import BaseAnalysis", "class Counting(BaseAnalysis):", "    seen = 0"]
    for hook in hooks:
        lines += [f"    def {hook}(self, *arguments):", "        self.seen += 1"]
    (folder / "counting_analysis.py").write_text("\n".join(lines), encoding="utf-8")
    session = f"benchmarks-{os.getpid()}"
    os.environ["DYNAPYT_SESSION_ID"] = session
    chosen = Path(tempfile.gettempdir(), f"dynapyt_analyses-{session}.txt")
    chosen.write_text("counting_analysis.Counting", encoding="utf-8")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            instrument_files([str(folder / f"{name}.py")], ["counting_analysis.Counting"])
            module = importlib.import_module(name)
    finally:
        chosen.unlink()
    return module, contextlib.nullcontext


PEERS: Final[dict[str, Callable[[str, Path], Prepared]]] = {
    "setprofile": setprofile,
    "settrace": settrace,
    "monitoring": monitoring,
    "cprofile": cprofile,
    "viztracer": viztracer,
    "viztracer-arguments": viztracer_arguments,
    "wrapt": wrapt,
    "mock": patched,
    "pyccolo-inactive": lambda name, folder: pyccolo(name, folder, is_active=False),
    "pyccolo": pyccolo,
    "pyccolo-operators": lambda name, folder: pyccolo(name, folder, operators=True),
    "dynapyt": dynapyt,
    "dynapyt-operators": lambda name, folder: dynapyt(name, folder, operators=True),
}
