"""The posthook of `call-types` in C: it records what that in Python records, and the program does not notice it."""

import contextlib
import functools
import gc
import os
import random
import sys
import threading
import tracemalloc
import types
import weakref

import pytest
from helpers.accelerator import ways

import cassette_import
from cassette_import import Context, overdub
from cassette_import.contexts import CallTypes
from cassette_import.contexts.call_types.sites import entries
from cassette_import.kits.calls.accelerator import ACCELERATOR

PROGRAM = """
    import asyncio, collections, functools, operator

    def take(*values, **named): return values[-1] if values else None

    class Meta(type):
        __hash__ = None
        def __eq__(self, other): raise AssertionError("the program's code ran")

    class Strange(metaclass=Meta): pass

    class Words(list): pass

    VALUES = [
        1, True, None, 2.5, "a", b"b", [], [1], [1, "a"], ["a", 1], [1] * 10 + ["a"], [[]], [[1], ["a"], [1]],
        [[[[1]]]], [[[1]]], (), (1,), (1, "a"), (1,) * 11, ((1, (2, (3, (4,)))),), {}, {1: "a"}, {"a": [1]},
        {1: {2: {3: {4: 5}}}}, set(), {1, 2}, {1, "a"}, frozenset({(1, "a")}), int, Meta, Strange, type, Strange(),
        [int, str], [Strange, Strange], Words([1]), collections.OrderedDict(a=1), take, len, print, range(3),
        [[], [1], {}], {number: [number] for number in range(20)}, [(number, str) for number in range(20)],
        [tuple(range(number)) for number in range(12)],
    ]

    def values():
        for value in VALUES * 3:
            take(value)
            take(value, 1)
            take(1, *[value])
            take(named=value)
            take(1, other=value, named=value)
            take(**{"na" + "med": value})

    def names():
        for name in ["a", "b", "c"] * 3:
            take(**{name * 2: 1})
            take(1, **{name * 2: 1, "d": 2})

    def mutated():
        kept = []
        for number in range(30):
            take(kept)
            kept.append(number if number % 3 else str(number))
            if len(kept) > 4: kept.clear()

    def make(name):
        def inner(x): return x
        if name: inner.__qualname__ = name
        return inner

    def closures():
        for number in range(12):
            make("")(number)
            for inner in make(""), make("renamed" if number % 2 else "other"), make(""):
                inner("a")
                inner(number)

    def carried():
        cached, counted = functools.lru_cache(take), collections.defaultdict(list)
        for number in range(4):
            cached(number), counted["a"].append(number), functools.partial(take, 1)(number), "a b".split(), take("a")
            operator.itemgetter(0)([number]), functools.reduce(take, [1, 2, 3])

    class Shape:
        def __init__(self, size): self.size = size
        @classmethod
        def unit(cls): return cls(1)
        def __call__(self, x): return x
        def area(self): return super().__hash__() and self.size

    def shapes(): return [(Shape(n).area(), Shape.unit()(n)) for n in range(4)]

    def fails(x): raise (ValueError if x % 2 else KeyError)(x)

    def errors():
        for number in range(10):
            for called in (fails, int, len):
                try:
                    called(number)
                except (ValueError, KeyError, TypeError):
                    pass

    def many():
        for number in range(110):
            take(type(f"T{number % 105}", (), {})())

    def generated(n):
        for number in range(n):
            yield abs(number)

    async def coroutine(n): return n if n < 2 else await coroutine(n - 1) + await coroutine(n - 2)

    def suspended(): return list(generated(5)), asyncio.run(coroutine(6)), sum(abs(n) for n in range(4))

    def recursive(n):
        try:
            return recursive(n + 1)
        except RecursionError:
            return n
"""
PARTS = "values names mutated closures carried shapes errors many suspended".split()


@pytest.fixture
def program(make_package):
    name = make_package(PROGRAM)
    with cassette_import.install([name]):
        yield __import__(name)


@pytest.fixture(autouse=True)
def in_c(monkeypatch):
    """Have contexts use the hooks in C."""
    with ways("in C", monkeypatch):
        yield


def entries_in(way, function, context=None):
    """The call sites of a program with their types and counts."""
    with pytest.MonkeyPatch.context() as patch, ways(way, patch):
        types = CallTypes()
        with context or contextlib.nullcontext(), types:
            function()
            function()
        return entries(types.sites(), types.types), types.stubs()


@pytest.mark.parametrize("part", PARTS)
def test_the_same_types_are_recorded_as_in_python(part, program):
    function = getattr(program, part)
    found = entries_in("in C", function)
    assert found[0]
    assert found == entries_in("in Python", function)


def test_the_same_types_are_recorded_in_a_stack_of_contexts(program):
    class Other(Context, events=cassette_import.Events.CALLS):
        def posthook(self, result, f, *args, **kwargs):
            pass

    assert entries_in("in C", program.values, Other()) == entries_in("in C", program.values)


def test_random_containers_have_the_types_that_they_have_in_python(program):
    chosen = random.Random(5)

    def value(depth):
        kind = chosen.choice([int, str, bool, list, tuple, dict, set, frozenset, "class"][: None if depth else 3])
        if kind == "class":
            return chosen.choice([int, str, program.Meta])
        if kind in (int, str, bool):
            return kind(chosen.randrange(3))
        if kind in (set, frozenset):
            return kind(chosen.sample([1, "a", 2.5, None, (1, "b")], chosen.randrange(5)))
        items = [value(depth - 1) for _ in range(chosen.choice([0, 1, 2, 3, 12]))]
        return kind(items) if kind in (list, tuple) else dict(enumerate(items))

    program.VALUES[:] = [value(4) for _ in range(60)]
    assert entries_in("in C", program.values) == entries_in("in Python", program.values)


def test_calls_are_only_counted_once_their_types_are_known(program, monkeypatch):
    types = CallTypes()
    for function in (program.values, program.closures, program.shapes, program.names):
        overdub(types, function)
    known = [(site, dict(site.outcomes)) for site in types.sites()]
    monkeypatch.setattr(type(types), "_outcome", None)
    with types:
        program.values()
        program.names()
    grown = [site for site, before in known if sum(site.outcomes.values()) > sum(before.values())]
    assert types.sites()
    assert not grown  # `sites` is what adds up
    assert [site for site, before in known if sum(site.outcomes.values()) > sum(before.values())]


def test_calls_keep_no_object_alive_and_drop_no_reference(program):
    types = CallTypes()

    def run(times):
        with types:
            for _ in range(times):
                program.values()
                program.closures()
                program.errors()

    run(2)
    containers = [value for value in program.VALUES if isinstance(value, (list, dict, set))]
    counted = [program.take, program.Strange, program.Shape, program.fails, program.Meta, *containers, types]
    before = [sys.getrefcount(one) for one in counted]
    run(20)
    after = [sys.getrefcount(one) for one in counted]
    assert after == before


def test_calls_take_no_memory_that_they_do_not_return(make_package):
    name = make_package(
        """
        def take(value, named=None): return value
        def main(times):
            for number in range(times):
                take([number]), take("a", named=(1, 2)), take({1: number}), take({number})
        """
    )
    with cassette_import.install([name]):
        main = __import__(name).main
        types = CallTypes()
        overdub(types, main, 100)
        gc.collect()
        tracemalloc.start()
        try:
            objects, (memory, _) = len(gc.get_objects()), tracemalloc.get_traced_memory()
            overdub(types, main, 50_000)
            gc.collect()
            assert len(gc.get_objects()) - objects < 50
            assert tracemalloc.get_traced_memory()[0] - memory < 20_000
        finally:
            tracemalloc.stop()
    assert sum(sum(site.outcomes.values()) for site in types.sites()) > 200_000


def test_values_die_when_they_would_have_died(make_package):
    name = make_package(
        """
        class Thing: pass
        def use(thing): return None
        def main(seen):
            for _ in range(3):
                use(Thing())
                seen()
                use([{"a": Thing()}])
                seen()
        """
    )
    with cassette_import.install([name]):
        module = __import__(name)
        alive = weakref.WeakSet()
        module.Thing.__init__ = lambda self: alive.add(self)
        counts = []
        overdub(CallTypes(), module.main, lambda: counts.append(len(alive)))
    assert counts == [0] * 6


def test_an_unreferenced_context_is_freed(program):
    types = CallTypes()
    overdub(types, program.values)
    gone = weakref.ref(types)
    del types
    gc.collect()
    assert gone() is None


def test_a_program_recurses_as_deeply_as_with_the_posthook_in_python(program, monkeypatch):
    depths = []
    for way in ("in C", "in Python"):
        with ways(way, monkeypatch):
            types = CallTypes()
            overdub(types, program.recursive, 0)
            depths.append(overdub(types, program.recursive, 0))
    assert depths[0] >= depths[1] > 100


def test_threads_lose_no_call(program):
    types = CallTypes()
    with types:
        threads = [threading.Thread(target=program.values) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    total = sum(sum(site.outcomes.values()) for site in types.sites() if site.code.co_name == "values")
    assert total == 8 * 3 * 6 * len(program.VALUES)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_begins_with_no_calls(program):
    types = CallTypes()
    with types:
        program.values()
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                types.forked()
                program.shapes()
                found = {site.name for site in types.sites()}
                os.write(write, b"ok" if "take" not in found and "Shape.unit" in found else repr(found).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        answer = os.read(read, 1000)
        os.close(read)
        os.close(write)
    assert answer == b"ok"


def test_a_posthook_that_is_registered_is_called_too(program):
    seen = []

    def hook(ctx, result, f, *args):
        seen.append(args)

    types = CallTypes()
    CallTypes.posthook.register(program.fails, program.take)(hook)
    try:
        overdub(types, program.mutated)
    finally:
        CallTypes.posthook.remove(hook)
    assert len(seen) == 30
    assert sum(sum(site.outcomes.values()) for site in types.sites() if site.name == "take") == 30


def test_a_subclass_with_a_posthook_of_its_own_has_it_called(program):
    class Mine(CallTypes, events=cassette_import.Events.CALLS):
        seen = 0

        def posthook(self, result, f, *args, **kwargs):
            self.seen += 1
            super().posthook(result, f, *args, **kwargs)

    mine = Mine()
    overdub(mine, program.mutated)
    assert mine.seen > 30


WRONG = {
    "a hook without a function": lambda types: ACCELERATOR.record_types(types, 1),
    "a context without a recorder of types": lambda types: ACCELERATOR.record_types(_Other(), 1, len),
    "a recorder of nothing": lambda types: ACCELERATOR.TypeRecorder(),
    "a recorder without types": lambda types: ACCELERATOR.TypeRecorder(len, None),
    "a tally that is none": lambda types: _with(lambda *arguments: (1, None)),
}


class _Other:
    recorder = None


def _with(find_tally):
    other = _Other()
    other.recorder = ACCELERATOR.TypeRecorder(find_tally, {})
    ACCELERATOR.record_types(other, 1, len)


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_an_error(wrong):
    with pytest.raises(TypeError):
        wrong(CallTypes())


def test_an_error_of_the_context_is_raised():
    def broken(*arguments):
        raise OSError("no tally")

    with pytest.raises(OSError, match="no tally"):
        functools.partial(_with, broken)()


def test_an_extension_of_an_earlier_version_is_not_used():
    assert "build it again" in ACCELERATOR.use(types.ModuleType("_accelerator"))
