"""Started functions: those of the program that the standard library calls in a thread, a job or an event loop.

Such a call has no call site in the program, but the program has asked for it, as by a call. So it is an event of the
contexts that are active where the function runs. The functions that call them, such as `Thread.run`, are diverted to
the functions of this module (see `activation.inheritance`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Any, Final

from cassette_import.interpreter import observers
from cassette_import.interpreter.callables import CallableProxy, python_function, split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE, Activation

_CALLS: Final = int(Events.CALLS)


@hidden
def as_event(function: Any) -> Any:
    """A callable that calls a started function as an event of what is active here; the function itself if it is none.

    A Python function that is not overdubbed is an event if it is a target: libraries start their own functions, too.
    Where values may be tagged, the rules of the functions that start something have arranged for the call already.
    """
    activation = ACTIVE.get()
    variant = activation.variant
    if variant is None or variant.tagging or type(function) is Callee or not callable(function):
        return function
    inner, runner = split(function)[0], variant.runners[_CALLS]
    if id(inner) not in runner.plan.targets and not _is_of_program(activation, inner):
        return function
    return runner.proxy_of(function)


@hidden
def call_started(function: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """Call a started function, as an event if it is one."""
    return as_event(function)(*arguments, **keywords)


@hidden
def _is_of_program(activation: Activation, function: Any) -> bool:
    """Whether a function is overdubbed, or is written in C."""
    behind = python_function(function)
    if behind is None:
        return True
    record = OVERDUBBED.record_with(behind.__code__)
    is_in_file = record is not None and (record.installed or record.filename in activation.roots)
    return is_in_file and OVERDUBBED.overdubbable(behind)


# ---- threads and processes


@hidden
def run_target(run: Callable[[Any], None], thread: Any) -> None:
    """`Thread.run` and `BaseProcess.run`, which call the target. `Thread.run` deletes it in the end."""
    observers.filter_observers()  # `threading.settrace` and `setprofile` have just set them
    target = getattr(thread, "_target", None)
    if target is not None:
        call = as_event(target)
        if call is not target:
            thread._target = call
    run(thread)


class _WaitingTimer:
    """A timer as `Timer.run` sees it: its function is called as an event. The timer itself keeps its function."""

    def __init__(self, timer: Any) -> None:
        self.timer = timer

    def __getattr__(self, name: str) -> Any:
        return getattr(self.timer, name)

    @property
    def function(self) -> Any:
        """What the timer calls."""
        return as_event(self.timer.function)


@hidden
def run_timer(run: Callable[[Any], None], timer: Any) -> None:
    """`Timer.run`."""
    run(timer if ACTIVE.get().variant is None else _WaitingTimer(timer))


# ---- event loops


class ContextOfCall:
    """A `contextvars.Context` whose `run` calls a started function. Events show `Context.run`."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @property
    @hidden
    def run(self) -> CallableProxy:
        """`Context.run`."""
        return CallableProxy(self.context.run, self._run)

    @hidden
    def _run(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        return self.context.run(call_started, function, *arguments, **keywords)


class _ContextOfHandle(ContextOfCall):
    """The context of a handle, which gets its own one back before its function is called."""

    def __init__(self, handle: Any) -> None:
        super().__init__(handle._context)
        self.handle = handle

    @hidden
    def _run(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        self.handle._context = self.context
        return self.context.run(call_started, function, *arguments, **keywords)


_STEPS: Final = frozenset({"TaskStepMethWrapper", "Task"})
"""Types of what event loops call for tasks: most of what they call."""


@hidden
def run_handle(run: Callable[[Any], None], handle: Any) -> None:
    """`Handle._run`, which calls a callback of an event loop."""
    callback = handle._callback
    step = getattr(callback, "__self__", callback)
    if type(step).__name__ not in _STEPS and ACTIVE in handle._context and handle._context[ACTIVE].variant is not None:
        handle._context = _ContextOfHandle(handle)
    run(handle)


# ---- pools of threads


def divert_pool_of(thread_pool: type, as_job: Callable[[Any], Any]) -> Callable[..., Any]:
    """The diversion of methods of `multiprocessing.pool.Pool`: jobs of a pool of threads go through `as_job`."""

    @hidden
    def submit_to_pool(submit: Callable[..., Any], pool: Any, /, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(pool, thread_pool):
            if arguments:
                arguments = (as_job(arguments[0]), *arguments[1:])
            elif "func" in keywords:
                keywords["func"] = as_job(keywords["func"])
        return submit(pool, *arguments, **keywords)

    return submit_to_pool


POOL_METHODS: Final = ("apply_async", "_map_async", "imap", "imap_unordered")
"""The methods of `Pool` to which a program, or another method of `Pool`, passes a function."""
