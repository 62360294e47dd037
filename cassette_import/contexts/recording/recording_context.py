"""`RecordingContext`: the base of `Record` and `Replay`, so that a program cannot tell one from the other.

Both intercept the same calls, by overloads of the functions in the boundary and by proxies. Only the results differ.
"""

from __future__ import annotations

import functools
import io
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.activation.verbs import fallback, overdub
from cassette_import.contexts.recording import proxies
from cassette_import.contexts.recording.call_sequences import StartedJobs
from cassette_import.contexts.recording.carried_requests import CarriedRequests
from cassette_import.contexts.recording.effects import length_of, place_of_filled_buffer
from cassette_import.contexts.recording.event_loops import LoopQueue, queue_of_running_loop, watch_loops
from cassette_import.contexts.recording.external_calls import (
    CALLED_BACK,
    IN_EXTERNAL_CALL,
    is_awaitable,
    is_made_by_loop,
)
from cassette_import.contexts.recording.external_functions import (
    CALLBACK_TAKERS,
    ENVIRONMENT,
    GENERATOR,
    JOBS_OF_THREAD_POOLS,
    LATE_CALLERS,
    NUMPY_GENERATORS,
    NUMPY_RANDOM,
    READERS,
    STARTING_FUNCTIONS,
    TASKS_IN_SETS,
    BoundaryFunction,
    BoundaryWatcher,
    leading_outside,
)
from cassette_import.contexts.recording.masking import Mask
from cassette_import.contexts.recording.request_options import NO_OPTIONS, RequestOptions
from cassette_import.contexts.recording.standard_input import METHODS, follow_standard_input
from cassette_import.contexts.recording.values import Encoder, shortened
from cassette_import.interpreter.callables import split, underlying
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import ACTIVE, HIGHER_ORDER
from cassette_import.kits.main_program import MAIN_NAMES
from cassette_import.rewriting.events import Events

__all__ = ["RecordingContext"]

# ---- environment variables in a recorded or replayed run: each one is recorded when the program reads it
#
# A subscript such as `os.environ["HOME"]` is not a call, so no overload can intercept it. Instead, the dict inside
# `os.environ` is replaced, once, by one that consults the active context. Without such a context it is an ordinary
# dict.


class _Variables(dict[Any, Any]):
    """The dict inside `os.environ`. Names and values are bytes, on Windows text."""

    def _intercepting_context(self) -> Any:
        """The innermost active context that intercepts environment variables, or None."""
        for context in reversed(ACTIVE.get().contexts):
            if getattr(context, "intercepts_environment", False):
                return context
        return None

    def __getitem__(self, name: Any) -> Any:
        context = self._intercepting_context()
        if context is None or not isinstance(name, bytes | str):
            return super().__getitem__(name)
        actual = super().get(name)
        value = context.variable(os.fsdecode(name), None if actual is None else os.fsdecode(actual))
        if value is None:
            raise KeyError(name)
        return value if isinstance(name, str) else os.fsencode(value)

    def __contains__(self, name: Any) -> bool:
        try:
            self[name]
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[Any]:
        context = self._intercepting_context()
        if context is None:
            return super().__iter__()
        names = context.variables([os.fsdecode(name) for name in super().__iter__()])
        return iter([os.fsencode(name) for name in names] if os.name == "posix" else names)

    def __len__(self) -> int:
        return super().__len__() if self._intercepting_context() is None else sum(1 for _ in self)

    def __setitem__(self, name: Any, value: Any) -> None:
        context = self._intercepting_context()
        if context is not None:
            context.variable_changed(os.fsdecode(name))
        super().__setitem__(name, value)

    def __delitem__(self, name: Any) -> None:
        context = self._intercepting_context()
        if context is None:
            super().__delitem__(name)
            return
        self[name]
        context.variable_changed(os.fsdecode(name))
        self.pop(name, None)


def _intercept_environment() -> None:
    """Replace the dict inside `os.environ` and `os.environb`. This happens once and is not undone."""
    environment: Any = os.environ
    if type(environment._data) is dict:
        environment._data = _Variables(environment._data)
        if os.supports_bytes_environ:
            environment_in_bytes: Any = os.environb
            environment_in_bytes._data = environment._data


# ---- which generators of random numbers are deterministic: those with a seed. Their calls are not external


class _RandomGenerators:
    """The generators that one run has seeded or not."""

    def __init__(self) -> None:
        self._seeded: weakref.WeakSet[Any] = weakref.WeakSet()
        self._unseeded_of_numpy: dict[int, Any] = {}
        """By identity: there are no weak references to NumPy's generators."""
        self._is_numpy_seeded = False

    def makes_generator(self, name: str) -> bool:
        """Whether a function of the boundary makes a generator. Its calls are not external."""
        return name == GENERATOR or name in _MAKERS

    def made(self, name: str, generator: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Note that the program has made a generator, with a seed, or with another generator."""
        given = [one for one in (*arguments, *keywords.values()) if one is not None]
        if name == GENERATOR:
            if given:
                self._seeded.add(generator)
        elif all(id(one) in self._unseeded_of_numpy for one in given):
            self._unseeded_of_numpy[id(generator)] = generator

    def is_deterministic(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
        """Whether a call of a method of a generator is deterministic.

        A call of `seed` sets or removes the seed first.
        """
        if name.startswith(GENERATOR):
            if name == f"{GENERATOR}.seed":
                seed = (*arguments[1:2], keywords.get("a"))[0]
                (self._seeded.discard if seed is None else self._seeded.add)(arguments[0])
            return arguments[0] in self._seeded
        return name.startswith(NUMPY_RANDOM) and self._is_deterministic_in_numpy(name, arguments, keywords)

    def _is_deterministic_in_numpy(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
        numpy: Any = sys.modules["numpy.random"]
        if name in _SEEDS:
            receiver = arguments[0] if name in _METHODS else numpy.mtrand._rand
            seed = next((one for one in (*arguments[name in _METHODS :], *keywords.values()) if one is not None), None)
            if receiver is numpy.mtrand._rand:
                self._is_numpy_seeded = seed is not None
            elif seed is None:
                self._unseeded_of_numpy[id(receiver)] = receiver
            else:
                self._unseeded_of_numpy.pop(id(receiver), None)
            return True
        if arguments and arguments[0] is numpy.mtrand._rand:
            return self._is_numpy_seeded
        return not arguments or id(arguments[0]) not in self._unseeded_of_numpy


_MAKERS = frozenset(NUMPY_RANDOM + name for name in NUMPY_GENERATORS)
_METHODS = frozenset({f"{NUMPY_RANDOM}RandomState.seed", f"{NUMPY_RANDOM}RandomState.set_state"})
_SEEDS = frozenset({*_METHODS, f"{NUMPY_RANDOM}seed", f"{NUMPY_RANDOM}set_state"})


# ---- files in memory that external objects hold: an archive writes to the `BytesIO` that the program has given to it


class _HeldFiles:
    """The files in memory that the object behind each proxy has got, or the object that made it."""

    def __init__(self) -> None:
        self._by_proxy: dict[int, dict[str, Any]] = {}

    def of_call(self, what: Sequence[Any]) -> Mapping[str, Any]:
        """The files that the receiver of a call holds, under names that no argument has."""
        return self._by_proxy.get(what[2], {}) if len(what) > 2 else {}

    def made(self, value: Any, arguments: Sequence[Any], keywords: Mapping[str, Any], held: Mapping[str, Any]) -> None:
        """Note that a call with these arguments, of an object that holds files, has made a proxy."""
        if not proxies.is_proxy(value):
            return
        files = [*held.values(), *(one for one in (*arguments, *keywords.values()) if _is_file(one))]
        if files:
            known = self._by_proxy.setdefault(proxies.number_of(value), {})
            for file in files:
                if not any(file is other for other in known.values()):
                    known[f"@{len(known)}"] = file


def _is_file(value: Any) -> bool:
    return isinstance(value, io.BytesIO | io.StringIO) and not proxies.is_proxy(value)


# ---- processes that the program forks: they run in a replay, too, so what the program does with them is not external

_FORKING_FUNCTIONS: Final = ("os.fork", "os.forkpty")
_TAKE_A_PROCESS: Final = frozenset({"os.waitpid", "os.kill"})


class _ForkedProcesses:
    """The processes that this one has forked."""

    def __init__(self) -> None:
        self._numbers: set[int] = set()

    def made(self, result: Any) -> None:
        """Note what a function that forks has returned: the number of the process, or a tuple that begins with it."""
        number = result[0] if isinstance(result, tuple) else result
        if number:
            self._numbers.add(number)

    def is_used(self, name: str, arguments: Sequence[Any]) -> bool:
        """Whether a call waits for one of these processes by its number, or sends it a signal."""
        return name in _TAKE_A_PROCESS and len(arguments) == 2 and arguments[0] in self._numbers


# ---- `RecordingContext`: the base of `Record` and `Replay`, so that a program cannot tell one from the other

_STANDARD_INPUT: Final = tuple(f"io.{kind.__name__}.{name}" for kind, names in METHODS.items() for name in names)
"""Methods that are external calls for the standard input and its buffer alone: all other files have proxies."""

_INPUT: Final = "builtins.input"

_NOT_EXTERNAL: Final = frozenset(
    (*STARTING_FUNCTIONS, *_STANDARD_INPUT, GENERATOR, TASKS_IN_SETS, *READERS, *_FORKING_FUNCTIONS)
)
"""Functions that are intercepted, although their own calls are not external."""

_registered: Final[dict[int, Any]] = {}
"""The functions that have the overload `_intercept`, by identity. They are kept alive, so that identities stay."""


class RecordingContext(Context, events=Events.NONE):
    """The base of `Record` and `Replay`.

    Parameters
    ----------
    boundary:
        Dotted names of functions whose calls are external, in addition to `BOUNDARY`.
    mask:
        Names of secrets, see `Mask`.
    without:
        External calls that are not intercepted: groups or names, see `leading_outside`.
    places:
        Folders whose paths may differ in a replay, by the names that replace them in the recording.
    options:
        Which requests are ignored, and what is filtered.
    """

    inherit: ClassVar[bool] = True
    names_earlier_holders: ClassVar[bool] = True
    follows_roots: ClassVar[bool] = True

    def __init__(
        self,
        boundary: Iterable[str] = (),
        mask: Iterable[str] = (),
        without: Iterable[str] = (),
        places: Mapping[str, str] | None = None,
        options: RequestOptions = NO_OPTIONS,
    ) -> None:
        super().__init__()
        self._boundary = tuple(boundary)
        self._without = tuple(without)
        self._mask = Mask(mask, places)
        self._requests = CarriedRequests(options, self._mask)
        self._names: dict[int, str] = {}
        self._lock = threading.RLock()
        self._program_objects: dict[int, tuple[Any, int]] = {}
        self._program_objects_by_number: list[Any] = []
        self.generators = _RandomGenerators()
        self.jobs = StartedJobs(self)
        self._held_files = _HeldFiles()
        self._encode_argument = Encoder(self._encode_object)
        self._process = os.getpid()
        self._blocks = 0
        if MAIN_NAMES:
            follow_standard_input()
        self._standard_input = sys.stdin
        self.forked_processes = _ForkedProcesses()
        self.is_paused = False
        takers = [*STARTING_FUNCTIONS, *CALLBACK_TAKERS, *READERS, *LATE_CALLERS, *JOBS_OF_THREAD_POOLS, TASKS_IN_SETS]
        takers += _FORKING_FUNCTIONS
        names = [*leading_outside(self._without), *takers, *_STANDARD_INPUT, *self._boundary]
        self._watcher = BoundaryWatcher(names, self._register)
        self.intercepts_environment = ENVIRONMENT not in self._without
        if self.intercepts_environment:
            _intercept_environment()
        watch_loops(_queue_for)

    def _register(self, found: Sequence[BoundaryFunction]) -> None:
        """Intercept the calls of functions in the boundary that the watcher has found."""
        new = []
        HIGHER_ORDER.add_takers((one.name, underlying(one.function)) for one in found if one.name in CALLBACK_TAKERS)
        for one in found:
            target = underlying(one.function)
            if one.name in CALLBACK_TAKERS and one.name not in (*LATE_CALLERS, *STARTING_FUNCTIONS):
                continue
            self._names.setdefault(id(target), one.name)
            if id(target) not in _registered:
                _registered[id(target)] = target
                new.append(one.function)
        if new:
            # Twice the first one: with a single function, `register` could not know whether it is the overload.
            RecordingContext.overdub.register(*new, new[0])(_intercept)

    @hidden
    def call_from_standard_input(self, function: Any, *arguments: Any) -> Any:
        """Make a call of a method of `sys.stdin`, whoever has called it."""
        return _intercept(self, function, *arguments)

    def reads_standard_input(self, name: str, arguments: Sequence[Any]) -> bool:
        """Whether a call reads the standard input of the run, and not an object that the program has put there."""
        if sys.stdin is not self._standard_input:
            return False
        if name == _INPUT:
            return True
        if not arguments or not isinstance(sys.stdin, io.TextIOWrapper):
            return False
        return arguments[0] is sys.stdin or arguments[0] is sys.stdin.buffer

    def root_begins(self, function: Any) -> None:
        """Note that the block runs a function in the context, which need not make external calls."""
        self.met_calls = True

    def root_ended(self, function: Any) -> None:
        """Nothing is to be noted."""

    def block_begins(self) -> None:
        """Note that a ``with`` block begins. Blocks of one context may be nested, and in several threads."""
        with self._lock:
            self._blocks += 1

    def block_ends(self) -> bool:
        """Note that a ``with`` block ends; return whether it was the last one."""
        with self._lock:
            self._blocks -= 1
            return not self._blocks

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Activate the context in a block, without closing the recording or checking the replay afterwards."""
        super().__enter__()
        try:
            yield
        finally:
            super().__exit__(None, None, None)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Make the calls in this block as without this context."""
        before, self.is_paused = self.is_paused, True
        try:
            yield
        finally:
            self.is_paused = before

    # ---- implemented by Record and Replay

    def external_call(
        self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]
    ) -> Any:
        """The result of an external call for the program. `what` is written to the recording, see `recording_file`."""
        raise NotImplementedError

    def use(self, proxy: Any, kind: str, name: str, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        """The result of the use of a proxy for the program, see `UseHandler`."""
        raise NotImplementedError

    def variable(self, name: str, value: str | None) -> str | None:
        """The value of an environment variable for the program; `value` is the actual one."""
        raise NotImplementedError

    def variables(self, names: list[str]) -> list[str]:
        """The names of all environment variables for the program; `names` are the actual ones."""
        raise NotImplementedError

    def variable_changed(self, name: str) -> None:
        """Note that the program sets or deletes an environment variable: it is not recorded any more."""
        raise NotImplementedError

    def new_origin(self) -> Sequence[int]:
        """The origin of the thread or job that the current call sequence is about to start."""
        raise NotImplementedError

    def origin_of_many(self, origin: Sequence[int]) -> None:
        """Note that this is the origin of several jobs, each of which has one more number."""

    def job_began(self, origin: Sequence[int]) -> None:
        """Note that the thread or job of this origin is running."""

    def job_ended(self, origin: Sequence[int]) -> None:
        """Note that the thread or job of this origin has ended."""

    def watched_loop(self, loop: Any) -> LoopQueue | None:
        """The queue for an event loop that begins to run; None for a loop that is neither recorded nor replayed."""
        raise NotImplementedError

    def live_loop(self) -> Any:
        """The queue of the running loop, if this context records or replays the loop."""
        queue = queue_of_running_loop()
        return queue if queue is not None and queue.context is self else None

    def as_started(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """What runs in a job or thread that is being started, in a call sequence of its own."""
        is_other = self.is_paused or IN_EXTERNAL_CALL.get() or self.is_in_fork
        return run if is_other else self.jobs.named(run)

    # ---- processes that the program forks

    @property
    def is_in_fork(self) -> bool:
        """Whether the program has forked this process: what happens there is neither recorded nor replayed."""
        return os.getpid() != self._process

    @hidden
    def call_in_fork(
        self, what: list[Any], function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]
    ) -> Any:
        """Make a call of a function in the boundary, in a forked process."""
        real = proxies.with_real_objects
        return fallback(self, function, *real(arguments), **real(dict(keywords)))

    # ---- arguments

    def encoded_arguments(
        self, arguments: Sequence[Any], keywords: Mapping[str, Any], what: Sequence[Any]
    ) -> list[Any]:
        """The arguments of a call as the recording compares and shows them."""
        if not arguments and not keywords:
            return [[], []]
        encode = self._encode_argument
        encoded = [
            [encode(argument)[0] for argument in arguments],
            [[name, encode(value)[0]] for name, value in keywords.items()],
        ]
        filled = place_of_filled_buffer(what, arguments)
        if filled is not None:
            encoded[0][filled] = {"buffer": length_of(arguments[filled])}
        if what[0] == "set":  # the name of the attribute may be that of a secret
            pair = self._mask.arguments([what[1].rpartition(".")[2], encoded[0][0]])
            return [[shortened(pair[1])], []]
        masked: list[Any] = shortened(self._mask.arguments(encoded))
        return masked

    def _encode_object(self, value: Any) -> tuple[Any, Any]:
        """An argument that cannot be serialised, by its class, and by a number if it can come back as a result."""
        kind = type(value)
        if proxies.is_proxy(value):
            return {"handle": [proxies.number_of(value), f"{kind.__module__}:{kind.__qualname__}"]}, value
        known = self._program_objects.get(id(value))
        if known is None or known[0]() is not value:
            try:
                reference = weakref.ref(value)
            except TypeError:
                return {"own": [-1, f"{kind.__module__}:{kind.__qualname__}"]}, value
            known = self._program_objects[id(value)] = reference, len(self._program_objects_by_number)
            self._program_objects_by_number.append(reference)
        return {"own": [known[1], _title(value)]}, value

    # ---- functions of the program

    def note_late_call(self, name: str) -> None:
        """Note that the program has registered a function which is called at a moment that no recording contains."""

    def as_callback(self, value: Any) -> Any:
        """A proxy of a function in the boundary, for code that is not overdubbed; any other value itself."""
        if not callable(value) or type(value) is ExternalCallback:
            return value
        name = self._names.get(id(split(value)[0]))
        return value if name is None or name in _NOT_EXTERNAL else ExternalCallback(self, value)


class ExternalCallback:
    """A function of the boundary that code outside of the overdubbed packages calls for the program."""

    def __init__(self, context: RecordingContext, function: Callable[..., Any]) -> None:
        self._context = context
        self._function = function
        functools.update_wrapper(self, function, updated=())

    @hidden
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if not any(context is self._context for context in ACTIVE.get().contexts):
            return self._function(*arguments, **keywords)
        token = CALLED_BACK.set(True)
        try:
            return overdub(self._context, self._function, *arguments, **keywords)
        finally:
            CALLED_BACK.reset(token)

    def __reduce__(self) -> Any:
        return _itself, (self._function,)


def _itself(function: Any) -> Any:
    return function


@hidden
def _intercept(ctx: RecordingContext, f: Any, /, *args: Any, **kwargs: Any) -> Any:
    """The overload of all functions in the boundary."""
    ctx.met_calls = True
    name = ctx._names.get(id(f))
    if name is None or ctx.is_paused or IN_EXTERNAL_CALL.get() or is_made_by_loop():
        return fallback(ctx, f, *args, **kwargs)
    if ctx.is_in_fork:
        return ctx.call_in_fork(["call", name], f, args, kwargs)
    if name in _FORKING_FUNCTIONS:
        made = fallback(ctx, f, *args, **kwargs)
        ctx.forked_processes.made(made)
        return made
    if ctx.forked_processes.is_used(name, args):
        return fallback(ctx, f, *args, **kwargs)
    if name in STARTING_FUNCTIONS:
        return ctx.jobs.start_thread(STARTING_FUNCTIONS[name], f, args, kwargs)
    if name in JOBS_OF_THREAD_POOLS:
        return ctx.jobs.start_in_thread_pool(JOBS_OF_THREAD_POOLS[name], f, args, kwargs)
    if name in LATE_CALLERS:
        ctx.note_late_call(name)
        return fallback(ctx, f, *args, **kwargs)
    if name in READERS:
        return overdub(ctx, _copy_of(f), *args, **kwargs)
    if name == TASKS_IN_SETS:
        return fallback(ctx, f, *(_tasks_of(ctx, argument) for argument in args), **kwargs)
    if ctx.generators.makes_generator(name):
        made = fallback(ctx, f, *args, **kwargs)
        ctx.generators.made(name, made, args, kwargs)
        return made
    if ctx.generators.is_deterministic(name, args, kwargs):
        return fallback(ctx, f, *args, **kwargs)
    if (name == _INPUT or name in _STANDARD_INPUT) and not ctx.reads_standard_input(name, args):
        return fallback(ctx, f, *args, **kwargs)
    return ctx.external_call(["call", name], f, args, kwargs)


@functools.lru_cache
def _copy_of(function: types.FunctionType) -> types.FunctionType:
    """The same function as another object, whose calls are not intercepted."""
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _tasks_of(ctx: RecordingContext, value: Any) -> Any:
    """A list or set of awaitables with tasks instead of coroutines, which are made in its order."""
    if not isinstance(value, list | tuple | set | frozenset | dict) or queue_of_running_loop() is None:
        return value
    return [overdub(ctx, _started_task, one) if is_awaitable(one) else one for one in dict.fromkeys(value)]


def _started_task(awaitable: Any) -> Any:
    """A task that inherits the contexts which are active here; the module of asyncio's own function stays plain."""
    return sys.modules["asyncio"].ensure_future(awaitable)


def _queue_for(loop: Any) -> LoopQueue | None:
    """The queue for an event loop that begins to run: that of the innermost context which records or replays it."""
    for context in reversed(ACTIVE.get().contexts):
        if isinstance(context, RecordingContext) and not context.is_paused and not IN_EXTERNAL_CALL.get():
            queue = context.watched_loop(loop)
            if queue is not None:
                return queue
    return None


def _title(value: Any) -> str:
    named = value if hasattr(type(value), "__get__") and hasattr(value, "__qualname__") else type(value)
    return f"{getattr(named, '__module__', None)}:{named.__qualname__}"
