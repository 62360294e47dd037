"""Functions that a program hands over: what calls them later has them replaced, or one warning names it.

The product of holders, of when they are made, and of contexts: nothing is missed without a word.
"""

import argparse
import atexit
import collections
import concurrent.futures
import contextlib
import copyreg
import ctypes
import functools
import gc
import itertools
import json
import logging
import multiprocessing.pool
import operator
import pickle
import re
import sched
import signal
import sqlite3
import subprocess
import sys
import threading
import warnings
import weakref
import xml.parsers.expat

import pytest

from cassette_import import CassetteWarning, overdub
from cassette_import.activation import earlier_holders
from cassette_import.activation.variants import variants
from cassette_import.contexts import Faults, Memoize, Substitute
from cassette_import.contexts.boundaries import CALLBACK_TAKERS
from cassette_import.kits import interception
from tests.programs.numbers_handed_over import handed_over


def target(*values):
    return 1


class Owner:
    pass


def kept(make):
    """A holder that is in an attribute of an object, as it would be in a module."""
    owner = Owner()
    owner.held = make()
    return owner


def with_method(made):
    return type("WithMethod", (), {"called": made})


def with_reference(owner):
    return weakref.ref(owner, target), owner


def finalized(owner):
    weakref.finalize(owner, target).atexit = False
    return owner


def died(owner):
    reference, owner.held = owner.held[0] if type(owner.held) is tuple else None, None
    return reference


def scheduler():
    made = sched.scheduler(lambda: 0.0, lambda delay: None)
    made.enter(0, 0, target)
    return made


def stack(method):
    made = contextlib.ExitStack()
    getattr(made, method)(target)
    return made


def closed(made):
    made.__exit__(None, None, None)


def at_exit():
    atexit.register(target)
    return target


def executor():
    return concurrent.futures.ThreadPoolExecutor(1, initializer=target)


def used(made):
    with made as pool:
        pool.submit(len, "").result()


def pool():
    with multiprocessing.pool.ThreadPool(1, target) as made:
        made.apply(len, ("",))


def dispatched_method():
    made = functools.singledispatchmethod(lambda self, value: None)
    made.register(int, target)
    return with_method(made)


def single_dispatch():
    made = functools.singledispatch(lambda value: None)
    made.register(int, target)
    return made


def future():
    made = concurrent.futures.Future()
    made.add_done_callback(target)
    return made


def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--x", type=target)
    return made


def on_signal():
    signal.signal(signal.SIGUSR1, target)


def filtered():
    made = logging.Logger("holds a target")
    made.addHandler(logging.NullHandler())
    made.addFilter(target)
    return made


def reduced():
    copyreg.pickle(Owner, target)
    return Owner()


def pickled(made):
    with contextlib.suppress(pickle.PicklingError):
        pickle.dumps(made)


def authorized():
    made = sqlite3.connect(":memory:")
    made.set_progress_handler(target, 1)
    return made


def queried(made):
    with contextlib.closing(made), contextlib.suppress(sqlite3.OperationalError):  # the progress handler returns 1
        made.execute("select 1")


def of_elements():
    made = xml.parsers.expat.ParserCreate()
    made.StartElementHandler = target
    return made


def called_back():
    return ctypes.CFUNCTYPE(ctypes.c_int)(target)


def on_collection():
    gc.callbacks.append(target)
    return target


HOLDERS = {
    "a defaultdict": (lambda: collections.defaultdict(target), lambda owner: owner.held["x"]),
    "a subclass of defaultdict": (lambda: Defaults(target), lambda owner: owner.held["x"]),
    "lru_cache": (lambda: functools.lru_cache(target), lambda owner: owner.held(1)),
    "cache": (lambda: functools.cache(target), lambda owner: owner.held(1)),
    "a cached_property": (lambda: with_method(functools.cached_property(target)), lambda owner: owner.held().called),
    "a property": (lambda: with_method(property(target)), lambda owner: owner.held().called),
    "a partialmethod": (lambda: with_method(functools.partialmethod(target)), lambda owner: owner.held().called()),
    "a partial": (lambda: functools.partial(target), lambda owner: owner.held()),
    "a method": (lambda: with_method(target), lambda owner: owner.held().called()),
    "a table": (lambda: {"x": target}, lambda owner: owner.held["x"]()),
    "map": (lambda: map(target, [1]), lambda owner: next(owner.held)),
    "filter": (lambda: filter(target, [1]), lambda owner: next(owner.held)),
    "groupby": (lambda: itertools.groupby([1], target), lambda owner: next(owner.held)),
    "an iterator with a sentinel": (lambda: iter(target, 2), lambda owner: next(owner.held)),
    "starmap": (lambda: itertools.starmap(target, [()]), lambda owner: next(owner.held)),
    "cmp_to_key": (lambda: functools.cmp_to_key(target), lambda owner: sorted([1, 2], key=owner.held)),
    "a weak reference": (lambda: with_reference(Owner()), died),
    "a finalizer": (lambda: finalized(Owner()), died),
    "sched": (scheduler, lambda owner: owner.held.run()),
    "singledispatch": (single_dispatch, lambda owner: owner.held(1)),
    "a future": (future, lambda owner: owner.held.set_result(1)),
    "argparse": (parser, lambda owner: owner.held.parse_args(["--x", "1"])),
    "a decoder": (lambda: json.JSONDecoder(parse_float=target), lambda owner: owner.held.decode("1.5")),
    "a signal": (on_signal, lambda owner: signal.raise_signal(signal.SIGUSR1)),
    "lru_cache with a size": (lambda: functools.lru_cache(maxsize=8)(target), lambda owner: owner.held(1)),
    "what lru_cache returns": (lambda: functools.lru_cache(8), lambda owner: owner.held(target)(1)),
    "register": (
        lambda: functools.singledispatch(len),
        lambda owner: owner.held.register(int)(target) and owner.held(1),
    ),
    "singledispatchmethod": (dispatched_method, lambda owner: owner.held().called(1)),
    "a default of singledispatch": (lambda: functools.singledispatch(target), lambda owner: owner.held(1)),
    "a callback of an exit stack": (lambda: stack("callback"), lambda owner: closed(owner.held)),
    "an exit of an exit stack": (lambda: stack("push"), lambda owner: closed(owner.held)),
    "an executor": (executor, lambda owner: used(owner.held)),
    "a barrier": (lambda: threading.Barrier(1, target), lambda owner: owner.held.wait()),
    "a filter of logging": (filtered, lambda owner: owner.held.warning("")),
    "copyreg": (reduced, lambda owner: pickled(owner.held)),
    "sqlite3": (authorized, lambda owner: queried(owner.held)),
    "a thread": (lambda: threading.Thread(target=target), lambda owner: owner.held.start() or owner.held.join()),
    "operator.call": (lambda: getattr(operator, "call", lambda f: f()), lambda owner: owner.held(target)),
}
WITHIN_ALONE = {
    "atexit": (lambda: atexit.register(target), lambda owner: owner.held()),
    "a pool": (pool, lambda owner: None),
}
BEFORE_ALONE = {
    "atexit": (at_exit, lambda owner: None),
    "a scanner of re": (lambda: re.Scanner([("a", target)]), lambda owner: owner.held.scan("a")),
    "gc.callbacks": (on_collection, lambda owner: gc.collect()),
    "expat": (of_elements, lambda owner: owner.held.Parse("<a/>", True)),
    "ctypes": (called_back, lambda owner: owner.held()),
}
"""What is called when the process ends, or handed over in a list, by an assignment, or to a class made by a call."""


class Defaults(collections.defaultdict):
    pass


def is_warned_of(context, program):
    """Run a program in a context; return whether a warning was issued."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        with contextlib.suppress(TimeoutError):
            overdub(context, program)
    return any(issubclass(entry.category, CassetteWarning) for entry in issued)


CONTEXTS = {
    "substitute": lambda: (made := Substitute({target: lambda *values: 1}), lambda: sum(made.calls.values())),
    "faults": lambda: (
        made := Faults(target, corrupt=lambda result: 1),
        lambda: sum(figures["calls"] for figures in made.found().values()),
    ),
    "memoize": lambda: (
        made := Memoize(target),
        lambda: sum(figures["calls"] for figures in made.statistics().values()),
    ),
}


@pytest.fixture
def fresh(monkeypatch):
    """No context has been entered yet, and no warning was issued."""
    monkeypatch.setattr(variants, "by_keys", {})
    monkeypatch.setattr(interception, "_TYPES", {})
    monkeypatch.setattr(earlier_holders, "_taken", set())
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)
    atexit.unregister(target)
    copyreg.dispatch_table.pop(Owner, None)
    gc.callbacks[:] = [one for one in gc.callbacks if one is not target]


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", [*HOLDERS, *WITHIN_ALONE])
def test_a_target_that_is_handed_over_in_a_context_is_met_when_it_is_called(fresh, name, context):
    make, use = (HOLDERS | WITHIN_ALONE)[name]
    made, count = CONTEXTS[context]()

    def program():
        owner = kept(make)
        use(owner)

    is_warned_of(made, program)
    assert count() >= 1


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", [*HOLDERS, *BEFORE_ALONE])
def test_a_target_that_was_handed_over_before_is_met_or_named_in_one_warning(fresh, name, context):
    make, use = (HOLDERS | BEFORE_ALONE)[name]
    owner = kept(make)
    made, count = CONTEXTS[context]()
    is_named = is_warned_of(made, lambda: use(owner))
    assert (count() >= 1) != is_named


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", CALLBACK_TAKERS)
def test_a_target_that_a_function_of_the_table_takes_is_met_when_it_is_called(fresh, name, context):
    made, count = CONTEXTS[context]()
    try:
        overdub(made, handed_over, name, target)
    except ImportError as missing:
        pytest.skip(str(missing))
    assert count() >= 1


@pytest.mark.parametrize(
    "make", [functools.lru_cache, functools.cache, functools.lru_cache(8), functools.singledispatch]
)
def test_what_wraps_a_target_shows_the_target(fresh, make):
    made = overdub(Substitute({target: lambda *values: 2}), lambda: make(target))
    assert made.__wrapped__ is target
    assert made.mark == "of the target"


target.mark = "of the target"


def test_a_function_that_registers_others_returns_them(fresh):
    dispatched = functools.singledispatch(len)
    assert overdub(Substitute({target: lambda *values: 2}), lambda: dispatched.register(int, target)) is target


def test_what_functools_keeps_is_followed_where_its_own_code_is_overdubbed(tmp_path):
    (tmp_path / "program.py").write_text(
        "import functools, cassette_import\n"
        "from cassette_import.contexts import Substitute\n"
        "def target(*values): return 1\n"
        "def run():\n"
        "    dispatched = functools.singledispatch(len)\n"
        "    dispatched.register(int)(target)\n"
        "    return functools.lru_cache(maxsize=8)(target)(1), dispatched(1), dispatched('ab')\n"
        "cassette_import.install('*')\n"
        "print(cassette_import.overdub(Substitute({target: lambda *values: 3}), run))\n"
    )
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("(3, 3, 2)\n", "")


def test_a_function_that_takes_others_is_followed_once(fresh):
    dispatched = functools.singledispatch(len)
    for _ in range(3):
        overdub(type("Own", (Substitute,), {})({target: lambda *values: 2}), lambda: None)
    assert not hasattr(dispatched.register.__wrapped__, "__wrapped__")


@pytest.mark.parametrize(
    "make",
    [lambda: sqlite3.connect(":memory:"), lambda: xml.parsers.expat.ParserCreate(), lambda: map(len, ())],
    ids=["connection", "parser", "map"],
)
def test_an_object_does_not_call_its_own_class(fresh, make):
    made = make()
    with contextlib.ExitStack() as stack, warnings.catch_warnings():
        if type(made) is sqlite3.Connection:
            stack.callback(made.close)
        warnings.simplefilter("error", CassetteWarning)
        overdub(Substitute({type(made): lambda *values: 2}), lambda: None)


def registered_by_decorator(kind):
    dispatched = functools.singledispatch(lambda one: "any")
    dispatched.register(kind)(lambda one: "of the class")
    return dispatched(kind())


def registered_with_the_function(kind):
    dispatched = functools.singledispatch(lambda one: "any")
    dispatched.register(kind, lambda one: "of the class")
    return dispatched(kind())


def registered_by_keywords(kind):
    dispatched = functools.singledispatch(lambda one: "any")
    dispatched.register(cls=kind, func=lambda one: "of the class")
    return dispatched(kind())


def registered_in_a_class(kind):
    class Dispatching:
        dispatched = functools.singledispatchmethod(lambda self, one: "any")

        @dispatched.register(kind)
        def _(self, one):
            return "of the class"

    return Dispatching().dispatched(kind())


@pytest.mark.parametrize(
    "program",
    [registered_by_decorator, registered_with_the_function, registered_by_keywords, registered_in_a_class],
)
def test_a_class_that_is_a_target_may_be_what_a_function_is_registered_for(fresh, program):
    assert overdub(Faults(Owner, raises=OSError, nth=9), program, Owner) == "of the class"
