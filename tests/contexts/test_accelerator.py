"""The hooks in C: they record what those in Python record, and the program does not notice them."""

import functools
import gc
import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
import weakref

import pytest
from helpers.accelerator import problem, ways
from helpers.command_line import PROJECT

import cassette_import
from cassette_import import Context, overdub
from cassette_import.contexts import Profile
from cassette_import.contexts.profile.statistics import Statistics
from cassette_import.kits.calls.accelerator import ACCELERATOR

PROGRAM = """
    import asyncio, collections, functools, re

    nobody = None

    class Shape:
        def __init__(self, size): self.size = size
        def area(self): return self.size ** 2
        @classmethod
        def unit(cls): return cls(1)
        @staticmethod
        def zero(): return 0
        def __call__(self, x): return x + self.size
        def __add__(self, other): return Shape(self.size + other.size)

    class Square(Shape):
        def area(self): return super().area() + abs(-1)

    class Words(list):
        def push(self, word): self.append(word)

    def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)

    def functions(): return fib(8), [fib(2) for _ in range(3)]

    def methods():
        shapes = [Square(2), Shape.unit(), Shape(3)]
        return [shape.area() for shape in shapes], Shape.zero(), shapes[0](1), (shapes[0] + shapes[1]).size

    def builtins():
        words = Words()
        for word in "b a c".split(" "):
            words.append(word)
            words.push(word)
        words.sort(key=str.upper)
        found = re.compile("a+").sub("x", "".join(words))
        return found, dict.fromkeys("ab"), int.from_bytes(b"ab", "big"), "a".__eq__("a"), object.__new__(Shape) is None

    def closures():
        def add(n):
            def inner(x): return x + n
            return inner
        return [add(n)(1) for n in range(5)], (lambda x: x)(1), sorted([3, 1], key=lambda x: -x)

    def carried():
        cached = functools.lru_cache(fib)
        counted = collections.defaultdict(list)
        counted["a"].append(functools.partial(fib, 3)())
        return cached(4), cached(4), counted, functools.reduce(lambda a, b: a + b, [1, 2, 3])

    def generated(n):
        for number in range(n):
            yield abs(number)

    def delegated(n): yield from generated(n)

    def generators(): return list(delegated(4)), sum(abs(x) for x in generated(3)), next(generated(1))

    async def coroutine(n):
        await asyncio.sleep(0)
        return n if n < 2 else await coroutine(n - 1) + await coroutine(n - 2)

    async def tasks(): return await asyncio.gather(coroutine(4), coroutine(3))

    def coroutines(): return asyncio.run(tasks())

    def fails(): raise ValueError("no")

    def errors():
        found = []
        for bad in (fails, lambda: fails(), lambda: int("x"), lambda: nobody(), lambda: len(1, 2), lambda: fib()):
            try:
                bad()
            except (ValueError, TypeError) as error:
                found.append(str(error))
            try:
                len(bad())
            except (ValueError, TypeError) as error:
                found.append(str(error))
        return found

    def recursive(n):
        try:
            return recursive(n + 1)
        except RecursionError:
            return n

    def arguments(a, *b, c=2, **d): return a, b, c, d

    def calls(): return arguments(1, abs(-2), c=fib(2)), arguments(*[1, 2], **{"c": 3}), arguments(a=(y := fib(3)), z=y)

    def nothing():
        try:
            return nobody()
        except TypeError as error:
            return str(error)
"""
PARTS = "functions methods builtins closures carried generators coroutines errors calls nothing".split()


@pytest.fixture
def program(make_package):
    name = make_package(PROGRAM)
    with cassette_import.install([name]):
        yield __import__(name)


@pytest.fixture
def in_c(monkeypatch):
    """Have contexts use the hooks in C."""
    with ways("in C", monkeypatch):
        yield


def calls_in(way, function):
    """The result of a program, and the numbers of calls by function and caller."""
    with pytest.MonkeyPatch.context() as patch, ways(way, patch):
        profile = Profile()
        with profile:
            result = function()
        thread = profile.current_thread()
        assert thread.node is thread.root
    found = {}
    for label, (entry, callers) in Statistics(profile).functions().items():
        by_caller = {caller: (one.calls, one.primitive) for caller, one in callers.items()}
        found[label] = entry.calls, entry.primitive, by_caller
    return result, found


@pytest.mark.parametrize("part", PARTS)
def test_the_same_calls_are_counted_as_in_python(part, program):
    function = getattr(program, part)
    assert repr(calls_in("in C", function)) == repr(calls_in("in Python", function))


def test_paths_beyond_the_limit_are_counted_as_in_python(program, monkeypatch):
    totals = []
    for way in ("in C", "in Python"):
        with ways(way, monkeypatch):
            profile = Profile(paths=5)
            overdub(profile, program.functions)
            overdub(profile, program.closures)
            found = Statistics(profile).functions()
            totals.append({label: (entry.calls, entry.primitive) for label, (entry, _) in found.items()})
    assert totals[0] == totals[1]


def test_a_program_recurses_as_deeply_as_without_a_context(program, in_c):
    plain = program.recursive(0)
    profile = Profile()
    overdub(profile, program.recursive, 0)
    assert abs(overdub(profile, program.recursive, 0) - plain) <= 5


def test_an_error_below_an_interrupted_event_leaves_a_tree_that_goes_on(program, in_c):
    profile = Profile()
    with profile:
        program.recursive(0)
        program.functions()
    assert profile.current_thread().node is profile.current_thread().root


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_interrupts_at_any_moment_leave_a_tree_that_goes_on(program, in_c):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    profile, interrupts = Profile(), 0
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with profile:
            program.functions()
            for attempt in range(150):
                try:
                    signal.setitimer(signal.ITIMER_REAL, 0.0002 + attempt * 1e-6)
                    late = time.monotonic() + 1
                    while time.monotonic() < late:
                        program.functions()
                        program.errors()
                except KeyboardInterrupt:
                    interrupts += 1
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 100  # Python loses those that arrive while `int("x")` writes the text of its error
    thread = profile.current_thread()
    assert thread.node is thread.root
    found = {label[2]: entry for label, (entry, _) in Statistics(profile).functions().items()}
    assert found["fib"].calls > 150


def test_events_keep_no_object_alive_and_drop_no_reference(program, in_c):
    profile = Profile()
    overdub(profile, program.methods)
    overdub(profile, program.errors)
    program.fib.marker = result = object()
    counted = [program.fib, result, program.Shape, program.Square.area, len]
    before = [sys.getrefcount(one) for one in counted]
    for _ in range(200):
        overdub(profile, program.methods)
        overdub(profile, program.errors)
        profile.prehook(program.fib)
        assert profile.recorder.leave(result, program.fib) is result
    assert [sys.getrefcount(one) for one in counted] == before


def test_events_take_no_memory_that_they_do_not_return(program, in_c):
    profile = Profile()

    def run(times):
        for _ in range(times):
            overdub(profile, program.functions)
            overdub(profile, program.closures)
            overdub(profile, program.errors)
            overdub(profile, program.builtins)
        gc.collect()

    run(3)
    tracemalloc.start()
    try:
        run(3)
        objects, (memory, _) = len(gc.get_objects()), tracemalloc.get_traced_memory()
        run(50)
        assert len(gc.get_objects()) - objects < 50
        assert tracemalloc.get_traced_memory()[0] - memory < 20_000
    finally:
        tracemalloc.stop()


def test_an_argument_dies_when_it_would_have_died(make_package, in_c):
    name = make_package(
        """
        class Thing: pass
        def use(thing): return None
        def main(seen):
            use(Thing())
            seen()
            (lambda thing: None)(Thing())
            seen()
        """
    )
    with cassette_import.install([name]):
        module = __import__(name)
        alive = weakref.WeakSet()
        module.Thing.__init__ = lambda self: alive.add(self)
        counts = []
        overdub(Profile(), module.main, lambda: counts.append(len(alive)))
    assert counts == [0, 0]


def test_an_unreferenced_profile_is_freed(program, in_c):
    profile = Profile()
    overdub(profile, program.functions)
    gone = weakref.ref(profile)
    del profile
    gc.collect()
    assert gone() is None


def test_a_wide_and_a_deep_tree_die_without_recursion(in_c):
    profile = Profile(paths=400_000)
    functions = [eval("lambda: None", {"__name__": str(number)}) for number in range(2)]
    for number in range(60_000):
        function = eval(f"len.__class__ and (lambda: {number})")
        function.__qualname__ = function.__name__ = f"f{number}"
        function.__code__ = function.__code__.replace(co_name=f"f{number}")
        profile.prehook(function)
        if number % 2:
            profile.posthook(None, function)
    assert functions
    del profile
    gc.collect()


def test_each_thread_has_a_tree(program, in_c):
    profile = Profile()
    with profile:
        threads = [threading.Thread(target=program.functions) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = {label[2]: entry.calls for label, (entry, _) in Statistics(profile).functions().items()}
    alone = calls_in("in C", program.functions)[1]
    assert found["fib"] == 8 * next(entry[0] for label, entry in alone.items() if label[2] == "fib")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_begins_with_empty_trees(program, in_c):
    profile = Profile()
    with profile:
        program.functions()
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                profile.forked()
                program.closures()
                found = {label[2] for label in Statistics(profile).totals()}
                os.write(write, b"ok" if "fib" not in found and "inner" in found else repr(found).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        answer = os.read(read, 1000)
        os.close(read)
        os.close(write)
    assert answer == b"ok"


def test_a_hook_that_is_registered_while_a_function_runs_is_called_there(make_package, in_c):
    name = make_package(
        """
        def called(x): return x
        def main(register):
            called(1)
            register()
            try:
                called(2)
                return int("x")
            except ValueError:
                return called(3)
        """
    )
    with cassette_import.install([name]):
        module = __import__(name)
        seen = []

        def hook(ctx, result, f, *args):
            seen.append((f.__name__, args))

        profile = Profile()
        try:
            assert overdub(profile, module.main, lambda: Profile.posthook.register(module.called)(hook)) == 3
            assert overdub(profile, module.main, lambda: None) == 3
        finally:
            Profile.posthook.remove(hook)
        assert seen == [("called", (2,)), ("called", (3,)), ("called", (1,)), ("called", (2,)), ("called", (3,))]
        assert profile.current_thread().node is profile.current_thread().root
        found = {label[2]: entry.calls for label, (entry, _) in Statistics(profile).functions().items()}
        assert found["called"] == 6


def test_a_profile_in_a_stack_of_contexts_counts_the_same_calls(program, in_c):
    class Counting(Context, events=cassette_import.Events.CALLS):
        count = 0

        def prehook(self, f, *args, **kwargs):
            self.count += 1

    def counted(profile):
        return {label[2]: entry.calls for label, (entry, _) in Statistics(profile).functions().items()}

    alone, inner, other = Profile(), Profile(), Counting()
    overdub(alone, program.errors)
    with other:
        overdub(inner, program.errors)
    assert counted(alone) == counted(inner)
    assert other.count > 10


def test_a_subclass_with_hooks_of_its_own_has_them_called(program, in_c):
    class Mine(Profile, events=cassette_import.Events.CALLS):
        seen = 0

        def prehook(self, f, *args, **kwargs):
            self.seen += 1
            super().prehook(f, *args, **kwargs)

    mine = Mine()
    overdub(mine, program.functions)
    assert mine.seen > 10
    assert sum(entry.calls for entry, _ in Statistics(mine).functions().values()) == mine.seen


WRONG = {
    "enter without a callee": lambda recorder: recorder.enter(),
    "leave without a callee": lambda recorder: recorder.leave(None),
    "a recorder of nothing": lambda recorder: ACCELERATOR.Recorder(),
    "a recorder without threads": lambda recorder: ACCELERATOR.Recorder(None, None, None, None, None),
    "a tree that is none": lambda recorder: ACCELERATOR.Recorder({}, dict, dict, dict, None).enter(len),
    "a node below something else": lambda recorder: ACCELERATOR.Node("a", "a", 3, "", {}),
    "a tree without a node": lambda recorder: ACCELERATOR.Tree("a", 3, True),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_call_is_an_error(wrong, in_c):
    with pytest.raises(TypeError):
        wrong(Profile().recorder)


def test_an_error_of_the_clock_is_raised(in_c, monkeypatch):
    import cassette_import.contexts.profile.context as context

    def broken():
        raise OSError("no time")

    monkeypatch.setattr(context, "perf_counter", broken)
    profile = Profile()
    for hook in (functools.partial(profile.recorder.enter, len), functools.partial(profile.recorder.leave, 0, len)):
        with pytest.raises(OSError, match="no time"):
            hook()


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "PYTHONPATH": str(PROJECT), **environment},
        capture_output=True,
        text=True,
    )


def test_the_environment_selects_the_hooks_in_python():
    done = python(
        """
        from cassette_import.kits.calls.accelerator import ACCELERATOR
        from cassette_import.contexts import Profile
        print(ACCELERATOR.reason, type(Profile()) is Profile)
        """,
        CASSETTE_IMPORT_ACCELERATOR="0",
    )
    assert done.stdout == "CASSETTE_IMPORT_ACCELERATOR=0 is set True\n", done.stderr


def test_a_subinterpreter_profiles_with_or_without_it():
    done = python(
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        code = '''
        import colorsys
        from cassette_import import overdub
        from cassette_import.contexts import Profile
        profile = Profile()
        print(overdub(profile, colorsys.hls_to_rgb, 0.1, 0.2, 0.3)[0] > 0, "profile: 3 calls" in profile.summary())
        '''
        import textwrap
        for _ in range(2):
            interpreter = interpreters.create()
            interpreters.run_string(interpreter, textwrap.dedent(code))
            interpreters.destroy(interpreter)
        """
    )
    if "No module named" in done.stderr:
        pytest.skip("there are no subinterpreters")
    assert done.stdout == "True True\n" * 2, done.stderr


def types_of_extension():
    return [found for found in gc.get_objects() if type(found) is type and found.__module__.endswith("._accelerator")]


def test_an_extension_that_is_freed_leaves_no_type(in_c):
    extension = sys.modules[ACCELERATOR.Recorder.__module__]
    gc.collect()
    before = len(types_of_extension())
    again = importlib.util.module_from_spec(extension.__spec__)
    extension.__spec__.loader.exec_module(again)
    made = [value for value in vars(again).values() if isinstance(value, type)]
    assert len(types_of_extension()) == before + len(made)
    del again, made
    gc.collect()
    assert len(types_of_extension()) == before


def test_doctor_says_whether_it_is_used():
    done = subprocess.run(
        [sys.executable, "-m", "cassette_import", "doctor"],
        env={**os.environ, "PYTHONPATH": str(PROJECT), "CASSETTE_IMPORT_ACCELERATOR": "0"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "accelerator: not used: CASSETTE_IMPORT_ACCELERATOR=0 is set\n", done.stderr


def test_the_hooks_in_c_are_there_where_the_package_was_built():
    if problem():
        pytest.skip(problem())
    assert ACCELERATOR.Recorder.__module__.endswith("._accelerator")
