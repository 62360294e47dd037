"""What breaks in similar tools, and must hold here: B1 to B9 of docs/checklist.md."""

import asyncio
import contextlib
import importlib
import json
import sys
import textwrap
import threading

import pytest
from helpers.command_line import run
from helpers.contexts import ReadsArguments
from helpers.same_program import WAYS, assert_same

from cassette_import import Context, install
from cassette_import.contexts import Noop

PROGRAMS = {
    "B4_chained_comparisons_and_augmented_assignments": """
        log = []

        class N:
            def __init__(self, x):
                self.x = x

            def __lt__(self, other):
                log.append(("lt", self.x, other.x))
                return self.x < other.x

            def __iadd__(self, other):
                log.append(("iadd", self.x))
                self.x += other
                return self

            def __add__(self, other):
                log.append("add")

            def __repr__(self):
                return f"N({self.x})"

        def give(x):
            log.append(("give", x))
            return N(x)

        class Box:
            def __getitem__(self, key):
                log.append(("get", key))
                return N(0)

            def __setitem__(self, key, value):
                log.append(("set", key, value.x))

        def main():
            log.clear()
            found = give(2) < give(1) < give(3), give(1) < give(2) < give(3)
            n = same = N(1)
            n += 1
            box = Box()
            box[len("ab")] += 5
            xs = ys = [1]
            xs += (2,)
            return found, n is same, n, ys, log
    """,
    "B4_duplicate_keywords_raise_in_the_words_of_python": """
        def f(a, b=1):
            return a, b

        def attempt(call):
            try:
                return call()
            except TypeError as error:
                return str(error)

        def main():
            calls = (
                lambda: f(a=1, **{"a": 2}), lambda: f(1, **{"a": 2}), lambda: f(**{"b": 1}, **{"b": 2}),
                lambda: dict(x=1, **{"x": 2}), lambda: f(1, 2, 3), lambda: f(*1), lambda: f(**1), lambda: f(1, c=2),
            )
            return [attempt(call) for call in calls]
    """,
    "B5_nothing_is_moved_into_a_lambda": """
        import asyncio, collections, pickle, sys, typing, warnings

        class A:
            base = len("abc")
            sizes = [x * len("a") for x in range(base)]

            def m(self, x):
                return x

        class B(A):
            def m(self, x):
                return super().m(abs(x)) if (y := super().m(x)) else y

            async def a(self, x):
                return abs(await asyncio.sleep(0, super().m(x)))

        N = collections.namedtuple("N", "x")
        T = typing.TypeVar("T")

        def who():
            return sys._getframe(1).f_code.co_name

        def warn():
            warnings.warn("here", stacklevel=2)

        def main():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                warn(), [warn() for _ in range(1)]
            inside = collections.namedtuple("Inside", "x"), typing.TypeVar("U")
            return (
                B().m(-1), asyncio.run(B().a(-2)), A.sizes, who(), [who() for _ in range(1)],
                pickle.loads(pickle.dumps((N(1), T))) == (N(1), T), [i.__module__ == __name__ for i in inside],
                [w.lineno for w in caught],
            )
    """,
    "B8_columns_sources_and_lines": """
        import inspect, traceback

        def f(x):
            return [
                abs(x) + int("1"), int(
                    x,
                )
            ]

        def main():
            try:
                f(None)
            except TypeError as error:
                frames = traceback.extract_tb(error.__traceback__)
                found = [(s.name, s.lineno, s.end_lineno, s.colno, s.end_colno, s.line) for s in frames]
                text = "".join(traceback.format_tb(error.__traceback__))
            return [s for s in found if s[0] in ("f", "main")], text[-200:], inspect.getsource(f)
    """,
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("program", PROGRAMS)
def test_program_that_breaks_in_similar_tools_does_what_it_did(program, way, make_package):
    assert_same(way, PROGRAMS[program], make_package)


IN_FLIGHT = """
    import asyncio

    log = []

    def function(leave):
        log.append("begin")
        found = abs(-1)
        leave()
        found += abs(-2)
        log.append("end")
        return found

    def generator():
        for i in range(1, 5):
            log.append(i)
            yield abs(-i)

    async def coroutine():
        for i in range(4):
            log.append(abs(-i))
            await asyncio.sleep(0)
        return len(log)
"""


@pytest.fixture
def in_flight(make_program):
    return make_program(IN_FLIGHT)


@pytest.mark.parametrize("context_type", [Noop, ReadsArguments])
def test_B1_a_function_continues_when_its_context_ends(context_type, in_flight):
    with contextlib.ExitStack() as stack:
        stack.enter_context(context_type())
        assert in_flight.function(stack.close) == 3
    assert in_flight.log == ["begin", "end"]


@pytest.mark.parametrize("context_type", [Noop, ReadsArguments])
def test_B1_a_generator_continues_when_its_context_ends(context_type, in_flight):
    with context_type():
        generator = in_flight.generator()
        found = [next(generator), next(generator)]
    assert [*found, *generator] == in_flight.log == [1, 2, 3, 4]


@pytest.mark.parametrize("context_type", [Noop, ReadsArguments])
def test_B1_a_task_continues_when_its_context_ends(context_type, in_flight):
    async def main():
        with context_type():
            task = asyncio.create_task(in_flight.coroutine())
            await asyncio.sleep(0)
        return await task

    assert asyncio.run(main()) == 4
    assert in_flight.log == [0, 1, 2, 3]


def test_B2_threads_lose_no_event_and_get_no_wrong_result(make_program):
    program = make_program("def work(n):\n    return sum([abs(-i) for i in range(n)])\n")

    class Count(Context):
        def __init__(self):
            self.count = 0

        def prehook(self, f, *args, **kwargs):
            self.count += f is abs

    found, contexts = [], [Count() for _ in range(4)]

    def run_in(context):
        for _ in range(10):
            with context:
                found.append(program.work(200))
            found.append(program.work(200))

    threads = [threading.Thread(target=run_in, args=(context,)) for context in contexts]
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(old)
    assert set(found) == {sum(range(200))}
    assert [context.count for context in contexts] == [2000] * 4


def test_B2_tasks_have_their_own_contexts(in_flight):
    class Count(Context):
        def __init__(self):
            self.count = 0

        def prehook(self, f, *args, **kwargs):
            self.count += f is abs

    async def work(context):
        with context:
            await in_flight.coroutine()

    async def main():
        await asyncio.gather(*map(work, contexts), in_flight.coroutine())

    contexts = [Count(), Count()]
    asyncio.run(main())
    assert [context.count for context in contexts] == [4, 4]
    assert len(in_flight.log) == 12


@pytest.mark.parametrize("hook", ["prehook", "posthook", "overdub"])
def test_B3_an_error_in_a_hook_is_not_swallowed(hook, make_program):
    program = make_program("def f(x):\n    return abs(x)\ndef main():\n    return f(-1)\n")

    class Own(Exception):
        pass

    class Failing(Context):
        pass

    @getattr(Failing, hook).register(abs)
    def _(ctx, *args):
        raise Own(hook)

    with Failing(), pytest.raises(Own, match=hook):
        program.main()
    assert program.main() == 1


def test_B6_late_declarations_patterns_and_empty_bodies_are_instrumented(make_program):
    program = make_program("""
        counter = 0

        def late():
            if abs(-1):
                global counter
                counter = abs(-2)
            value = 1
            def inner():
                len("a")
                nonlocal value
                value = abs(-3)
            inner()
            return value

        def pattern(x):
            match abs(x):
                case int(y) if abs(y):
                    return len("a")

        def empty(): ...

        def main():
            return late(), pattern(-1), empty(), counter
    """)
    seen = []

    class Seen(Context):
        def prehook(self, f, *args, **kwargs):
            seen.append(f.__name__)

    with Seen():
        assert program.main() == (3, 1, None, 2)
    assert seen == ["late", "abs", "abs", "inner", "len", "abs", "pattern", "abs", "abs", "len", "empty"]


def test_B6_what_stays_plain_is_reported(make_package):
    name = make_package({"__init__.py": "", "good.py": "def f(): ...\n", "bad.py": "x = = 1\n"})
    with install([name, "math*"]) as installation:
        importlib.import_module(f"{name}.good")
        with pytest.raises(SyntaxError):
            importlib.import_module(f"{name}.bad")
        report = {module.name: module for module in installation.report()}
    assert report[f"{name}.good"].action == "rewritten"
    assert (report[f"{name}.bad"].action, "syntax error" in report[f"{name}.bad"].reason) == ("left alone", True)
    assert report["math"].action == "left alone"
    assert report["math"].reason


SECOND = """
    import json, sys
    import cassette_import

    class Count(cassette_import.Context):
        def __init__(self):
            self.names = []

        def HOOK(self, *args, **kwargs):
            self.names.append(len(args))

    cassette_import.install(["program"])
    with Count() as count:
        import program
        program.main()
    print(json.dumps(count.names))
"""


def test_B7_the_second_process_sees_as_many_events_as_the_first(tmp_path):
    program = "def f(x):\n    return [abs(x) + len(str(i)) for i in range(3)]\ndef main():\n    f(-1), f(2)\nmain()\n"
    (tmp_path / "program.py").write_text(program)

    def events(hook):
        (tmp_path / "driver.py").write_text(textwrap.dedent(SECOND).replace("HOOK", hook))
        done = run("driver.py", folder=tmp_path, PYTHONDONTWRITEBYTECODE="")
        assert done.stderr == ""
        return json.loads(done.stdout)

    first = events("prehook")
    assert len(first) > 20
    assert events("prehook") == first
    # What was kept for one kind of hook is not used for another.
    assert len(events("posthook")) == len(first)
    assert events("errorhook") == []
    assert events("prehook") == first
    assert any("cassette" in path.name for path in (tmp_path / "__pycache__").iterdir())


def test_B9_inactive_functions_run_the_code_that_python_compiled(make_package):
    name = make_package("def f(x):\n    return abs(x)\nclass A:\n    def m(self): return f(-1)\n")
    module = importlib.import_module(name)
    codes = module.f.__code__, module.A.m.__code__
    with install([name]):
        assert (module.f.__code__, module.A.m.__code__) == codes
        assert module.f.__code__ is codes[0]
        with Noop():
            module.A().m()
    assert module.f.__code__ is codes[0]
    assert module.A.m.__code__ is codes[1]
