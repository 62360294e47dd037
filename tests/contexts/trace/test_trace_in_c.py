"""The hooks of `trace` in C: they show what those in Python show, and the program does not notice them."""

import gc
import io
import re
import sys
import threading
import time
import tracemalloc
import weakref

import pytest
from helpers.accelerator import ways

import cassette_import
from cassette_import import Context, overdub
from cassette_import.contexts import Trace
from cassette_import.kits.calls.accelerator import ACCELERATOR

PROGRAM = """
    import functools

    def leaf(x, *more, **named): return x
    def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)

    class Shape:
        def __init__(self, size): self.size = size
        def __repr__(self): return f"Shape of {leaf(self.size)}"
        @classmethod
        def unit(cls): return cls(1)
        def __call__(self, x): return leaf(x)

    def fails(x): raise ValueError(leaf(x))

    def errors():
        for called in (fails, int, len):
            try:
                called("x", *[])
            except (ValueError, TypeError):
                leaf("caught", by=called)
        try:
            leaf(fails(1))
        except ValueError:
            pass

    def generated(n):
        for number in range(n):
            yield leaf(number)

    def kinds():
        found = [1]
        found.append(Shape(2)), leaf(*found, **{"a": found}), Shape.unit()(3), list(generated(3))
        functools.partial(leaf, password="secret value")(1), leaf("secret value")
        return (lambda x: leaf(x))(functools.reduce(leaf, [1]))

    def main():
        fib(5), errors(), kinds()
        return fib(3)

    def recursive(n):
        try:
            return recursive(n + 1)
        except RecursionError:
            return n

    def many(times):
        for _ in range(times):
            leaf(1), leaf([2], a=3), fib(2)
"""
OPTIONS = {
    "defaults": {},
    "limit": {"limit": 7},
    "depth": {"depth": 2},
    "limit and depth": {"limit": 5, "depth": 1},
    "last": {"last": 9, "depth": 3},
    "mask": {"mask": "*password*"},
    "reprs": {"reprs": True},
    "operators": {"events": "calls+operators", "limit": 40},
}


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


def traced(way, function, *arguments, outer=None, **options):
    """The text of a trace, and its summary."""
    with pytest.MonkeyPatch.context() as patch, ways(way, patch):
        file = io.StringIO()
        trace = Trace(file=file, **options)
        if outer is None:
            overdub(trace, function, *arguments)
        else:
            with outer:
                overdub(trace, function, *arguments)
        return trace.summary(), re.sub("0x[0-9a-f]+", "0x", file.getvalue())


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_same_calls_are_shown_as_in_python(options, program):
    summary, text = traced("in C", program.main, **options)
    assert text.count("\n") > 3
    assert (summary, text) == traced("in Python", program.main, **options)


def test_the_same_calls_are_shown_inside_another_context(program):
    class Counting(Context, events=cassette_import.Events.CALLS):
        count = 0

        def prehook(self, f, *args, **kwargs):
            self.count += 1

    counts = []
    texts = []
    for way in ("in C", "in Python"):
        outer = Counting()
        texts.append(traced(way, program.main, outer=outer, reprs=True))
        counts.append(outer.count)
    assert texts[0] == texts[1]
    assert counts[0] == counts[1] > 0


def test_a_program_recurses_as_deeply_as_with_the_hooks_in_python(program, monkeypatch):
    depths = []
    for way in ("in C", "in Python"):
        with ways(way, monkeypatch):
            trace = Trace(file=io.StringIO(), limit=5)
            overdub(trace, program.recursive, 0)
            depths.append(overdub(trace, program.recursive, 0))
    assert depths[0] >= depths[1] > 50


def test_a_runaway_recursion_leaves_a_trace_that_goes_on(program):
    file = io.StringIO()
    trace = Trace(file=file, limit=1_000_000)
    overdub(trace, program.recursive, 0)
    before = len(file.getvalue())
    overdub(trace, program.main)
    overdub(trace, program.main)
    assert re.search(r"^ *leaf\('caught', by=<class 'int'>\) -> 'caught'$", file.getvalue()[before:], re.MULTILINE)
    first, second = file.getvalue()[before:].split("fib(5)\n")[1:]
    assert first.count("\n") - second.count("\n") in (0, 1)


def test_each_thread_is_named_also_after_others_have_ended(program):
    file = io.StringIO()
    trace = Trace(file=file)
    with trace:
        program.fib(2)
        for number in range(5):
            thread = threading.Thread(target=program.fib, args=(2,), name=f"worker {number}")
            thread.start()
            thread.join()
    for number in range(5):
        assert file.getvalue().count(f"[worker {number}] fib(2)\n") == 1
        assert file.getvalue().count(f"[worker {number}]   fib(1) -> 1\n") == 1


def test_threads_at_the_same_time_count_all_calls(program):
    trace = Trace(file=io.StringIO(), limit=10)
    with trace:
        threads = [threading.Thread(target=program.many, args=(200,)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    alone = Trace(file=io.StringIO(), limit=0)
    overdub(alone, program.many, 200)
    calls = int(alone.summary().split()[1])
    assert trace.summary().startswith(f"trace: 10 calls; {6 * (calls + 1) - 10} further calls left out")


@pytest.mark.parametrize("way", ["in C", "in Python"])
def test_threads_show_no_more_calls_than_the_limit_and_say_once_that_it_is_reached(program, way, monkeypatch):
    class YieldingFile(io.StringIO):
        def write(self, text):
            time.sleep(0)
            return super().write(text)

    with ways(way, monkeypatch):
        file = YieldingFile()
        trace = Trace(file=file, limit=40)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            with trace:
                threads = [threading.Thread(target=program.many, args=(200,)) for _ in range(6)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
        finally:
            sys.setswitchinterval(interval)
        alone = Trace(file=io.StringIO(), limit=0)
        overdub(alone, program.many, 200)
    calls = 6 * (int(alone.summary().split()[1]) + 1)
    assert trace.summary().startswith(f"trace: 40 calls; {calls - 40} further calls left out")
    assert file.getvalue().count("limit of 40 calls reached") == 1


def test_calls_keep_no_object_alive_and_drop_no_reference(program):
    trace = Trace(file=io.StringIO(), limit=5)
    shown = Trace(file=io.StringIO(), depth=1)
    for context in (trace, shown):
        overdub(context, program.main)
        counted = [program.leaf, program.fib, program.Shape, program.fails, program.errors, context, context.recorder]
        before = [sys.getrefcount(one) for one in counted]
        for _ in range(50):
            overdub(context, program.main)
        assert [sys.getrefcount(one) for one in counted] == before


def test_calls_that_are_not_shown_take_no_memory(program):
    trace = Trace(file=io.StringIO(), limit=5)
    overdub(trace, program.many, 100)
    gc.collect()
    tracemalloc.start()
    try:
        objects, (memory, _) = len(gc.get_objects()), tracemalloc.get_traced_memory()
        overdub(trace, program.many, 40_000)
        gc.collect()
        assert len(gc.get_objects()) - objects < 50
        assert tracemalloc.get_traced_memory()[0] - memory < 20_000
    finally:
        tracemalloc.stop()
    assert int(re.search(r"(\d+) further calls", trace.summary())[1]) > 200_000


def test_values_and_callees_die_when_they_would_have_died(make_package):
    name = make_package(
        """
        class Thing:
            def __call__(self): return None
        def use(thing): return None
        def main(seen):
            for _ in range(3):
                use(Thing())
                seen()
                Thing()()
                seen()
        """
    )
    with cassette_import.install([name]):
        module = __import__(name)
        alive = weakref.WeakSet()
        module.Thing.__init__ = lambda self: alive.add(self)
        counts = []
        overdub(Trace(file=io.StringIO(), limit=6), module.main, lambda: counts.append(len(alive)))
    assert counts == [0] * 6


def test_an_unreferenced_trace_is_freed(program):
    trace = Trace(file=io.StringIO())
    overdub(trace, program.main)
    gone = weakref.ref(trace)
    del trace
    gc.collect()
    assert gone() is None


IN_PYTHON = {
    "start": {"start": "os.getcwd"},
    "stop": {"stop": "os.getcwd"},
    "package": {"package": "os"},
    "predicate": {"predicate": "os.path:join"},
    "last": {"last": 3},
}


@pytest.mark.parametrize("options", IN_PYTHON.values(), ids=IN_PYTHON)
def test_a_trace_with_filters_or_of_the_last_calls_has_its_hooks_in_python(options):
    assert hasattr(Trace(), "recorder")
    assert not hasattr(Trace(**options), "recorder")


class _Other:
    recorder = None


WRONG = {
    "a prehook without a function": lambda: ACCELERATOR.begin_call(Trace()),
    "a posthook without a function": lambda: ACCELERATOR.end_call(Trace(), 1),
    "a context without a recorder": lambda: ACCELERATOR.begin_call(_Other(), len),
    "a recorder of nothing": lambda: ACCELERATOR.TraceRecorder(),
    "a stack without a thread": lambda: ACCELERATOR.CallStack(),
    "a stack that is none": lambda: ACCELERATOR.TraceRecorder(lambda makes: 3, len, len, len).end(len, "result", 1),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_an_error(wrong):
    with pytest.raises(TypeError):
        wrong()
