"""Threads, executors' jobs and asyncio tasks: which contexts are active in them and which they inherit."""

import asyncio
import concurrent.futures
import contextlib
import contextvars
import gc
import inspect
import operator
import os
import subprocess
import sys
import textwrap
import threading
import traceback
import weakref

import pytest
from helpers.contexts import entered_without_source

from cassette_import import Context, canrecurse, current, fallback, install, overdub, recurse
from cassette_import.interpreter.heap import functions_of
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE, INACTIVE

SOURCE = """
    import asyncio

    def twice(x):
        return x * 2

    def numbers(count):
        for n in range(count):
            yield n + 1

    def numbers_within(ctx, count):
        with ctx:
            for n in range(count):
                yield n + 1

    async def slowly(x, gate=None):
        if gate is not None:
            await gate.wait()
        return x + x

    async def counting(count):
        for n in range(count):
            await asyncio.sleep(0)
            yield n + 1

    async def counting_within(ctx, count):
        with ctx:
            for n in range(count):
                await asyncio.sleep(0)
                yield n + 1
"""


@pytest.fixture
def program(make_program):
    return make_program(SOURCE)


class Seen(Context):
    """Records the arguments of each multiplication and addition, and the thread that runs it."""

    def __init__(self):
        self.events = []

    def prehook(self, f, *args, **kwargs):
        if f in (operator.add, operator.mul):
            self.events.append(args)


class Inherited(Seen, inherit=True):
    pass


def in_thread(function, *args):
    """Run a function in a thread; return its result."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function(*args)))
    thread.start()
    thread.join()
    return results[0]


# How a context type becomes inheritable


def test_a_context_type_is_not_inherited_by_default():
    assert Seen.inherit is False
    assert Inherited.inherit is True


def test_a_context_type_may_be_inherited_by_a_class_attribute():
    class Ctx(Context):
        inherit = True

    assert in_context(Ctx(), in_thread, current).__class__ is Ctx


def test_a_derived_context_type_is_inherited_as_its_base_is_unless_it_overrides_that():
    class Derived(Inherited): ...

    class Otherwise(Inherited, inherit=False): ...

    assert (Derived.inherit, Otherwise.inherit) == (True, False)


@pytest.mark.parametrize("wrong", [1, "yes"])
def test_inherit_is_true_or_false(wrong):
    with pytest.raises(TypeError, match="inherit must be True or False"):
        type("Ctx", (Context,), {}, inherit=wrong)
    with pytest.raises(TypeError, match="inherit must be True or False"):
        type("Ctx", (Context,), {"inherit": wrong})


def in_context(ctx, function, *args):
    with ctx:
        return function(*args)


# Threads


def test_a_thread_inherits_an_inheritable_context(program):
    with Inherited() as ctx:
        assert in_thread(program.twice, 2) == 4
    assert ctx.events == [(2, 2)]


def test_a_thread_does_not_inherit_a_context_that_is_not_inheritable(program):
    with Seen() as ctx:
        assert in_thread(program.twice, 2) == 4
        assert in_thread(current) is None
    assert ctx.events == []


def test_of_a_mixed_stack_a_thread_inherits_the_inheritable_contexts_in_order(program):
    outer, between, inner = Inherited(), Seen(), Inherited()
    with outer, between, inner:
        in_thread(program.twice, 2)
        assert in_thread(lambda: ACTIVE.get().contexts) == (outer, inner)
    assert (outer.events, between.events, inner.events) == ([(2, 2)], [], [(2, 2)])


def test_a_thread_keeps_what_it_has_inherited_when_its_starter_leaves_the_context(program):
    ctx, left = Inherited(), threading.Event()
    thread = threading.Thread(target=lambda: left.wait(10) and program.twice(3))
    with ctx:
        thread.start()
    left.set()
    thread.join()
    assert ctx.events == [(3, 2)]
    program.twice(4)
    assert ctx.events == [(3, 2)]


def test_a_thread_of_a_thread_inherits_too(program):
    with Inherited() as ctx:
        in_thread(in_thread, program.twice, 5)
    assert ctx.events == [(5, 2)]


def test_a_subclass_of_thread_inherits_too(program):
    class Own(threading.Thread):
        def run(self):
            program.twice(6)

    with Inherited() as ctx:
        thread = Own()
        thread.start()
        thread.join()
        timer = threading.Timer(0, program.twice, (7,))
        timer.start()
        timer.join()
    assert ctx.events == [(6, 2), (7, 2)]


def test_a_thread_that_a_hook_starts_does_not_have_the_context_of_the_hook(program):
    found = []

    class Ctx(Context, inherit=True):
        def prehook(self, f, *args, **kwargs):
            found.append(in_thread(current))

    with Ctx():
        program.twice(1)
    assert found == [None]


def test_what_a_thread_enters_itself_comes_on_top_of_what_it_has_inherited(program):
    outer, inner = Inherited(), Seen()

    def work():
        with inner:
            program.twice(1)
        program.twice(2)

    with outer:
        in_thread(work)
    assert (outer.events, inner.events) == ([(1, 2), (2, 2)], [(1, 2)])


def test_a_hook_that_is_registered_late_is_called_in_threads_that_have_inherited(program):
    class Ctx(Context, inherit=True): ...

    seen, registered, ready = [], threading.Event(), threading.Event()

    def work():
        program.twice(1)
        ready.set()
        registered.wait(10)
        program.twice(2)

    thread = threading.Thread(target=work)
    with Ctx():
        thread.start()
    ready.wait(10)
    Ctx.prehook.register(operator.mul)(lambda ctx, f, *args: seen.append(args))
    registered.set()
    thread.join()
    assert seen == [(2, 2)]


def test_nothing_is_active_any_more_when_the_threads_that_have_inherited_are_done(program):
    with Inherited():
        in_thread(program.twice, 1)
        assert FLAGS["@on"]
    gc.collect()
    assert not FLAGS["@on"]


def test_a_thread_that_cannot_be_started_raises_the_plain_error(program):
    thread = threading.Thread(target=int)
    with Inherited():
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="threads can only be started once") as error:
            thread.start()
    names = [frame.name for frame in traceback.extract_tb(error.value.__traceback__)]
    assert names == ["test_a_thread_that_cannot_be_started_raises_the_plain_error", "start"]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="Thread(context=...) is new in 3.14")
def test_a_thread_with_given_context_variables_runs_in_their_contexts(program):
    with Seen() as ctx:
        variables = contextvars.copy_context()
        thread = threading.Thread(target=program.twice, args=(8,), context=variables)
        thread.start()
        thread.join()
    assert ctx.events == [(8, 2)]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="threads may inherit context variables from 3.14 on")
def test_threads_that_inherit_context_variables_inherit_inheritable_contexts_only(tmp_path):
    script = """
        import contextvars, sys, threading
        from cassette_import import Context, current
        other = contextvars.ContextVar("other", default=0)
        class Plain(Context): ...
        class Inherited(Context, inherit=True): ...
        found = []
        def work(): found.append((current(), other.get()))
        def start():
            thread = threading.Thread(target=work); thread.start(); thread.join()
        other.set(1)
        with Plain(): start()
        with Inherited() as ctx: start()
        assert sys.flags.thread_inherit_context
        assert found == [(None, 1), (ctx, 1)], found
    """
    run(script, "-X", "thread_inherit_context=1")


def run(script, *options):
    """Run a program with the interpreter that runs the tests."""
    command = [sys.executable, *options, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Attributes of the diverted functions of the standard library


@pytest.mark.parametrize(
    "function",
    [threading.Thread.start, concurrent.futures.ThreadPoolExecutor.submit, asyncio.BaseEventLoop.create_task],
    ids=["start", "submit", "create_task"],
)
def test_diverted_functions_keep_their_attributes(function):
    with Seen():
        pass
    assert "def " + function.__name__ in inspect.getsource(function)
    assert str(inspect.signature(function)).startswith("(self")
    assert function.__module__.partition(".")[0] in ("threading", "concurrent", "asyncio")


def test_an_overload_of_a_function_that_starts_a_thread_or_task_is_called(program):
    class Ctx(Context): ...

    started = []
    Ctx.overdub.register(threading.Thread.start)(lambda ctx, f, thread: started.append(thread))
    thread = threading.Thread(target=int)

    def start(thread):
        thread.start()

    overdub(Ctx(), start, thread)
    assert started == [thread]


def test_modules_that_are_imported_in_a_context_are_diverted_too():
    run("""
        import sys
        from cassette_import import Context, current
        class Plain(Context): ...
        class Inherited(Context, inherit=True): ...
        assert "asyncio" not in sys.modules and "concurrent.futures.thread" not in sys.modules
        with Plain(), Inherited() as ctx:
            import asyncio, concurrent.futures
            async def work(): return current()
            async def main(): return await asyncio.create_task(work()), await asyncio.to_thread(current)
            assert asyncio.run(main()) == (ctx, ctx)
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                assert pool.submit(current).result() is ctx
        import concurrent.futures.process
        import multiprocessing.pool
        assert sum("cassette" in type(finder).__module__ for finder in sys.meta_path) == 1  # libraries are awaited
    """)


# Executors


def test_a_job_inherits_from_the_code_that_submits_it(program):
    first, second, third = Inherited(), Inherited(), Seen()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with first:
            pool.submit(program.twice, 1).result()
        pool.submit(program.twice, 2).result()
        with second:
            assert list(pool.map(program.twice, [3, 4])) == [6, 8]
        with third:
            pool.submit(program.twice, 5).result()
    assert (first.events, second.events, third.events) == ([(1, 2)], [(3, 2), (4, 2)], [])


def test_the_threads_of_an_executor_inherit_nothing_themselves(program):
    with concurrent.futures.ThreadPoolExecutor(1) as pool, Inherited() as ctx:
        pool.submit(int).result()
        with Seen():
            in_thread(lambda: pool.submit(program.twice, 1).result())
        assert ctx.events == [(1, 2)]
        ctx.events.clear()
        other = contextvars.Context()
        other.run(lambda: pool.submit(program.twice, 2).result())
    assert ctx.events == []


def test_an_error_of_a_job_is_raised_as_without_a_context(program):
    with concurrent.futures.ThreadPoolExecutor(1) as pool, Inherited(), pytest.raises(TypeError) as error:
        pool.submit(program.twice, None).result()
    assert "_run_job" not in [frame.name for frame in traceback.extract_tb(error.value.__traceback__)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_an_executor_forks_has_no_contexts(program):
    run("""
        import concurrent.futures, multiprocessing, warnings
        from cassette_import import Context, current
        warnings.simplefilter("ignore")
        class Ctx(Context, inherit=True): ...
        with Ctx() as ctx:
            fork = multiprocessing.get_context("fork")
            with concurrent.futures.ProcessPoolExecutor(1, mp_context=fork) as pool:
                assert pool.submit(current).result() is None
            assert current() is ctx
    """)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_is_forked_while_another_thread_specialises_can_do_so_too(program):
    run("""
        import os, signal, threading, warnings
        from cassette_import import Context
        from cassette_import.specialization.registry import registry
        assert Context
        warnings.simplefilter("ignore")
        holding, go_on = threading.Event(), threading.Event()
        def hold():
            with registry.lock:
                holding.set()
                go_on.wait()
        thread = threading.Thread(target=hold)
        thread.start()
        holding.wait()
        threading.Timer(0.2, go_on.set).start()
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends a child that waits for ever
            with registry.lock:
                os._exit(7)
        thread.join()
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7, status
    """)


@pytest.mark.skipif(sys.version_info < (3, 14), reason="InterpreterPoolExecutor is new in 3.14")
def test_jobs_of_other_interpreters_are_not_touched():
    run("""
        import concurrent.futures, math
        from cassette_import import Context
        class Ctx(Context, inherit=True): ...
        with Ctx(), concurrent.futures.InterpreterPoolExecutor(1) as pool:
            assert pool.submit(math.sqrt, 4).result() == 2
    """)


# asyncio


@pytest.mark.parametrize("how", ["create_task", "gather", "TaskGroup", "ensure_future", "wait_for", "eager"])
@pytest.mark.parametrize("kind", [Seen, Inherited])
def test_tasks_inherit_inheritable_contexts(program, how, kind):
    ctx = kind()

    async def main():
        with ctx:
            if how == "create_task":
                await asyncio.create_task(program.slowly(1))
            elif how == "gather":
                await asyncio.gather(program.slowly(1))
            elif how == "TaskGroup":
                async with asyncio.TaskGroup() as group:
                    group.create_task(program.slowly(1))
            elif how == "ensure_future":
                await asyncio.ensure_future(program.slowly(1))
            elif how == "wait_for":
                await asyncio.create_task(asyncio.wait_for(program.slowly(1), 10))
            else:
                if sys.version_info < (3, 12):
                    pytest.skip("eager tasks are new in 3.12")
                asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
                await asyncio.create_task(program.slowly(1))
            assert current() is ctx

    asyncio.run(main())
    assert ctx.events == ([(1, 1)] if kind is Inherited else [])


@pytest.mark.parametrize("how", ["to_thread", "run_in_executor"])
@pytest.mark.parametrize("kind", [Seen, Inherited])
def test_what_asyncio_runs_in_a_thread_inherits_inheritable_contexts(program, how, kind):
    ctx = kind()

    async def main():
        with ctx:
            if how == "to_thread":
                return await asyncio.to_thread(program.twice, 1)
            return await asyncio.get_running_loop().run_in_executor(None, program.twice, 1)

    assert asyncio.run(main()) == 2
    assert ctx.events == ([(1, 2)] if kind is Inherited else [])


def test_to_thread_takes_other_context_variables_along():
    variable = contextvars.ContextVar("variable")

    async def main():
        variable.set(1)
        with Seen():
            return await asyncio.to_thread(lambda: (variable.get(), current()))

    assert asyncio.run(main()) == (1, None)


def test_of_a_mixed_stack_a_task_inherits_the_inheritable_contexts(program):
    outer, between, inner = Inherited(), Seen(), Inherited()

    async def main():
        with outer, between, inner:
            await asyncio.create_task(program.slowly(1))

    asyncio.run(main())
    assert (outer.events, between.events, inner.events) == ([(1, 1)], [], [(1, 1)])


def test_a_task_keeps_what_it_has_inherited_when_its_creator_leaves_the_context(program):
    ctx = Inherited()

    async def main():
        gate = asyncio.Event()
        with ctx:
            task = asyncio.create_task(program.slowly(1, gate))
        gate.set()
        await task
        program.twice(2)

    asyncio.run(main())
    assert ctx.events == [(1, 1)]


def test_what_a_context_calls_to_run_a_loop_is_in_the_context(program):
    with Seen() as ctx:
        asyncio.run(program.slowly(1))
        loop = asyncio.new_event_loop()
        loop.run_until_complete(program.slowly(2))
        loop.close()
        assert overdub(Seen(), asyncio.run, program.slowly(3)) == 6
    assert ctx.events == [(1, 1), (2, 2), (3, 3)]


def test_each_call_of_a_runner_is_in_the_context_of_its_caller(program):
    first, second = Seen(), Seen()
    with asyncio.Runner() as runner:
        with first:
            runner.run(program.slowly(1))
        runner.run(program.slowly(2))
        with second:
            runner.run(program.slowly(3))
    assert (first.events, second.events) == ([(1, 1)], [(3, 3)])


def test_a_task_with_given_context_variables_runs_in_their_contexts(program):
    async def main():
        with Seen() as ctx:
            await asyncio.create_task(program.slowly(1), context=contextvars.copy_context())
        return ctx.events

    assert asyncio.run(main()) == [(1, 1)]


def test_a_callback_is_in_the_context_that_is_active_where_it_is_scheduled_until_that_is_left(program):
    ctx = Seen()

    async def main():
        loop = asyncio.get_running_loop()
        with ctx:
            loop.call_soon(program.twice, 1)
            await asyncio.sleep(0)
            loop.call_soon(program.twice, 2)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with Seen():  # something is active
            loop.call_soon(program.twice, 3, context=before)
            await asyncio.sleep(0)

    with ctx:
        before = contextvars.copy_context()
    asyncio.run(main())
    assert ctx.events == [(1, 2)]


def test_copied_context_variables_hold_a_context_until_it_is_left(program):
    with Seen() as ctx:
        variables = contextvars.copy_context()
        variables.run(program.twice, 1)
    variables.run(program.twice, 2)
    with Seen() as other:
        variables.run(program.twice, 3)
        assert variables.run(current) is None
    assert (ctx.events, other.events) == ([(1, 2)], [])


def test_a_task_group_of_tasks_with_each_their_own_context(program):
    contexts = [Seen() for _ in range(20)]

    async def work(number, ctx):
        with ctx:
            for _ in range(5):
                await asyncio.sleep(0)
                await asyncio.create_task(program.slowly(-1))
                await program.slowly(number)

    async def main():
        async with asyncio.TaskGroup() as group:
            for number, ctx in enumerate(contexts):
                group.create_task(work(number, ctx))

    asyncio.run(main())
    for number, ctx in enumerate(contexts):
        assert ctx.events == [(number, number)] * 5


# Generators and coroutines that are resumed elsewhere


def test_an_overdubbed_generator_runs_in_its_context_in_every_thread_that_advances_it(program):
    ctx = Seen()
    iterator = overdub(ctx, program.numbers, 4)
    assert [next(iterator), in_thread(next, iterator), contextvars.Context().run(next, iterator), next(iterator)] == [
        1,
        2,
        3,
        4,
    ]
    assert ctx.events == [(0, 1), (1, 1), (2, 1), (3, 1)]


def test_an_overdubbed_generator_calls_a_hook_that_was_registered_while_it_was_suspended(program):
    class Ctx(Seen): ...

    seen = []
    iterator = overdub(Ctx(), program.numbers, 3)
    next(iterator)
    Ctx.posthook.register(operator.add)(lambda ctx, result, f, *args: seen.append(args))
    next(iterator)
    assert seen == [(1, 1)]


def test_an_overload_of_every_call_does_not_match_the_machinery_that_drives_a_generator(make_program):
    class CatchAll(Context):
        def overdub(self, f, *args, **kwargs):
            return (recurse if canrecurse(self, f, *args, **kwargs) else fallback)(self, f, *args, **kwargs)

    program = make_program("""
        def numbers():
            received = yield 1
            yield received
            raise ValueError

        def main():
            iterator = numbers()
            found = [iterator.send(None), iterator.send(2)]
            try:
                next(iterator)
            except ValueError:
                found.append(3)
            return found
    """)
    assert overdub(CatchAll(), program.main) == [1, 2, 3]
    assert not canrecurse(CatchAll(), type(overdub(CatchAll(), program.numbers)).send)


def test_a_plain_generator_runs_in_the_context_of_the_code_that_advances_it(program):
    with Seen():
        pass  # from now on there are bodies
    first, second = Seen(), Seen()
    with first:
        iterator = program.numbers(3)
        next(iterator)
    with second:
        next(iterator)
    in_thread(next, iterator)
    assert (first.events, second.events) == ([(0, 1)], [(1, 1)])


def test_a_block_in_an_overdubbed_generator_lasts_while_it_is_suspended(program):
    outer, inner = Seen(), Seen()
    iterator = overdub(outer, program.numbers_within, inner, 3)
    for number in iterator:
        assert current() is None
        program.twice(number)
    assert inner.events == [(0, 1), (1, 1), (2, 1)]
    assert outer.events == inner.events
    assert not FLAGS["@on"]


def test_a_context_may_be_left_in_another_task_than_it_was_entered_in(program):
    ctx = Seen()

    async def main():
        generator = program.counting_within(ctx, 3)
        await asyncio.create_task(anext(generator))
        await asyncio.create_task(generator.aclose())

    async def anext(generator):
        return await generator.__anext__()

    asyncio.run(main())
    gc.collect()
    assert not FLAGS["@on"]


def test_a_context_that_is_left_before_one_inside_it_leaves_that_one_active(program):
    outer, inner = Seen(), Seen()
    outer.__enter__()
    inner.__enter__()
    program.twice(1)
    outer.__exit__(None, None, None)
    program.twice(2)
    inner.__exit__(None, None, None)
    program.twice(3)
    assert (outer.events, inner.events) == ([(1, 2)], [(1, 2), (2, 2)])
    assert ACTIVE.get() is INACTIVE
    assert not FLAGS["@on"]


def test_a_context_that_is_left_in_the_midst_of_an_overdubbed_call_does_not_come_back(program):
    outer, inner = Seen(), Seen()

    def leave():
        outer.__exit__(None, None, None)

    outer.__enter__()
    overdub(inner, leave)
    program.twice(1)
    assert (outer.events, current()) == ([], None)
    assert not FLAGS["@on"]


def test_a_hook_may_enter_its_own_context_as_a_block(program):
    class Ctx(Context):
        def __init__(self):
            self.events = []
            self.once = True

        def prehook(self, f, *args, **kwargs):
            self.events.append(args)
            if self.once:
                self.once = False
                with self:
                    program.twice(10)
                program.twice(20)

    outer, inner = Ctx(), Seen()
    with entered_without_source(outer, inner):
        program.twice(1)
    assert outer.events == [(1, 2), (10, 2)]
    assert inner.events == [(10, 2), (1, 2)]
    assert not FLAGS["@on"]


# Several threads at a time


def test_several_threads_specialise_one_function_at_a_time(make_program):
    source = "\n".join(f"def f{number}(x):\n    return x * {number}\n" for number in range(40))
    program = make_program({"many.py": source, "__init__.py": "from .many import *"})
    barrier = threading.Barrier(6)
    contexts = [type(f"Ctx{number}", (Seen,), {})() for number in range(6)]

    def work(ctx):
        barrier.wait(timeout=60)
        with ctx:
            for number in range(40):
                assert getattr(program, f"f{number}")(2) == 2 * number

    threads = [threading.Thread(target=work, args=(ctx,)) for ctx in contexts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ctx in contexts:
        assert ctx.events == [(2, number) for number in range(40)]


def test_threads_that_share_a_context_may_each_enter_and_leave_it(program):
    ctx = Seen()

    def work():
        for _ in range(50):
            with ctx:
                program.twice(1)
            program.twice(2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ctx.events == [(1, 2)] * 200
    assert not FLAGS["@on"]


@pytest.mark.parametrize("name", ["Profile", "Trace", "Noop"])
def test_ready_made_contexts_inherit(name):
    import cassette_import.contexts

    assert getattr(cassette_import.contexts, name).inherit is True


def test_installing_asyncio_itself_changes_nothing_of_what_tasks_inherit():
    run("""
        import asyncio
        from cassette_import import Context, current, install
        install(["asyncio", "threading", "concurrent"])
        class Plain(Context):
            def prehook(self, f, *args, **kwargs): ...
        class Inherited(Plain, inherit=True): ...
        async def work(): return current()
        async def main(ctx):
            with Plain(), ctx, Plain():
                return await asyncio.create_task(work()), await asyncio.to_thread(current)
        for _ in range(2):
            ctx = Inherited()
            assert asyncio.run(main(ctx)) == (ctx, ctx)
            with Plain():
                assert asyncio.run(main(ctx)) == (ctx, ctx)
    """)


def test_a_package_that_is_installed_in_a_context_runs_in_the_active_context(make_package, import_fresh):
    name = make_package("def twice(x):\n    return x * 2\n")
    module = import_fresh(name)
    with Seen() as ctx:
        install([name])
        module.twice(1)
    assert ctx.events == [(1, 2)]


def test_the_search_for_functions_does_not_disturb_a_tuple_that_another_thread_is_making():
    done, failures = threading.Event(), []

    def make_tuples():
        try:
            while not done.is_set():
                assert len(tuple(item + 1 for item in range(500))) == 500
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=make_tuples) for _ in range(2)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for _ in range(20):
            assert functions_of({__file__})
    finally:
        done.set()
        sys.setswitchinterval(before)
    for thread in threads:
        thread.join()
    assert failures == []


SEARCH_BESIDE_AN_AUDIT_HOOK = """
import sys, threading
from cassette_import.interpreter.heap import functions_of

def watch(event, arguments):
    for _ in range(100):
        pass

def make_tuples():
    while not done.is_set():
        try:
            tuple(number for number in range(50))
        except SystemError as error:
            failures.append(error)

failures, done = [], threading.Event()
threads = [threading.Thread(target=make_tuples) for _ in range(4)]
sys.addaudithook(watch)
sys.setswitchinterval(1e-6)
for thread in threads:
    thread.start()
for _ in range(300):
    functions_of({"no file"})
done.set()
for thread in threads:
    thread.join()
assert failures == [], failures
"""


def test_the_search_of_all_objects_lets_no_thread_run_in_an_audit_hook_while_it_holds_objects():
    subprocess.run([sys.executable, "-c", SEARCH_BESIDE_AN_AUDIT_HOOK], check=True)


def test_the_search_of_all_objects_beside_other_threads_keeps_no_object_alive():
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    gc.disable()
    try:
        held = type("Held", (), {})()
        held.items = [held.__class__]
        gone = weakref.ref(held)
        functions_of({"no file"})
        del held
        assert gone() is None
    finally:
        gc.enable()
        done.set()
        thread.join()


def test_a_function_waits_for_a_context_that_is_active_when_another_one_searches_all_functions(program, make_program):
    first, second = type("First", (Seen,), {})(), type("Second", (Seen,), {})()
    with second:
        program.twice(1)
    with first:
        make_program("")  # so that the next entry of a context searches all functions
        with contextvars_without_contexts(), second:
            program.twice(2)
        program.twice(3)
    assert (first.events, second.events) == ([(3, 2)], [(1, 2), (2, 2)])


@contextlib.contextmanager
def contextvars_without_contexts():
    token = ACTIVE.set(INACTIVE)
    yield
    ACTIVE.reset(token)
