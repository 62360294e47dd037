"""Objects that were given a target before a context was entered, and that call it from C or the standard library.

Such a call has no call site in overdubbed code, and the object cannot be given another function: the program would
notice. So one warning names the targets and what holds them. What is made in the context gets a callable that runs the
event (`higher_order.CALLBACK_TAKERS`).
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import functools
import gc
import itertools
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from types import FunctionType
from typing import Any, Final

from cassette_import.errors import CassetteWarning
from cassette_import.interpreter import heap
from cassette_import.interpreter.callables import PROPERTIES, split
from cassette_import.interpreter.own_files import PACKAGE_FOLDER
from cassette_import.rewriting.events import Events
from cassette_import.runtime.dispatch.callee_proxy import Callee
from cassette_import.runtime.dispatch.higher_order import follow, is_dispatcher
from cassette_import.runtime.dispatch.unfitting_handlers import name_of

__all__ = ["warn_of_holders"]

_SHOWN: Final = 5
_Held = Callable[[Any], Iterable[Any]]
"""The functions that a holder may call."""


def _attributes(*names: str) -> _Held:
    """What is held under some attributes, which may be lists."""

    def held(holder: Any) -> Iterable[Any]:
        values = [getattr(holder, name, None) for name in names]
        return chain.from_iterable(value if type(value) is list else (value,) for value in values)

    return held


def _exits(stack: Any) -> Iterable[Any]:
    """What an exit stack calls: `callback` keeps a wrapper of it."""
    exits = [one for _, one in getattr(stack, "_exit_callbacks", ())]
    return chain(exits, [getattr(one, "__wrapped__", None) for one in exits])


def _initializer(executor: Any) -> Iterable[Any]:
    """The initializer of an executor, which a closure holds from Python 3.14 on."""
    maker = getattr(executor, "_create_worker_context", None)
    cells = getattr(maker, "__closure__", None) or ()
    return getattr(executor, "_initializer", None), *(cell.cell_contents for cell in cells)


_FUNCTION: Final = _attributes("func")
_KINDS: Final[dict[type, tuple[str, _Held]]] = {
    collections.defaultdict: ("a defaultdict", _attributes("default_factory")),
    type(functools.lru_cache(len)): ("a cache of functools", gc.get_referents),
    functools.cached_property: ("a cached_property", _FUNCTION),
    functools.partialmethod: ("a partialmethod", _FUNCTION),
    property: ("a property", _attributes("fget", "fset", "fdel")),
    type(functools.cmp_to_key(int)): ("a key of cmp_to_key", gc.get_referents),
    weakref.ReferenceType: ("a weak reference", gc.get_referents),
    weakref.finalize._Info: ("a finalizer", _FUNCTION),  # type: ignore[attr-defined]  # a class of its own
    **dict.fromkeys(
        (
            *(type(iter(int, 1)), map, filter, itertools.starmap, itertools.groupby, itertools.accumulate),
            *(itertools.takewhile, itertools.dropwhile, itertools.filterfalse),
        ),
        ("an iterator", gc.get_referents),
    ),
}
"""Types whose instances call what they hold."""
_LATE_KINDS: Final[dict[tuple[str, str], tuple[str, _Held]]] = {
    ("sched", "Event"): ("an event of sched", _attributes("action")),
    ("json.scanner", "c_make_scanner"): ("a decoder of json", gc.get_referents),
    ("json.encoder", "c_make_encoder"): ("an encoder of json", gc.get_referents),
    ("argparse", "Action"): ("an argument of argparse", _attributes("type")),
    ("concurrent.futures._base", "Future"): ("a future", _attributes("_done_callbacks")),
    ("concurrent.futures.thread", "ThreadPoolExecutor"): ("an executor", _initializer),
    ("contextlib", "_BaseExitStack"): ("an exit stack", _exits),
    ("threading", "Barrier"): ("a barrier", _attributes("_action")),
    ("logging", "Filterer"): ("a logger or handler, as a filter", _attributes("filters")),
    ("re", "Scanner"): ("a scanner of re", lambda scanner: (action for _, action in scanner.lexicon)),
    ("pyexpat", "XMLParserType"): ("a parser of expat", gc.get_referents),
    ("_ctypes", "CFuncPtr"): ("a callback of ctypes", gc.get_referents),
    ("sqlite3", "Connection"): ("a connection of sqlite3", gc.get_referents),
}
"""The same for types of modules that the program may import; subclasses count."""
_taken: Final[set[tuple[int, str]]] = set()
"""The targets and kinds of holders that a warning has named."""


def warn_of_holders(variant: Any) -> None:
    """Warn of objects that hold targets of a variant, once for each target and kind of holder."""
    targets = dict(variant.runners[int(Events.CALLS)].plan.targets)
    found: dict[str, None] = {}
    for target, kind in _holders(targets):
        if (id(target), kind) not in _taken:
            _taken.add((id(target), kind))
            found[f"{name_of(target)} is held by {kind}"] = None
    if not found:
        return
    texts = list(found)
    more = f"; {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    names = ", ".join(key.context_type.__qualname__ for key in variant.keys)
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
    warnings.warn_explicit(
        f"{names} misses calls of what was handed over earlier: {'; '.join(texts[:_SHOWN])}{more}. "
        "Hand it over while the context is active",
        CassetteWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
    )


def _holders(targets: dict[int, Any]) -> Iterator[tuple[Any, str]]:
    """The targets that objects hold, each with what holds it."""
    kinds = _all_kinds()
    for holder in heap.objects_of((*kinds, FunctionType)):  # one pass: it is as long as that which finds functions
        kind = type(holder)
        if kind is FunctionType:
            follow(holder)
            if not is_dispatcher(holder):
                continue
        name, held_by = kinds.get(kind, _OF_FUNCTIONS)
        for value in held_by(holder):
            target = _target_in(value, targets)
            if target is not None and value is not kind and not _is_followed(kind, target):
                yield target, name
    for name, held_by_interpreter in _OF_THE_INTERPRETER.items():
        for value in held_by_interpreter():
            target = _target_in(value, targets)
            if target is not None:
                yield target, name


def _target_in(value: Any, targets: dict[int, Any]) -> Any:
    """The target that a callable runs, if there is no event of its call; otherwise None."""
    return targets.get(id(split(value)[0])) if callable(value) and type(value) is not Callee else None


def _is_followed(kind: type, target: Any) -> bool:
    """Whether call sites see through a holder of this kind."""
    if kind is property:
        return id(target) in PROPERTIES
    return kind is functools.partialmethod and type(target) is FunctionType


def _signal_handlers() -> list[Any]:
    module: Any = sys.modules.get("signal")
    return [] if module is None else [module.getsignal(number) for number in module.valid_signals()]


class _Seen:
    """Is compared with each callback of `atexit`, which shows them in no other way."""

    def __init__(self, callbacks: list[Any]) -> None:
        self.callbacks = callbacks

    def __eq__(self, other: object) -> bool:
        self.callbacks.append(other)
        return False

    __hash__ = None  # type: ignore[assignment]  # it is in no table


def _exit_callbacks() -> list[Any]:
    """What `atexit` calls, if the process ends while the context is active."""
    callbacks: list[Any] = []
    seen: Any = _Seen(callbacks)
    if "atexit" in sys.modules:
        with contextlib.suppress(Exception):  # of a callback that compares itself with others
            atexit.unregister(seen)
    return callbacks


def _reducers() -> list[Any]:
    """What `pickle` and `copy` call for objects of some classes."""
    module: Any = sys.modules.get("copyreg")
    return [] if module is None else list(module.dispatch_table.values())


_OF_THE_INTERPRETER: Final[dict[str, Callable[[], list[Any]]]] = {
    "a signal": _signal_handlers,
    "atexit": _exit_callbacks,
    "gc.callbacks": lambda: list(gc.callbacks),
    "copyreg": _reducers,
}
"""What is held once for the whole interpreter."""


def _registry_of(function: FunctionType) -> Iterable[Any]:
    """The functions that a function of `functools.singledispatch` calls."""
    return function.registry.values()  # type: ignore[attr-defined,no-any-return]  # it is one of those


_OF_FUNCTIONS: Final[tuple[str, _Held]] = "a function of singledispatch", _registry_of


def _all_kinds() -> dict[type, tuple[str, _Held]]:
    """The kinds of holders with their subclasses."""
    late = {
        found: kind
        for (module, name), kind in _LATE_KINDS.items()
        if isinstance(found := getattr(sys.modules.get(module), name, None), type)
    }
    kinds = _KINDS | late
    work = list(kinds)
    subclass: type
    while work:
        kind = work.pop()
        for subclass in type.__subclasses__(kind):
            if subclass not in kinds:
                kinds[subclass] = kinds[kind]
                work.append(subclass)
    return kinds
