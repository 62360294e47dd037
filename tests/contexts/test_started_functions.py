"""Functions that the standard library calls in threads, jobs and event loops are events, as are the program's calls."""

import asyncio
import io
import re
import textwrap
import threading

import pytest
from helpers.command_line import cassette

from cassette_import import Context, overdub
from cassette_import.contexts import CallGraph, CallTypes, Faults, Memoize, Profile, Substitute, Trace

PROGRAM = """
    import asyncio
    import concurrent.futures
    import contextvars
    import functools
    import threading
    from multiprocessing.pool import ThreadPool

    class Tax:
        def of(self, n):
            return work(n)

    def helper(n):
        return n

    def work(n):
        return helper(n) + 1

    def thread():
        results = []
        started = threading.Thread(target=lambda: results.append(work(1)))
        started.start()
        started.join()
        return results

    def collect(results, n):
        results.append(work(n))

    class Worker(threading.Thread):
        def __init__(self, results):
            super().__init__(target=collect, args=(results, 1))

    def of_thread(made, results):
        made.start()
        made.join()
        assert not hasattr(made, "_target")
        return results

    def target_of_thread():
        results = []
        return of_thread(threading.Thread(target=collect, args=(results, 1)), results)

    def target_of_subclass():
        results = []
        return of_thread(Worker(results), results)

    def timer():
        results = []
        made = threading.Timer(0, collect, (results, 1))
        assert made.function is collect
        made.start()
        made.join()
        assert made.function is collect
        return results

    def submitted():
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return [pool.submit(work, 1).result()]

    def partial_submitted():
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return [pool.submit(functools.partial(work, 1)).result()]

    def mapped():
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return list(pool.map(work, [1]))

    def pool(name, *arguments):
        with ThreadPool(1) as made:
            return getattr(made, name)(*arguments)

    def pool_apply():
        return [pool("apply", work, (1,))]

    def pool_map():
        return pool("map", work, [1])

    def pool_starmap():
        return pool("starmap", work, [(1,)])

    def pool_imap():
        with ThreadPool(1) as made:
            return [*made.imap(func=work, iterable=[1])]

    def pool_imap_unordered():
        with ThreadPool(1) as made:
            return [*made.imap_unordered(work, [1])]

    def context_run():
        return [contextvars.copy_context().run(work, 1)]

    def in_loop(function):
        async def main():
            return [await function(asyncio.get_running_loop())]
        return asyncio.run(main())

    def to_thread():
        return in_loop(lambda loop: asyncio.to_thread(work, 1))

    def run_in_executor():
        return in_loop(lambda loop: loop.run_in_executor(None, work, 1))

    def called(loop, schedule):
        done, results = loop.create_future(), []

        def finish():
            done.set_result(results[0])

        schedule(collect, results, 1)
        loop.call_later(0.01, finish)
        return done

    def call_soon():
        return in_loop(lambda loop: called(loop, loop.call_soon))

    def call_later():
        return in_loop(lambda loop: called(loop, functools.partial(loop.call_later, 0)))

    async def slowly(n):
        return work(n)

    def task():
        return in_loop(lambda loop: loop.create_task(slowly(1)))
"""

WAYS = """
    thread target_of_thread target_of_subclass timer submitted partial_submitted mapped pool_apply pool_map pool_starmap
    pool_imap pool_imap_unordered context_run to_thread run_in_executor call_soon call_later task
""".split()  # fmt: skip
THROUGH_COLLECT = {"target_of_thread", "target_of_subclass", "timer", "call_soon", "call_later"}


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


@pytest.mark.parametrize("way", WAYS)
def test_a_started_function_is_substituted(way, program):
    assert getattr(program, way)() == [2]
    substitute = Substitute({program.work: lambda n: -n})
    assert overdub(substitute, getattr(program, way)) == [-1]
    assert list(substitute.calls.values()) == [1]
    assert getattr(program, way)() == [2]


@pytest.mark.parametrize("way", sorted(THROUGH_COLLECT))
def test_the_function_that_is_started_itself_is_substituted(way, program):
    substitute = Substitute({program.collect: lambda results, n: results.append("instead")})
    assert overdub(substitute, getattr(program, way)) == ["instead"]


@pytest.mark.parametrize("way", WAYS)
def test_a_started_function_has_faults(way, program):
    faults = Faults(program.work, corrupt=lambda result: "corrupt")
    assert overdub(faults, getattr(program, way)) == ["corrupt"]


@pytest.mark.parametrize("way", WAYS)
def test_a_started_function_is_memoized(way, program):
    memoize = Memoize(program.work)
    for _ in range(2):
        assert overdub(memoize, getattr(program, way)) == [2]
    assert re.search("2 calls, 1 hit, 1 miss", memoize.summary())


def outermost(way):
    return "collect" if way in THROUGH_COLLECT else "work"


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("thread", "task", "context_run")])
def test_the_trace_has_the_call_of_a_started_function(way, program):
    file = io.StringIO()
    overdub(Trace(file=file), getattr(program, way))
    assert re.search(rf"(?m)^(\[.*\] )? *{outermost(way)}\(", file.getvalue()), file.getvalue()
    assert "_handle_tasks" not in file.getvalue()  # a thread that the standard library starts for itself


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("thread", "task", "context_run")])
def test_the_call_graph_and_the_types_have_the_call_of_a_started_function(way, program):
    graph, types = CallGraph(), CallTypes(module=program.__name__)
    overdub(graph, getattr(program, way))
    assert outermost(way) in {callee.name for _, callee in graph.graph().calls}
    overdub(types, getattr(program, way))
    (stubs,) = types.stubs().values()
    assert f"def {outermost(way)}(" in stubs


@pytest.mark.parametrize("way", WAYS)
def test_the_profile_counts_the_call_of_a_started_function_once(way, program):
    profile = Profile(limit=1000)
    overdub(profile, getattr(program, way))
    rows = [line.split() for line in profile.summary().splitlines() if line.endswith("(work)")]
    assert [row[0] for row in rows] == ["1"]


def test_an_overload_of_a_function_in_c_takes_a_started_call(make_program):
    module = make_program("""
        import math
        from concurrent.futures import ThreadPoolExecutor

        def root():
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(math.sqrt, 4.0).result()
    """)
    assert overdub(Substitute({"math.sqrt": lambda x: "root"}), module.root) == "root"


def test_the_message_of_a_callback_that_raises_is_that_of_plain_python(program):
    def messages():
        found = []
        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda loop, context: found.append((context["message"], repr(context["handle"]))))
        loop.call_soon(program.helper, 1, 2)
        loop.call_soon(loop.stop)
        loop.run_forever()
        loop.close()
        return [re.sub(" at .*", "", part) for one in found for part in one]

    plain = messages()
    assert "Exception in callback helper(" in plain[0]
    with Trace(file=io.StringIO()):
        assert messages() == plain


def test_the_exception_of_a_thread_has_the_frames_of_plain_python(program):
    def frames():
        found = []
        before, threading.excepthook = threading.excepthook, found.append
        try:
            started = threading.Thread(target=program.helper, args=(1, 2))
            started.start()
            started.join()
        finally:
            threading.excepthook = before
        traceback, names = found[0].exc_traceback, []
        while traceback is not None:
            names.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        return [str(found[0].exc_value), *names]

    plain = frames()
    with Trace(file=io.StringIO()):
        assert frames() == plain


def test_a_context_that_is_not_inherited_does_not_see_a_started_function(program):
    class Calls(Context):
        def __init__(self):
            self.seen = []

        def prehook(self, f, *args, **kwargs):
            self.seen.append(f)

    calls = Calls()
    overdub(calls, program.submitted)
    assert program.work not in calls.seen
    assert program.helper not in calls.seen


def test_run_substitutes_a_started_function_of_the_program(tmp_path):
    (tmp_path / "fakes.py").write_text("def work(n):\n    return -n\n")
    text = textwrap.dedent(PROGRAM) + "\nprint(submitted(), target_of_thread(), to_thread())\n"
    (tmp_path / "app.py").write_text(text)
    done = cassette("run", "-c", "substitute:__main__.work=fakes.work", "app.py", folder=tmp_path)
    assert done.stdout == "[-1] [-1] [-1]\n", done.stderr
    assert "__main__.work: 3 calls" in done.stderr
