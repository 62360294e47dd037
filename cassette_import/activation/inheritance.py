"""Inheritance: threads, executors' jobs and asyncio tasks get the active contexts with `inherit` when they are started.

A new task gets a copy of all context variables of the code that makes it; so does a new thread, in some versions and
settings of Python. So the few functions of the standard library that start threads, jobs and tasks are diverted: from
the first time that a context is entered, they call functions of this module, which set what is inherited. They stay the
same function objects, so hooks and overloads registered for them still match.

Calls and events cost nothing more: which contexts are active is still in one context variable.
"""

from __future__ import annotations

import contextvars
import functools
import operator
import os
import sys
import threading
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from cassette_import.activation import greenlets
from cassette_import.activation.activations import inherited_activation
from cassette_import.activation.started_functions import (
    POOL_METHODS,
    ContextOfCall,
    call_started,
    divert_pool_of,
    run_handle,
    run_target,
    run_timer,
)
from cassette_import.activation.tagging_modules import carry_values_between_threads
from cassette_import.importing.finder import finder
from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.interpreter.callables import CallableProxy
from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.runtime.dispatch.higher_order import HIGHER_ORDER, takers_by_module
from cassette_import.runtime.state import ACTIVE, INACTIVE, Activation, count_in_thread
from cassette_import.specialization.given_texts import GivenTexts
from cassette_import.specialization.registry import registry

__all__ = ["DIVERTED", "WAITING", "activate_in_forked_worker", "is_forked_worker", "prepare"]

# ---- classes whose methods are generated while a context is active

_GENERATORS: Final = (
    ("dataclasses", None, "_process_class"),
    ("collections", None, "namedtuple"),
    ("attr._make", "_ClassBuilder", "build_class"),
)
"""Module, class and name of the functions that return a class with generated methods."""


@hidden
def _generate_class(generate: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Do what the function does, and instrument the methods of the class that it returns."""
    kind = generate(*arguments, **keywords)
    registry.instrument_class(kind)
    return kind


_GIVEN_TEXTS: Final = GivenTexts(registry, frozenset(module for module, _, _ in _GENERATORS))


# ---- inheritance: threads, executors' jobs and asyncio tasks get the active contexts with `inherit` when they are
# started

_VARIADIC: Final = 0x04 | 0x08
"""`inspect.CO_VARARGS` and `CO_VARKEYWORDS`."""

DIVERTED: Final = "<cassette_import>"
"""The file name of diverted functions' code. It has no source, so they are never overdubbed."""


# ---- threads

_bequeathed: Final[dict[int, tuple[Activation, Callable[..., Any]]]] = {}
"""What threads inherit that are being started, and what runs them, by the identity of the thread object."""


class _Submitting(threading.local):
    now = False


_submitting: Final = _Submitting()
"""`_submitting.now`: this thread submits a job to an executor. Threads that the executor starts inherit nothing."""


@hidden
def _started_in(activation: Activation, run: Callable[..., Any]) -> Callable[..., Any]:
    """What runs in a thread or job that is being started, as the contexts that it inherits want it."""
    for context in activation.contexts:
        if context.as_started is not None:
            run = context.as_started(run)
    return run


@hidden
def _start_thread(start: Callable[[Any], None], thread: Any) -> None:
    """`Thread.start`. A thread with a `contextvars.Context` of its own (3.14) has the contexts of that one."""
    here = ACTIVE.get()
    if here.variant is None or getattr(thread, "_context", None) is not None:
        return start(thread)
    key = id(thread)
    inherited = INACTIVE if _submitting.now else inherited_activation(here)
    _bequeathed[key] = inherited, _started_in(inherited, operator.call)
    try:
        return start(thread)
    finally:
        _bequeathed.pop(key, None)


@hidden
def _run_thread(run: Callable[[Any], None], thread: Any) -> None:
    """`Thread._bootstrap_inner`, which is the first function that runs in the new thread."""
    greenlets.follow_greenlets()
    inherited, call = _bequeathed.pop(id(thread), (None, operator.call))
    if inherited is not None:
        context = getattr(thread, "_context", None)  # 3.14 runs the thread in one of its own
        if context is None:
            ACTIVE.set(inherited)
        else:
            context.run(ACTIVE.set, inherited)
    if inherited is None or inherited is INACTIVE:
        return run(thread)
    count_in_thread(1)
    try:
        call(run, thread)
    finally:
        count_in_thread(-1)


# ---- executors


@hidden
def _run_job(activation: Activation, job: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Run a job in the contexts that it has inherited."""
    token = ACTIVE.set(activation)
    count_in_thread(1)
    try:
        return call_started(job, *arguments, **keywords)
    finally:
        count_in_thread(-1)
        ACTIVE.reset(token)


@hidden
def _as_job(job: Any) -> Any:
    """A job as it runs in another thread."""
    inherited = inherited_activation(ACTIVE.get())
    return job if inherited is INACTIVE else functools.partial(_run_job, inherited, job)


@hidden
def _submit_to_threads(
    submit: Callable[..., Any], executor: Any, job: Callable[..., Any], /, *arguments: Any, **keywords: Any
) -> Any:
    """`ThreadPoolExecutor.submit`."""
    here = ACTIVE.get()
    if here.variant is None:
        return submit(executor, job, *arguments, **keywords)
    if not _runs_elsewhere(executor):
        job = _started_in(inherited_activation(here), _as_job(job))
    before, _submitting.now = _submitting.now, True
    try:
        return submit(executor, job, *arguments, **keywords)
    finally:
        _submitting.now = before


@hidden
def _add_done_callback(add: Callable[..., None], future: Any, /, *arguments: Any, **keywords: Any) -> None:
    """`Future.add_done_callback`. The thread that ends the job calls it, in the contexts of the code that adds it."""
    if ACTIVE.get().variant is not None:
        if arguments:
            arguments = (_as_job(arguments[0]), *arguments[1:])
        elif "fn" in keywords:
            keywords["fn"] = _as_job(keywords["fn"])
    add(future, *arguments, **keywords)


@hidden
def _make_pool_of_threads(
    place: int, make: Callable[..., None], pool: Any, /, *arguments: Any, **keywords: Any
) -> None:
    """The constructor of a pool of threads, which gets an initializer as the argument in some place."""
    if ACTIVE.get().variant is not None and not _runs_elsewhere(pool):
        if keywords.get("initializer") is not None:
            keywords["initializer"] = _as_job(keywords["initializer"])
        elif len(arguments) > place and arguments[place] is not None:
            arguments = (*arguments[:place], _as_job(arguments[place]), *arguments[place + 1 :])
    make(pool, *arguments, **keywords)


def _runs_elsewhere(executor: Any) -> bool:
    """Whether the jobs of an executor run in interpreters of their own (3.14)."""
    module = sys.modules.get("concurrent.futures.interpreter")
    return module is not None and isinstance(executor, module.InterpreterPoolExecutor)


@hidden
def _submit_to_processes(submit: Callable[..., Any], executor: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """`ProcessPoolExecutor.submit`. It may fork, but the contexts of this process must not be active in every job."""
    if ACTIVE.get().variant is None:
        return submit(executor, *arguments, **keywords)
    before, _submitting.now = _submitting.now, True
    try:
        return submit(executor, *arguments, **keywords)
    finally:
        _submitting.now = before


class _ForkedWorkers:
    activation: Activation = INACTIVE


_forked_workers: Final = _ForkedWorkers()
"""`_forked_workers.activation`: what is active in a process that an executor has forked."""


def is_forked_worker() -> bool:
    """Whether an executor has just forked this process."""
    return _submitting.now


def activate_in_forked_worker(activation: Activation) -> None:
    """Make this active in the process, which an executor has just forked."""
    _forked_workers.activation = activation
    _after_fork()


def _after_fork() -> None:
    """A process that an executor has forked starts with nothing active, unless all processes of the program do."""
    if _submitting.now:
        ACTIVE.set(_forked_workers.activation)


# ---- asyncio


@hidden
def _create_task(create: Callable[..., Any], loop: Any, coroutine: Any, /, *arguments: Any, **keywords: Any) -> Any:
    """`BaseEventLoop.create_task`.

    A task that is made while no event loop runs in this thread belongs to the call that starts one: it has the contexts
    of its caller. A task with a `contextvars.Context` of its own has the contexts of that one.
    """
    here = ACTIVE.get()
    if here.variant is None:
        return create(loop, coroutine, *arguments, **keywords)
    context = keywords.get("context")
    if sys.modules["asyncio.events"]._get_running_loop() is None:
        if here.tags:
            carry_values_between_threads()
        if context is not None and context.get(ACTIVE, INACTIVE) is not here:
            context.run(ACTIVE.set, here)  # `asyncio.Runner` keeps one for all its calls
        return create(loop, coroutine, *arguments, **keywords)
    if context is not None:
        return create(loop, coroutine, *arguments, **keywords)
    token = ACTIVE.set(inherited_activation(here))
    try:
        return create(loop, coroutine, *arguments, **keywords)
    finally:
        ACTIVE.reset(token)


@hidden
def _copy_context() -> ContextOfCall:
    """`contextvars.copy_context` for `to_thread`: the inherited contexts are active in the copy."""
    made = contextvars.copy_context()
    here = ACTIVE.get()
    if here is not INACTIVE:
        made.run(ACTIVE.set, inherited_activation(here))
    return ContextOfCall(made)


def _divert_to_thread(module: Any) -> None:
    """`asyncio.to_thread` copies the context variables: its module gets a `copy_context` that knows inheritance."""
    shown = ModuleType("contextvars", contextvars.__doc__)
    vars(shown).update(vars(contextvars), copy_context=CallableProxy(contextvars.copy_context, _copy_context))
    module.contextvars = shown


# ---- diverting


def _diverted(*arguments: Any, **keywords: Any) -> Any:
    # For the type checker: the handler takes the place of the text.
    return ("handler" if True else None)(*arguments, **keywords)  # type: ignore[operator,redundant-expr]


def _diverted_method(self: Any) -> Any:
    # For the type checker: the handler takes the place of the text.
    return ("handler" if True else None)(self)  # type: ignore[operator,redundant-expr]


def _divert(handler: Callable[..., Any], owner: type | ModuleType, attribute: str) -> None:
    """Make a method call `handler(original, ...)`, where `original` is a function with the method's own code."""
    bases = owner.__mro__ if isinstance(owner, type) else (owner,)
    owner = next(holder for holder in bases if attribute in vars(holder))  # gevent replaces classes by subclasses
    method: Any = vars(owner)[attribute]
    while hasattr(method, "__wrapped__"):
        method = method.__wrapped__
    if type(method) is not FunctionType or method.__closure__:
        return  # a program has replaced the method of the standard library: its replacement stays
    original = FunctionType(
        method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__
    )
    original.__kwdefaults__ = method.__kwdefaults__
    for copied in ("__qualname__", "__doc__", "__module__"):
        setattr(original, copied, getattr(method, copied))
    method.__wrapped__ = original  # type: ignore[attr-defined]  # for its signature and its source
    method.__code__ = _code(functools.partial(handler, original), original.__code__)


def _code(handler: Callable[..., Any], original: CodeType) -> CodeType:
    takes_self_alone = (
        original.co_argcount == 1 and not original.co_kwonlyargcount and not original.co_flags & _VARIADIC
    )
    diverted = (_diverted_method if takes_self_alone else _diverted).__code__
    return hide(diverted).replace(
        co_consts=tuple([handler if const == "handler" else const for const in diverted.co_consts]),
        co_name=original.co_name,
        co_qualname=original.co_qualname,
        co_filename=DIVERTED,
        co_firstlineno=original.co_firstlineno,
    )


def _divert_threads(module: Any) -> None:
    _divert(_start_thread, module.Thread, "start")
    _divert(_run_thread, module.Thread, "_bootstrap_inner")
    _divert(run_target, module.Thread, "run")
    _divert(run_timer, module.Timer, "run")


def _divert_thread_pools(module: Any) -> None:
    _divert(_submit_to_threads, module.ThreadPoolExecutor, "submit")
    _divert(functools.partial(_make_pool_of_threads, 2), module.ThreadPoolExecutor, "__init__")


def _divert_futures(module: Any) -> None:
    _divert(_add_done_callback, module.Future, "add_done_callback")


def _divert_process_pools(module: Any) -> None:
    _divert(_submit_to_processes, module.ProcessPoolExecutor, "submit")
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)


def _divert_thread_pools_of_multiprocessing(module: Any) -> None:
    _divert(functools.partial(_make_pool_of_threads, 1), module.ThreadPool, "__init__")
    for method in POOL_METHODS:
        _divert(divert_pool_of(module.ThreadPool, _as_job), module.Pool, method)


def _divert_processes(module: Any) -> None:
    _divert(run_target, module.BaseProcess, "run")


def _divert_tasks(module: Any) -> None:
    _divert(_create_task, module.BaseEventLoop, "create_task")


def _divert_green_threads(module: Any) -> None:
    _divert(greenlets.begin_green_thread, module.GreenThread, "__init__")


def _divert_handles(module: Any) -> None:
    _divert(run_handle, module.Handle, "_run")


def _divert_generator(module: Any, kind: str | None, name: str) -> None:
    owner = module if kind is None else vars(module).get(kind)
    if owner is not None and name in vars(owner):  # other versions may have other names
        _divert(_generate_class, owner, name)


# ---- when


WAITING: Final[dict[str, Callable[[Any], None]]] = {
    "threading": _divert_threads,
    "concurrent.futures._base": _divert_futures,
    "concurrent.futures.thread": _divert_thread_pools,
    "concurrent.futures.process": _divert_process_pools,
    "multiprocessing.pool": _divert_thread_pools_of_multiprocessing,
    "multiprocessing.process": _divert_processes,
    "asyncio.base_events": _divert_tasks,
    "asyncio.events": _divert_handles,
    "asyncio.threads": _divert_to_thread,
    "greenlet": greenlets.divert_greenlets,
    "gevent.greenlet": greenlets.divert_gevent,
    "eventlet.greenthread": _divert_green_threads,
}
"""The modules whose functions are not diverted yet, and what diverts them."""

_GENERATING: Final = {
    module: functools.partial(_divert_generator, kind=kind, name=name) for module, kind, name in _GENERATORS
}
"""The same for functions that generate classes: they are awaited only if some package is installed."""


def _both(first: Callable[[Any], None] | None, second: Callable[[Any], None]) -> Callable[[Any], None]:
    """Both of what is to be done with a module."""

    def prepare_module(module: ModuleType) -> None:
        if first is not None:
            first(module)
        second(module)

    return prepare_module


def _add_takers_of(name: str, paths: list[str]) -> Callable[[Any], None]:
    """Note the functions of a module that keep callbacks."""

    def add_takers(module: ModuleType) -> None:
        found = ((f"{name}.{path}", _attribute(module, path)) for path in paths)
        HIGHER_ORDER.add_takers((taker, function) for taker, function in found if function is not None)

    return add_takers


def _attribute(module: ModuleType, path: str) -> Any:
    """What a module has under a path of names; None if there is nothing. A lazy module imports nothing for that."""
    found: Any = module
    for name in path.split("."):
        found = vars(found).get(name)
        if found is None:
            return None
    return found


for _name, _paths in takers_by_module().items():
    WAITING[_name] = _both(WAITING.get(_name), _add_takers_of(_name, _paths))


_awaited: Final[set[str]] = set()
"""The modules among them whose import is awaited."""


def _divert_module(name: str, module: ModuleType) -> None:
    """Divert the functions of a module, once."""
    divert = WAITING.pop(name, None)
    if name in _awaited:
        _awaited.discard(name)
        POST_IMPORT.forget(name, _divert_module)
    if divert is not None:
        divert(module)


def prepare() -> None:
    """Divert functions of the modules that are imported already, and await the other modules.

    Called when a context is about to be entered.
    """
    greenlets.follow_greenlets()
    if _GENERATING:
        for name in [name for name in _GENERATING if finder.selections or name in sys.modules]:
            WAITING[name] = _both(WAITING.get(name), _GENERATING.pop(name))
    if not WAITING or (_awaited and POST_IMPORT.is_first and _awaited == WAITING.keys()):
        return
    for name in list(WAITING):
        module = sys.modules.get(name)
        if module is not None and not getattr(module.__spec__, "_initializing", False):
            _divert_module(name, module)
        elif name not in _awaited:
            _awaited.add(name)
            POST_IMPORT.when_imported(name, _divert_module)
    POST_IMPORT.come_first()
