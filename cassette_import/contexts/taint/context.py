"""The context `Taint`: finds untrusted values that reach a sink, such as an SQL injection.

The result of a source is tagged. Its metadata propagates through everything that moves it or computes text from it,
until a sink receives it.
"""

from __future__ import annotations

import asyncio
import builtins
import dataclasses
import functools
import json
import os
import queue
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import PurePath
from threading import RLock
from types import ModuleType
from typing import Any, ClassVar, Final

from cassette_import.activation.context import Context
from cassette_import.activation.tagging import NO_METADATA, allmetadata, untag
from cassette_import.activation.verbs import fallback, recurse
from cassette_import.contexts.taint.rules import SANITIZERS, SINKS, SOURCES, Sanitizer, Sink
from cassette_import.importing.post_import import POST_IMPORT
from cassette_import.interpreter.callables import underlying
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.events import ACTIVE, CallSite, nearest_site
from cassette_import.kits.main_program import MAIN, MAIN_NAMES
from cassette_import.kits.numbers.overloads import call_without_overload
from cassette_import.kits.reporting import Writer
from cassette_import.kits.tagging import (
    WATCHES,
    Tagged,
    hold_metadata,
    leaving,
    note_watching,
    plain,
    release_metadata,
    tag_of,
    tag_with_parts,
)
from cassette_import.kits.targets import never_called, track
from cassette_import.kits.text import short_path
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.symbols import ATTRIBUTES_WATCHED

__all__ = ["Finding", "Sanitizer", "Sink", "Taint", "TaintError"]


# ---- the modules that `taint` waits for: sources, sinks and sanitizers count once their module has been executed

_awaiting: Final[weakref.WeakSet[_AwaitedModules]] = weakref.WeakSet()
_awaited: Final[set[str]] = set()
"""The modules of which `POST_IMPORT` gives notice."""


class _AwaitedModules:
    """Reports each module that may contain one of the dotted names, when it has been executed.

    It works as long as it is kept alive.

    Parameters
    ----------
    names:
        The dotted names.
    executed:
        Called with the name of the module.
    """

    def __init__(self, names: Iterable[str], executed: Callable[[str], None]) -> None:
        self._modules = {module for name in names for module in _modules_of(name)}
        self._executed = executed
        _awaiting.add(self)
        for module in self._modules - _awaited:
            _awaited.add(module)
            POST_IMPORT.when_imported(module, _report)
        POST_IMPORT.come_first()

    def report(self, module: str) -> None:
        """Report a module, if it is awaited."""
        if module in self._modules:
            self._executed(module)

    def awaits(self, module: str) -> bool:
        """Whether it waits for a module."""
        return module in self._modules


def _take_care_while_executed(names: Iterable[str]) -> None:
    """Let each event be taken with care while the modules of these names are executed.

    They may call their own functions before these are known.
    """
    for name in names:
        for module in _modules_of(name):
            if module not in sys.modules:
                POST_IMPORT.beginning[module] = Care


_EXECUTING: Final[list[Any]] = []
"""A token for each such module that is being executed. Each token counts as metadata."""


class Care:
    """The manager of a block in which each event is taken with care, as if there were metadata."""

    def __enter__(self) -> None:
        hold_metadata(_EXECUTING)

    def __exit__(self, *exception: object) -> None:
        release_metadata(_EXECUTING)


def _modules_of(name: str) -> list[str]:
    """The names of the modules that may contain what a dotted name refers to."""
    found = []
    module = name.rpartition(".")[0]
    while module:
        found.append(module)
        module = module.rpartition(".")[0]
    return found


def _report(name: str, module: ModuleType) -> None:
    awaiting = [one for one in list(_awaiting) if one.awaits(name)]
    for one in awaiting:
        one.report(name)
    if not awaiting:
        _awaited.discard(name)
        POST_IMPORT.beginning.pop(name, None)
        POST_IMPORT.forget(name, _report)


# ---- the functions and attributes that dotted names refer to, in modules that may be imported later

_MISSING: Final = object()


class _Functions:
    """Functions with roles, given by dotted names, which are resolved once their modules are imported."""

    def __init__(self, roles: dict[str, Any], main: str | None = None) -> None:
        self.by_id: dict[int, tuple[Any, str, Any]] = {}
        """The function, its name and its role, by identity of the function."""
        self.main = main
        self._waiting = dict(roles)
        self._modules = 0

    def arrived(self, module: str | None = None) -> list[Any]:
        """The functions that were resolved since the last call.

        Parameters
        ----------
        module:
            The name of a module that has just been executed: only its functions are resolved.
        """
        # The number of modules is compared, because callbacks after imports would not do: a program may put modules
        # into `sys.modules` without importing them.
        if module is None:
            if len(sys.modules) == self._modules and not (_EXECUTING or self.awaits_main):
                return []
            self._modules = len(sys.modules)
        found = []
        for name, role in list(self._waiting.items()):
            function = self._located(name) if module is None or name.startswith(f"{module}.") else _MISSING
            if function is _MISSING:
                continue
            del self._waiting[name]
            if callable(function) or isinstance(function, (staticmethod, classmethod)):
                function = underlying(function)
                self.by_id[id(function)] = function, name, role
                found.append(function)
        return found

    @property
    def waiting(self) -> list[str]:
        """The names that are unresolved."""
        return list(self._waiting)

    @property
    def awaits_main(self) -> bool:
        """Whether a name of the program's own file is unresolved: its functions are defined while it runs."""
        mains = MAIN_NAMES or {MAIN}  # the first, before it has begun
        return any(self.full_name(name).startswith(f"{main}.") for name in self._waiting for main in mains)

    def full_name(self, name: str) -> str:
        """A name with the module in which it is: the program's file is `__main__`."""
        main = self.main
        is_in_main = main is not None and name.startswith(f"{main}.") and main not in sys.modules
        return name.replace(main or "", "__main__", 1) if is_in_main else name

    def _located(self, name: str) -> Any:
        parts = self.full_name(name).split(".")
        if len(parts) == 1:
            return getattr(builtins, name, _MISSING)
        count = next((n for n in range(len(parts) - 1, 0, -1) if ".".join(parts[:n]) in sys.modules), 0)
        if not count:
            return _MISSING
        found: Any = sys.modules[".".join(parts[:count])]
        for part in parts[count:]:
            # From dictionaries: `getattr` would run descriptors, which may return an object of an instance.
            found = _in_class(found, part) if isinstance(found, type) else vars(found).get(part, _MISSING)
            if not isinstance(found, type):
                return found if part is parts[-1] else _MISSING
        return found


def _in_class(owner: type, name: str) -> Any:
    for base in owner.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return _MISSING


def _may_exist(owner: str) -> bool:
    """Whether a module or class of a dotted name may exist: its module is imported, as far as one can tell."""
    parts = owner.split(".")
    for count in range(len(parts), 0, -1):
        module = sys.modules.get(".".join(parts[:count]))
        if module is not None:
            # The class may have left the module, but a package does not contain what one of its modules defines.
            return count == len(parts) or parts[count] in vars(module) or not hasattr(module, "__path__")
    return False


class _Attributes:
    """Attributes given by dotted names: of modules, and of instances of classes.

    Iteration gives the names of attributes that matter now. Those of classes whose modules are not imported do not:
    they have no instances.

    Parameters
    ----------
    names:
        The dotted names of the attributes.
    always:
        Dotted names of functions and attributes that matter before their modules are known to be imported.
    imported:
        Called when the number of modules has changed.
    """

    def __init__(self, names: Iterable[str], always: Iterable[str], imported: Callable[[], None]) -> None:
        self._imported = imported
        self._modules = self._listed_modules = 0
        self._listed: tuple[str, ...] = ()
        self._always = frozenset(name.rpartition(".")[2] for name in always)
        self._owners: dict[str, dict[str, str]] = {}
        for name in names:
            owner, _, attribute = name.rpartition(".")
            self._owners.setdefault(attribute, {})[owner] = name

    def note_main(self, main: str) -> None:
        """Note the name of the program's file: the owners that begin with it are in `__main__`."""
        for owners in self._owners.values():
            for owner, name in list(owners.items()):
                if owner == main or owner.startswith(f"{main}."):
                    owners[f"__main__{owner[len(main) :]}"] = name
        self._listed_modules = 0

    def __iter__(self) -> Iterator[str]:
        if _EXECUTING or len(sys.modules) != self._listed_modules:  # each entry of the context iterates
            self._listed_modules = len(sys.modules)
            self._listed = (*self._always, *self._that_may_exist())
        return iter(self._listed)

    def _that_may_exist(self) -> Iterator[str]:
        for attribute, owners in self._owners.items():
            if attribute not in self._always and any(map(_may_exist, owners)):
                yield attribute

    @property
    def dotted_names(self) -> list[str]:
        """The dotted names of the attributes."""
        return list(dict.fromkeys(name for owners in self._owners.values() for name in owners.values()))

    def find(self, owner: Any, attribute: Any) -> str | None:
        """The dotted name of an attribute of an object, if it is one of these; otherwise None."""
        owners = self._owners.get(attribute)
        if owners is None:
            return None
        if type(owner) is ModuleType:
            return owners.get(owner.__name__)
        kinds = type(owner).__mro__
        shown = getattr(owner, "__class__", None)  # a proxy reports the class of its target
        if isinstance(shown, type) and shown is not type(owner):
            kinds = (*kinds, *shown.__mro__)
        for kind in kinds:
            name = owners.get(f"{kind.__module__}.{kind.__qualname__}")
            if name is not None:
                return name
        return None

    def __contains__(self, attribute: object) -> bool:
        # The first use of a newly imported module is the load of an attribute.
        if _EXECUTING or len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._imported()
        return attribute in self._owners


# ---- the metadata of an untrusted value

_LONGEST_PATH: Final = 50
_MOST_PATHS: Final = 20


@dataclasses.dataclass(frozen=True)
class Path:
    """The path of one value from its source: the call sites that it passed."""

    source: str
    steps: tuple[CallSite, ...]
    safe_for: frozenset[str] = frozenset()

    def then(self, site: CallSite) -> Path:
        """The path with one more call site. Of several sites in one line, only the last and outermost one is kept."""
        steps = self.steps
        if len(steps) > 1 and (steps[-1].filename, steps[-1].lineno) == (site.filename, site.lineno):
            return dataclasses.replace(self, steps=(*steps[:-1], site))
        if site in steps or len(steps) >= _LONGEST_PATH:
            return self
        return dataclasses.replace(self, steps=(*steps, site))


@dataclasses.dataclass(frozen=True)
class Flow:
    """All paths by which a value came, up to a limit."""

    paths: tuple[Path, ...]

    def then(self, site: CallSite) -> Flow:
        """The flow after one more call site."""
        return Flow(tuple(path.then(site) for path in self.paths))

    def made_safe(self, kinds: frozenset[str]) -> Flow:
        """The flow after a sanitizer for these kinds of sinks."""
        return Flow(tuple(dataclasses.replace(path, safe_for=path.safe_for | kinds) for path in self.paths))

    def harmful(self, kind: str) -> Path | None:
        """The shortest path without a sanitizer for this kind of sink; None if there is none."""
        paths = [path for path in self.paths if kind not in path.safe_for]
        return min(paths, key=lambda path: len(path.steps), default=None)


def _merged(flows: Iterable[Flow]) -> Flow:
    """The flow of a value that was computed from several values."""
    found: dict[Any, Path] = {}
    for flow in flows:
        for path in flow.paths:
            key = path.source, path.steps[:1], path.safe_for
            if key not in found and len(found) < _MOST_PATHS:
                found[key] = path
    return Flow(tuple(found.values()))


@dataclasses.dataclass(frozen=True)
class Finding:
    """An untrusted value that reached a sink.

    Attributes
    ----------
    kind, sink:
        The kind of sink, and its name.
    source, path:
        The name of the source, and the call sites that the value passed: the source first, the call of the sink last.
    value:
        The value that reached the sink, shortened.
    """

    kind: str
    sink: str
    source: str
    path: tuple[CallSite, ...]
    value: str

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.source} reaches {self.sink}"]
        words = ["from", *["by"] * (len(self.path) - 2), "into"][: len(self.path)]
        for word, site in zip(words, self.path, strict=True):
            file = short_path(site.filename, [os.getcwd(), *sys.path])
            lines.append(f"  {word:4}  {file}:{site.lineno} in {site.function}: {' '.join(site.source.split())}")
        return "\n".join([*lines, f"  value {self.value}"])

    def as_json(self) -> dict[str, Any]:
        """The finding as values for JSON."""
        path = [
            {"file": site.filename, "line": site.lineno, "function": site.function, "source": site.source}
            for site in self.path
        ]
        return {"kind": self.kind, "sink": self.sink, "source": self.source, "path": path, "value": self.value}


# ---- how untrusted values pass between threads: as arguments and results of jobs, and through queues
#
# Each thread has tags of its own. So a value that leaves a thread is noted by its identity, with its flow, and the
# thread that gets it tags it again.

_MOST: Final = 10_000


class _Parcels:
    """The untrusted values that are on their way from one thread to another, the latest ones."""

    def __init__(self, tagged: Callable[[Any, Flow], Any]) -> None:
        self._tagged = tagged
        self._found: OrderedDict[int, tuple[Any, Flow]] = OrderedDict()

    def send(self, ctx: Any, value: Any) -> None:
        """Note a value that leaves the thread, if it is untrusted."""
        flows = allmetadata(ctx, value)
        if flows:
            self._found[id(plain(value))] = plain(value), _merged(flows)
            if len(self._found) > _MOST:
                self._found.popitem(last=False)

    def receive(self, value: Any) -> Any:
        """A value that has come to the thread, tagged if it is untrusted."""
        found = self._found.get(id(value)) if type(value) is not Tagged else None
        return value if found is None or found[0] is not value else self._tagged(value, found[1])


class Job:
    """A callable of the program that runs in another thread: its arguments are tagged there, its result is noted."""

    def __init__(self, ctx: Any, function: Any) -> None:
        self.__wrapped__ = plain(function)
        self.__name__ = getattr(plain(function), "__name__", type(function).__name__)
        self._ctx = ctx

    @hidden
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        variant = ACTIVE.get().variant
        if variant is None or not variant.tagging:
            return self.__wrapped__(*arguments, **keywords)
        receive = self._ctx.parcels.receive
        named = {name: receive(value) for name, value in keywords.items()}
        event = variant.runners[int(Events.CALLS)].event
        result = event(self.__wrapped__, *map(receive, arguments), **named)
        self._ctx.parcels.send(self._ctx, result)
        return plain(leaving(result) if type(result) is Tagged else result)


@hidden
def _put(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    for value in (*arguments[1:], *keywords.values()):
        ctx.parcels.send(ctx, value)
    return call_without_overload(f, arguments, keywords)


@hidden
def _get(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    return ctx.parcels.receive(call_without_overload(f, arguments, keywords))


@hidden
def _start(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    """The constructor of a thread: `target`, `args` and `kwargs` by position or name."""
    given = dict(zip(("group", "target", "name", "args", "kwargs"), arguments, strict=False), **keywords)
    values = _values(ctx, given.get("args")) + _values(ctx, given.get("kwargs"))
    if plain(given.get("target")) is not None:
        for value in values:
            ctx.parcels.send(ctx, value)
        given["target"] = Job(ctx, given["target"])
    return call_without_overload(f, (), given)


def _call_at(place: int) -> Callable[..., Any]:
    """The overload of a function that calls the argument at some place elsewhere, with the arguments that follow."""

    @hidden
    def call(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        if len(arguments) <= place:
            return call_without_overload(f, arguments, keywords)
        before, function, values = arguments[:place], arguments[place], arguments[place + 1 :]
        for value in (*values, *keywords.values()):
            ctx.parcels.send(ctx, value)
        return call_without_overload(f, (*before, Job(ctx, function), *values), keywords)

    return call


@hidden
def _map(ctx: Any, f: Any, executor: Any, function: Any, *iterables: Any, **keywords: Any) -> Any:
    """`Executor.map`: the items of lists and tuples are values."""
    for iterable in iterables:
        for value in _values(ctx, iterable):
            ctx.parcels.send(ctx, value)
    return call_without_overload(f, (executor, Job(ctx, function), *iterables), keywords)


def _values(ctx: Any, container: Any) -> list[Any]:
    """The items of a list or tuple, or the values of a dict, wrapped where they have metadata."""
    bare = plain(container)
    store = getattr(tag_of(ctx), "store", None)
    if store is None or not isinstance(bare, (list, tuple, dict)):
        return []
    if isinstance(bare, dict):
        slots = store.slots_by_key(bare)
        return [Tagged(*slots[key]) if key in slots else value for key, value in bare.items()]
    return list(store.wrapped_items(bare))


_HANDOVERS: Final[tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...]] = (
    (_put, (queue.Queue.put, queue.Queue.put_nowait, queue.SimpleQueue.put, queue.SimpleQueue.put_nowait,
            asyncio.Queue.put_nowait, asyncio.Queue.put, Future.set_result)),
    (_get, (queue.Queue.get, queue.Queue.get_nowait, queue.SimpleQueue.get, queue.SimpleQueue.get_nowait,
            asyncio.Queue.get_nowait, Future.result)),
    (_start, (threading.Thread,)),
    (_call_at(0), (asyncio.to_thread,)),
    (_call_at(1), (ThreadPoolExecutor.submit, asyncio.BaseEventLoop.call_soon,
                   asyncio.BaseEventLoop.call_soon_threadsafe)),
    (_call_at(2), (asyncio.BaseEventLoop.run_in_executor, asyncio.BaseEventLoop.call_later,
                   asyncio.BaseEventLoop.call_at)),
    (_map, (ThreadPoolExecutor.map,)),
)  # fmt: skip
"""The overloads, each with the functions that hand values over."""


# ---- the context `Taint`: finds untrusted values that reach a sink, such as an SQL injection

_SAFE: Final = (int, float, complex, type(None))
_LONGEST_VALUE: Final = 200


class TaintError(RuntimeError):
    """An untrusted value was about to reach a sink. `finding` describes it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


class Taint(Context, tagging=True):
    """Finds untrusted values that reach a sink without passing a sanitizer.

    Parameters
    ----------
    sources:
        Functions whose results, and attributes whose values, are untrusted: dotted names such as
        ``"shop.orders.read"`` or ``"shop.web.Request.parameters"``.
    sinks:
        Functions that must not receive such values: dotted names, or `Sink` objects, which describe more.
    sanitizers:
        Functions whose results are safe: dotted names, or `Sanitizer` objects.
    defaults:
        Whether to add the built-in `SOURCES`, `SINKS` and `SANITIZERS` of `cassette_import.contexts.taint.rules`.
    stop:
        Whether to raise a `TaintError` instead of calling the sink.

    Numbers, truth values and None are safe. Functions of modules that are imported later count from then on.

    On the command line, ``-c taint:sources=shop.orders.read+shop.orders.search,sinks=shop.store.query``.

    Example
    -------
    >>> import contextlib, os, sqlite3
    >>> from cassette_import import overdub
    >>> def count():
    ...     table = os.getenv("NO_SUCH_TABLE", "sqlite_master")
    ...     with contextlib.closing(sqlite3.connect(":memory:")) as database:
    ...         database.execute("SELECT count(*) FROM " + table)
    >>> taint = Taint(sources=["os.getenv"])
    >>> overdub(taint, count)
    >>> [(finding.kind, finding.source, finding.sink) for finding in taint.findings]
    [('SQL', 'os.getenv', 'sqlite3.Connection.execute')]
    """

    inherit: ClassVar[bool] = True
    recognised_types: ClassVar[tuple[type, ...]] = (str, bytes)

    def __init__(
        self,
        sources: Iterable[str] = (),
        sinks: Iterable[str | Sink] = (),
        sanitizers: Iterable[str | Sanitizer] = (),
        *,
        defaults: bool = True,
        stop: bool = False,
    ) -> None:
        super().__init__()
        given = [_names("sources", sources, str), _names("sinks", sinks, (str, Sink))]
        given += [_names("sanitizers", sanitizers, (str, Sanitizer))]
        names = [*given[0], *(SOURCES if defaults else ())]
        ends = [Sink(one) if isinstance(one, str) else one for one in given[1]]
        ends += SINKS if defaults else ()
        cleaners = [Sanitizer(one) if isinstance(one, str) else one for one in given[2]]
        cleaners += SANITIZERS if defaults else ()
        self.findings: list[Finding] = []
        """The findings in order, each path to a sink once."""
        self.stop = stop
        chosen = [one if isinstance(one, str) else one.name for part in given for one in part]
        self.watched = _Attributes(names, chosen, self._register_new)
        self._sources = _Functions({name: name for name in names})
        self._sinks = _Functions({sink.name: sink for sink in reversed(ends)})
        self._sanitizers = _Functions({cleaner.name: cleaner for cleaner in reversed(cleaners)})
        self.parcels = _Parcels(self._tagged)
        self._main = next((name for name in MAIN_NAMES if name != MAIN), None)
        self._lock = RLock()
        self._matched: set[str] = set()
        self._unmatched = functools.partial(_unmatched, chosen, self._matched, self._sinks)
        track(self, self._unmatched)
        self._register_new()
        waiting = [name for functions in self._all_functions for name in functions.waiting]
        self._awaited = _AwaitedModules([*waiting, *self.watched.dotted_names], self._note_executed)
        _take_care_while_executed(chosen)

    @classmethod
    def from_options(
        cls, sources: str = "", sinks: str = "", sanitizers: str = "", defaults: bool = True, stop: bool = False
    ) -> Taint:
        """A `Taint` from the options of the command line: ``sources=a.b+c.d,…``.

        Parameters
        ----------
        sources:
            Dotted names of functions and attributes whose values are untrusted, separated by ``+``.
        sinks:
            Dotted names of functions that must not receive such values, separated by ``+``.
        sanitizers:
            Dotted names of functions whose results are safe, separated by ``+``.
        """
        lists = [[name for name in text.split("+") if name] for text in (sources, sinks, sanitizers)]
        return cls(*lists, defaults=defaults, stop=stop)

    def inform(self, run: Mapping[str, object]) -> None:
        """Note the name of the program's file, under which users name functions of `__main__`."""
        arguments: Any = run["argv"]
        main = self._main or (PurePath(arguments[0]).stem if arguments else None)
        if main is not None:
            self.watched.note_main(main)
            for functions in self._all_functions:
                functions.main = main

    @property
    def awaits_main(self) -> bool:
        """Whether a name is that of a function of the program's own file, which is defined while it runs."""
        return any(functions.awaits_main for functions in self._all_functions)

    def register_main(self) -> None:
        """Register hooks and overloads for the functions of the program's own file that exist now."""
        self._register_new()

    @property
    def _all_functions(self) -> tuple[_Functions, _Functions, _Functions]:
        return self._sources, self._sinks, self._sanitizers

    def _note_executed(self, module: str) -> None:
        """Take the functions and attributes of a module into account that has just been executed."""
        self._register_new(module)
        if WATCHES[ATTRIBUTES_WATCHED]:
            note_watching(self.watched)

    def _register_new(self, module: str | None = None) -> None:
        """Register hooks and overloads for the functions of a module, or of modules imported since the last call."""
        with self._lock:
            for functions, point, handler in (
                (self._sources, Taint.overdub, _source),
                (self._sinks, Taint.prehook, _sink),
                (self._sanitizers, Taint.overdub, _sanitizer),
            ):
                new = [function for function in functions.arrived(module) if id(function) not in _registered[handler]]
                if new:
                    _registered[handler].update((id(function), function) for function in new)
                    # The last one twice: `register` takes a single Python function for the hook itself.
                    point.register(*new, new[-1])(handler)

    def forked(self) -> None:
        """Start without findings in a forked process."""
        self._lock = RLock()  # a thread of the other process may hold the other one
        self.findings.clear()

    # ---- values

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """The metadata of a computed value: a value computed from untrusted ones is untrusted."""
        if issubclass(type(value), _SAFE) or id(f) in self._sinks.by_id:
            return NO_METADATA
        return _merged(allmetadata(self, *arguments, *keywords.values())).then(nearest_site())

    def joined(self, one: Flow, other: Flow) -> Flow:
        """The metadata of a text that came by different paths to different places."""
        return _merged((one, other))

    def loaded(self, value: Any, owner: Any, name: str) -> Any:
        """Called when the program reads an attribute whose name is in `watched`."""
        source = self.watched.find(owner, name)
        return value if source is None else self._from_source(source, value)

    def _from_source(self, source: str, value: Any) -> Any:
        """The value of a source, tagged."""
        self._matched.add(source)
        return self._tagged(value, Flow((Path(source, (nearest_site(),)),)))

    def _tagged(self, value: Any, flow: Flow) -> Any:
        """The value, tagged with a flow: itself or its parts, except those that are safe."""

        def metadata_of(part: Any) -> Any:
            return NO_METADATA if issubclass(type(part), _SAFE) else flow

        return tag_with_parts(self, value, metadata_of)

    def _check(self, f: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        """Look for untrusted arguments in the call of a sink."""
        known = self._sinks.by_id.get(id(f))
        if known is None:
            return
        sink: Sink = known[2]
        self._matched.add(sink.name)
        given: list[Any] = [*arguments, *keywords.values()]
        if sink.arguments is not None:
            given = [arguments[key] for key in sink.arguments if isinstance(key, int) and key < len(arguments)]
            given += [keywords[key] for key in sink.arguments if isinstance(key, str) and key in keywords]
        if sink.condition is not None and not sink.condition(arguments, keywords):
            return
        for value in given:
            flows = allmetadata(self, value)
            path = _merged(flows).harmful(sink.kind) if flows else None
            if path is not None:
                self._add_finding(sink, path, plain(value))

    def _add_finding(self, sink: Sink, path: Path, value: Any) -> None:
        finding = Finding(sink.kind, sink.name, path.source, (*path.steps, nearest_site()), _shown(value))
        with self._lock:
            if not any(finding.path == other.path and finding.sink == other.sink for other in self.findings):
                self.findings.append(finding)
        if self.stop:
            raise TaintError(finding)

    # ---- the report

    def summary(self) -> str:
        """The findings, each with the path of the value."""
        count = len(self.findings)
        title = f"{count} finding{'s' if count > 1 else ''}" if count else "no untrusted value reached a sink"
        return "\n".join(["; ".join([f"taint: {title}", *self._unmatched()]), *map(str, self.findings)])

    def notice(self) -> str:
        """The functions among the chosen ones that were never called, where the summary is not printed; or nothing."""
        unmatched = self._unmatched()
        return f"taint: {'; '.join(unmatched)}" if unmatched else ""

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the summary, `.json` for the same as data."""
        return {
            ".txt": lambda path: _write(path, self.summary()),
            ".json": lambda path: _write(
                path, json.dumps({"findings": [finding.as_json() for finding in self.findings]}, indent=2)
            ),
        }


def _names(what: str, given: Any, kinds: Any) -> list[Any]:
    if isinstance(given, str):
        given = [given]
    found = list(given)
    for one in found:
        if not isinstance(one, kinds) or not (one if isinstance(one, str) else one.name):
            raise TypeError(f"{what} are dotted names, such as 'package.module.function', not {one!r}")
    return found


def _unmatched(chosen: Iterable[str], matched: Container[str], functions: _Functions) -> list[str]:
    return [never_called(functions.full_name(name), is_text=True) for name in chosen if name not in matched]


def _shown(value: Any) -> str:
    if not isinstance(value, (str, bytes, bytearray, list, tuple, dict)):
        return f"<{type(value).__qualname__} object>"
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text + "\n")


# ---- hooks and overloads; hidden frames, because the functions that they call may inspect their callers


@hidden
def _source(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    value = recurse(ctx, f, *arguments, **keywords)
    known = ctx._sources.by_id.get(id(f))
    return value if known is None else ctx._from_source(known[1], value)


@hidden
def _sink(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> None:
    ctx._check(f, arguments, keywords)


@hidden
def _sanitizer(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    known = ctx._sanitizers.by_id.get(id(f))
    if known is None:
        return recurse(ctx, f, *arguments, **keywords)
    ctx._matched.add(known[1])
    flows = allmetadata(ctx, *arguments, *keywords.values())
    value = _distinct(ctx, fallback(ctx, f, *arguments, **keywords), (*arguments, *keywords.values()))
    value = untag(value, ctx)
    kinds = known[2].kinds
    if kinds is None or not flows:
        return value
    return ctx._tagged(value, _merged(flows).made_safe(kinds))


@hidden
def _distinct(ctx: Any, value: Any, arguments: tuple[Any, ...]) -> Any:
    """What a sanitizer has returned; a copy, if it is an argument itself.

    An object has the same metadata wherever code that is not overdubbed hands it on. So a text that is safe must not be
    the object that is not.
    """
    bare = plain(value)
    if type(bare) not in ctx.recognised_types:
        return value
    if not any(type(argument) is Tagged and argument._tagged_value is bare for argument in arguments):
        return value
    copy = bare[:1] + bare[1:]
    return Tagged(copy, value._tagged_metas) if type(value) is Tagged else copy


for _overload, _functions in _HANDOVERS:
    Taint.overdub.register(*_functions, _functions[-1])(_overload)

_registered: Final[dict[Any, dict[int, Any]]] = {_source: {}, _sink: {}, _sanitizer: {}}
"""For each handler, the registered functions of all instances. References to them keep their identities valid."""
