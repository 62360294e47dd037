"""Rules for threads, executors, event loops, futures, queues, and functions that call another one later.

What runs elsewhere runs in the contexts that are inherited, which share the shadow store. So what it reads from
variables, attributes, containers and globals has its metadata; its arguments and its results are carried by the rules
here.
"""

from __future__ import annotations

import _thread
import atexit
import contextvars
import functools
import queue
import sys
import threading
import weakref
from types import AsyncGeneratorType, FunctionType, MethodType
from typing import Any, Final

from cassette_import.interpreter.callables import split
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.dispatch.callee_proxy import shown_callee
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.overdubbed_code import OVERDUBBED
from cassette_import.runtime.state import ACTIVE, THREADS_IN_CONTEXTS
from cassette_import.runtime.tagging.bound_names import SENT
from cassette_import.runtime.tagging.fast_path import RETURN_METHOD_RESULT, RULED_ALWAYS
from cassette_import.runtime.tagging.held_metadata import holds_metadata, leads_to
from cassette_import.runtime.tagging.leaf_call import PROPAGATE, LeafCall, without_rule
from cassette_import.runtime.tagging.lost_metadata import lose, lose_number
from cassette_import.runtime.tagging.parcels import arrived, leaving, send, start_sending
from cassette_import.runtime.tagging.plain_bodies import note_resumption
from cassette_import.runtime.tagging.rule_table import RULES, rule, rule_of_code, rule_of_python_function
from cassette_import.runtime.tagging.rules.construction import construct
from cassette_import.runtime.tagging.shadow_store import Store
from cassette_import.runtime.tagging.tags import Tag
from cassette_import.runtime.tagging.thread_state import LOCAL
from cassette_import.runtime.tagging.wrappers import Tagged, plain

# ---- rules for what wakes up other threads: a thread that has begun outside of the contexts runs plain code
#
# It reads queues, variables and containers without their metadata, and no rule is called there. So what it could read
# is searched where it is woken up.

_DEPTH = 4
_MOST_OBJECTS = 300


@hidden
def _variables_of_other_threads() -> list[Any]:
    """The values of the variables of all threads that run plain code, those that are wrapped as they are."""
    found: list[Any] = []
    own = _thread.get_ident()
    for identity, innermost in sys._current_frames().items():
        frame: Any = innermost
        while frame is not None and identity != own and identity not in THREADS_IN_CONTEXTS:
            found += dict(frame.f_locals).values()
            frame = frame.f_back
    return found


@hidden
def note_wake_up(call: LeafCall) -> None:
    """A call is about to wake up other threads; what it is given, they may read."""
    tags = [(level, tag) for level, tag in enumerate(call.activation.tags) if tag is not None and tag.lost != "ignore"]
    given = [one for one in (*call.arguments[1:], *call.keywords.values()) if type(one) is Tagged]
    if not tags or not (given or call.store) or threading.active_count() == 1:
        return
    variables = _variables_of_other_threads()
    for level, tag in tags:
        if variables and _may_be_read(call, variables, given, tag):
            lose(call.activation.contexts[level], "a thread that has begun as plain code")


@hidden
def _may_be_read(call: LeafCall, variables: list[Any], given: list[Tagged], tag: Tag) -> bool:
    if any(tag in one._tagged_metas for one in given) and leads_to(variables, call.owner, _DEPTH, _MOST_OBJECTS):
        return True
    if any(type(value) is Tagged and tag in value._tagged_metas for value in variables):
        return True
    return holds_metadata(variables, tag, _DEPTH, _MOST_OBJECTS)


@rule_of_code("threading", "Event.set", "Condition.notify", "Condition.notify_all", "Semaphore.release")
@rule_of_code("threading", "BoundedSemaphore.release", "Barrier.wait")
@rule(type(threading.Lock()).release, type(threading.RLock()).release)
@hidden
def wake_up(call: LeafCall) -> Any:
    note_wake_up(call)
    return plain(call.native())


# ---- rules for threads, executors, event loops, futures and queues

_OF_THE_PROGRAM: Final = (FunctionType, MethodType)


class Later:
    """A function of the program that runs in another thread, job or task: it gets its arguments wrapped there."""

    def __init__(self, function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> None:
        functools.update_wrapper(self, plain(function), updated=())
        self._function = shown_callee(function)  # a higher-order leaf gets a proxy, whose call would be an event too
        self._given = given
        self._named = named

    def __repr__(self) -> str:
        return repr(plain(self._function))

    def __eq__(self, other: object) -> bool:
        return self is other or bool(plain(self._function) == other)

    def __hash__(self) -> int:
        return hash(plain(self._function))

    @hidden
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        activation = ACTIVE.get()
        if activation.variant is None or not activation.variant.tagging:
            return plain(self._function)(*arguments, **keywords)
        if len(arguments) == len(self._given):
            arguments = tuple(map(_wrapped_again, self._given, arguments))
        keywords = {name: _wrapped_again(self._named.get(name), value) for name, value in keywords.items()}
        runner = activation.variant.runners[int(Events.CALLS)]
        function, *leading = split(self._function)
        if type(self._function) in _OF_THE_PROGRAM and id(function) not in runner.plan.targets:
            result = PROPAGATE[0](activation, self._function, function, tuple(leading), arguments, keywords)
        else:  # a hook or overload of it applies, as for callbacks of other leaves
            result = runner.event(self._function, *arguments, **keywords)
        if type(result) is not Tagged:
            return result
        LOCAL.returned = result = leaving(result)
        return result._tagged_value


@hidden
def _wrapped_again(given: Any, value: Any) -> Any:
    return given if type(given) is Tagged and given._tagged_value is value else value


@hidden
def _later(function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A function as it is called elsewhere. One of the program reads all but its arguments with metadata."""
    if type(function) in _OF_THE_PROGRAM and not any(type(one) is Tagged for one in (*given, *named.values())):
        return function
    return function if type(plain(function)) is Later or _is_job(plain(function)) else Later(function, given, named)


def _is_job(function: Any) -> bool:
    """Whether a context has put a callable of its own in the place of the program's."""
    return str(type(function).__module__).startswith("cassette_import.")


# ---- what starts something elsewhere


@hidden
def _note_start(call: LeafCall) -> None:
    """Contexts that are not inherited lose what the function would read elsewhere."""
    start_sending()
    for level, tag in enumerate(call.activation.tags):
        if tag is None or tag.lost == "ignore" or call.activation.contexts[level].inherit:
            continue
        given = (*call.arguments, *call.keywords.values())
        if (
            any(type(one) is Tagged and tag in one._tagged_metas for one in given)
            or holds_metadata(given, tag)
            or any(_reads_global(call.store, plain(one), tag) for one in given)
        ):
            lose(call.activation.contexts[level], call.function)


def _reads_global(store: Store, started: Any, tag: Tag) -> bool:
    """Whether a function, or the target of a thread, names a global variable with metadata."""
    function = getattr(started, "_target", started) if isinstance(started, threading.Thread) else started
    function = getattr(function, "__func__", function)
    code = getattr(function, "cr_code", getattr(function, "__code__", None))
    frame = getattr(function, "cr_frame", None)
    namespace = getattr(function, "__globals__", None) if frame is None else frame.f_globals
    entry = store.items.of(namespace) if namespace is not None else None
    if code is None or entry is None:
        return False
    names = OVERDUBBED.plain_code_of(code).co_names
    return any(name in entry.slots and tag in entry.slots[name][1] for name in names)


@rule_of_code("threading", "Thread.start")
@rule_of_code(
    "asyncio.tasks", "create_task", "ensure_future", "_ensure_future", "gather", "shield", "wait", "wait_for",
    "as_completed", "run_coroutine_threadsafe",
)  # fmt: skip
@rule_of_code("asyncio.taskgroups", "TaskGroup.create_task")
@rule_of_code("asyncio.base_events", "BaseEventLoop.create_task")
@rule_of_code("asyncio.runners", "Runner.run", "run")
@rule_of_code("asyncio.base_events", "BaseEventLoop.run_until_complete")
@hidden
def start(call: LeafCall) -> Any:
    """What runs is known to the argument: a coroutine, or a thread that was made before."""
    if any(type(one) is Tagged for one in (*call.arguments, *call.keywords.values())):
        return without_rule(call)
    if not call.function.__name__.startswith("run"):
        _note_start(call)
    else:
        _note_tasks_of_loop(call.owner)
    start_sending()
    LOCAL.returned = None
    value = call.native_then_drop_stale()
    found = LOCAL.returned
    if found is not None and found._tagged_value is value:
        return found
    return arrived(value)


@hidden
def _note_tasks_of_loop(loop: Any) -> None:
    """An event loop is about to run: tasks of it may have begun as plain code."""
    module: Any = sys.modules.get("asyncio.tasks")
    if FLAGS[METADATA_EXISTS] and module is not None and is_a(loop, sys.modules["asyncio.events"].AbstractEventLoop):
        for task in module.all_tasks(loop):
            note_resumption(task.get_coro())


@rule_of_code("concurrent.futures.thread", "ThreadPoolExecutor.submit")
@rule_of_code("asyncio.threads", "to_thread")
@rule_of_code(
    "asyncio.base_events", "BaseEventLoop.run_in_executor", "BaseEventLoop.call_soon", "BaseEventLoop.call_later",
    "BaseEventLoop.call_at", "BaseEventLoop.call_soon_threadsafe",
)  # fmt: skip
@hidden
def call_elsewhere(call: LeafCall) -> Any:
    """A function that calls another one elsewhere, with the arguments that follow."""
    number = _PLACES.get(call.function.__name__, 1)
    if len(call.arguments) <= number or not callable(plain(call.arguments[number])):
        return without_rule(call)
    if any(type(one) is Tagged for one in call.arguments[:number]):
        return without_rule(call)
    _note_start(call)
    later = _later(call.arguments[number], call.arguments[number + 1 :], call.keywords)
    given = call.arguments[number + 1 :]
    first = len(call.leading)
    arguments = [*call.arguments[first:number], later, *given]
    return call.callee(*map(plain, arguments), **call.plain_keywords)


_PLACES: Final = {"to_thread": 0, "run_in_executor": 2, "call_later": 2, "call_at": 2}
"""The number of the argument that is called, if it is not the second one."""


@hidden
def given_to_target(call: LeafCall, names: tuple[str, ...], arguments: str = "args") -> dict[str, Any]:
    """The arguments of a thread by name, with the target replaced if its arguments have metadata."""
    found = {**dict(zip(names, call.given, strict=False)), **call.keywords}
    values, named = plain(found.get(arguments)), plain(found.get("kwargs"))
    target = next((name for name in ("target", "function", "action") if name in found), None)
    if target is None or not callable(plain(found[target])):
        return found
    items = tuple(call.store.wrapped_items(values)) if isinstance(values, (list, tuple)) else ()
    slots = call.store.slots_by_key(named) if type(named) is dict else {}
    keywords = {key: Tagged(*slot) for key, slot in list(slots.items())}
    found[target] = _later(found[target], items, keywords)
    return found


_THREAD: Final = ("group", "target", "name", "args", "kwargs")
_TIMER: Final = ("interval", "function", "args", "kwargs")


@hidden
def _make_thread(call: LeafCall, names: tuple[str, ...]) -> Any:
    found = given_to_target(call, names)
    return call.callee(**{name: plain(value) for name, value in found.items()})


@rule(threading.Thread)
@hidden
def make_thread(call: LeafCall) -> Any:
    return _make_thread(call, _THREAD)


@rule(threading.Timer)
@hidden
def make_timer(call: LeafCall) -> Any:
    return _make_thread(call, _TIMER) if type(call.given[0] if call.given else None) is not Tagged else construct(call)


@rule_of_code("threading", "Thread.__init__")
@hidden
def initialise_thread(call: LeafCall) -> Any:
    """Called by the `__init__` of a subclass."""
    if not call.leading:  # `Thread.__init__(self, ...)`
        call = LeafCall(
            call.activation, call.store, functools.partial(call.callee, plain(call.given[0])), call.function,
            call.given[:1], call.given[1:], call.keywords,
        )  # fmt: skip
    return _make_thread(call, _THREAD)


@rule_of_code("asyncio.tasks", "sleep")
@hidden
def sleep(call: LeafCall) -> Any:
    """The result is an argument."""
    start_sending()
    delay, *given = call.arguments
    named = dict(call.keywords)
    if given and type(given[0]) is Tagged:
        given[0] = send(call.store, given[0], "the result of a task")
    elif type(named.get("result")) is Tagged:
        named["result"] = send(call.store, named["result"], "the result of a task")
    return call.callee(plain(delay), *map(plain, given), **{name: plain(one) for name, one in named.items()})


# ---- results


@rule_of_code("concurrent.futures._base", "Future.result")
@rule_of_code("asyncio.futures", "Future.result")
@rule_of_code("queue", "Queue.get", "Queue.get_nowait")
@rule_of_code("asyncio.queues", "Queue.get_nowait")
@rule(queue.SimpleQueue.get, queue.SimpleQueue.get_nowait)
@hidden
def receive(call: LeafCall) -> Any:
    if any(type(one) is Tagged for one in call.arguments):
        return without_rule(call)
    return arrived(call.native())


_FIRST_IN_FIRST_OUT: Final = frozenset({"Queue", "LifoQueue", "SimpleQueue", "Future", "Task"})


@rule_of_code("concurrent.futures._base", "Future.set_result")
@rule_of_code("asyncio.futures", "Future.set_result")
@rule_of_code("queue", "Queue.put", "Queue.put_nowait")
@rule_of_code("asyncio.queues", "Queue.put", "Queue.put_nowait")
@rule(queue.SimpleQueue.put, queue.SimpleQueue.put_nowait)
@hidden
def put(call: LeafCall) -> Any:
    """A queue with an order compares its items."""
    if type(call.owner).__name__ not in _FIRST_IN_FIRST_OUT:
        return without_rule(call)
    start_sending()
    note_wake_up(call)
    first = len(call.leading)
    sent = [send(call.store, one, "a queue") if type(one) is Tagged else one for one in call.arguments[1:]]
    named = {
        name: send(call.store, one, "a queue") if type(one) is Tagged else one for name, one in call.keywords.items()
    }
    arguments = (call.arguments[0], *sent)[first:]
    return call.callee(*map(plain, arguments), **{name: plain(value) for name, value in named.items()})


@rule_of_code("concurrent.futures._base", "Executor.map")
@rule_of_code("concurrent.futures.process", "ProcessPoolExecutor.map")
@hidden
def map_elsewhere(call: LeafCall) -> Any:
    """The function gets the items wrapped, and the iterator that is returned has a cursor for the results."""
    if call.function.__qualname__.startswith("Process") or len(call.arguments) < 3:
        return without_rule(call)
    _note_start(call)
    executor, function, *sources = call.arguments
    if not callable(plain(function)) or any(type(one) is Tagged for one in call.keywords.values()):
        return without_rule(call)
    iterables = [[*call.store.wrapped_items(one)] if type(plain(one)) in (list, tuple) else one for one in sources]
    if any(type(one) is Tagged for one in iterables):
        return without_rule(call)
    is_foreign = type(function) not in _OF_THE_PROGRAM and not _is_job(plain(function))
    if is_foreign or any(type(item) is Tagged for one in iterables if type(one) is list for item in one):
        rows = list(zip(*iterables, strict=False))
        function = _Row(function, rows)
        iterables = [range(len(rows))]
    made = plain(executor).map(plain(function), *map(plain, iterables), **call.plain_keywords)
    call.store.iterators.make(made).extra = _metas_of_result
    return made


class _Row:
    """The function of `Executor.map`, which gets the items of a row wrapped."""

    def __init__(self, function: Any, rows: list[tuple[Any, ...]]) -> None:
        self._function = function
        self._rows = rows

    @hidden
    def __call__(self, number: int) -> Any:
        row = self._rows[number]
        return Later(self._function, row, {})(*map(plain, row))


@hidden
def _metas_of_result(value: Any) -> Any:
    found = arrived(value)
    return found._tagged_metas if type(found) is Tagged else None


@hidden
def cancel(call: LeafCall) -> Any:
    """The message becomes the argument of an exception."""
    for one in (*call.arguments[1:], *call.keywords.values()):
        if type(one) is Tagged:
            lose_number(one._tagged_metas, "the message of a cancelled task")
    return call.native()


@rule(AsyncGeneratorType.asend)
@hidden
def send_to_generator(call: LeafCall) -> Any:
    """`waiting` hands the wrapper over when the generator is resumed."""
    made = call.native()
    if len(call.arguments) == 2 and type(call.arguments[1]) is Tagged:
        call.store.store_part(call.store.attributes, made, SENT, call.arguments[1])
    return made


_RECEIVING: Final = (
    ("queue", "Queue", ("get", "get_nowait")),
    ("queue", "SimpleQueue", ("get", "get_nowait")),
    ("concurrent.futures._base", "Future", ("result",)),
    ("concurrent.futures._base", "Executor", ("map",)),
    ("_asyncio", "Future", ("result",)),
    ("_asyncio", "Task", ("result",)),
    ("asyncio.queues", "Queue", ("get_nowait",)),
    ("asyncio.runners", "Runner", ("run",)),
    ("asyncio.runners", "", ("run",)),
    ("asyncio.base_events", "BaseEventLoop", ("run_until_complete",)),
)
"""Methods that wait for values: these may be tagged meanwhile for the first time."""


def begin() -> None:
    """A thread, job or task has inherited contexts that tag values."""
    start_sending()
    module: Any = sys.modules.get("_asyncio")
    if module is not None and id(module.Task.result) not in RULES:  # futures and tasks that are written in C
        rule(module.Future.result, module.Task.result)(receive)
        rule(module.Future.set_result)(put)
        rule(module.Future.cancel, module.Task.cancel)(cancel)
    for name, kind, methods in _RECEIVING:
        module = sys.modules.get(name)
        owner = getattr(module, kind, None) if kind else module
        for method in methods if owner is not None else ():
            function = getattr(owner, method, None)
            if not callable(function):  # gevent replaces modules and classes
                continue
            if method.startswith("run"):
                RETURN_METHOD_RESULT.add(id(function))  # a call that has begun before
            known = RULES[id(function)].rule_function if id(function) in RULES else rule_of_python_function(function)
            if known is not None and id(function) not in RULED_ALWAYS:
                rule(function, while_untagged=True)(known)


# ---- rules for functions that keep another one with its arguments, and call it later in the same thread
#
# These are schedulers, finalizers, exit functions, and `Context.run`, which calls it at once in other context
# variables.


@hidden
def _keep(call: LeafCall, place: int) -> Any:
    """The function at some place is called with the arguments that follow: it gets those wrapped."""
    before, given = call.arguments[:place], call.arguments[place + 1 :]
    has_metadata = any(type(one) is Tagged for one in (*given, *call.keywords.values()))
    if not has_metadata or any(type(one) is Tagged for one in before):
        return without_rule(call)
    arguments = (*before, Later(call.arguments[place], given, call.keywords), *given)[len(call.leading) :]
    return call.callee(*map(plain, arguments), **call.plain_keywords)


@rule(weakref.finalize)
@hidden
def make_finalizer(call: LeafCall) -> Any:
    return _keep(call, 1)


@rule(atexit.register)
@rule_of_code("contextlib", "AsyncExitStack.push_async_callback")
@hidden
def register_function(call: LeafCall) -> Any:
    place = len(call.arguments) > 1 and call.function is not atexit.register
    found = _keep(call, int(place))
    return call.arguments[int(place)] if type(found) is Later else found


@rule(contextvars.Context.run)
@hidden
def run_in_context(call: LeafCall) -> Any:
    LOCAL.returned = None
    value = _keep(call, 1)
    found = LOCAL.returned
    return found if found is not None and found._tagged_value is value else arrived(value)


_OF_EVENTS = ("time", "priority", "action", "argument", "kwargs")


@rule_of_code("sched", "scheduler.enterabs", "scheduler.enter")
@hidden
def schedule(call: LeafCall) -> Any:
    names: tuple[str, ...] = _OF_EVENTS
    if call.function.__name__ == "enter":
        names = ("delay", *names[1:])
    if not call.leading:  # `scheduler.enter(s, ...)`
        names = ("self", *names)
    given = (*call.given, *call.keywords.values())
    if len(call.given) > len(names) or any(type(one) is Tagged for one in given):
        return without_rule(call)
    found = given_to_target(call, names, arguments="argument")
    return call.callee(**{name: plain(value) for name, value in found.items()})
