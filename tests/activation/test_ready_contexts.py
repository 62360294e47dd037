"""Contexts that are entered by code that has entered one of their type before: in C and in Python."""

import asyncio
import contextvars
import gc
import inspect
import pickle
import threading
import weakref

import pytest
from helpers.accelerator import problem_of_dispatch

from cassette_import import Context, Events, current
from cassette_import.activation.activations import EnteredActivation, ReadyActivation
from cassette_import.activation.context import enter_in_c
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.state import ACTIVE, IN_USE, INACTIVE

SOURCE = """
    import math

    def root(x):
        return math.sqrt(x)

    def total(a, b):
        return a + b
"""


class Log(Context):
    def __init__(self):
        super().__init__()
        self.names = []

    def prehook(self, f, *arguments):
        if f.__name__ in ("sqrt", "add"):  # and not what the blocks of these tests call
            self.names.append(f.__name__)


class Other(Log):
    pass


class Raising(Context):
    @property
    def report_escapes(self):
        raise LookupError("no such thing")


@pytest.fixture(params=["in C", "in Python"])
def way(request, monkeypatch):
    """How contexts are entered."""
    methods = {name: vars(Context)[name] for name in ("__enter__", "__exit__")}
    for name, method in methods.items():
        monkeypatch.setattr(Context, name, getattr(method, "__wrapped__", method))
    if request.param == "in C":
        if problem_of_dispatch():
            pytest.skip(problem_of_dispatch())
        enter_in_c(Context)
    return request.param


@pytest.fixture
def program(make_program, way):
    return make_program(SOURCE)


def entered(*contexts):
    """Enter contexts, one in the other; return what is active in the innermost block."""
    if not contexts:
        return ACTIVE.get()
    with contexts[0]:
        return entered(*contexts[1:])


def call_in(ctx, function, *arguments):
    with ctx:
        return function(*arguments)


def is_nothing_in_use():
    return ACTIVE.get() is INACTIVE and not IN_USE.entered and not FLAGS["@on"]


def test_a_later_entry_by_the_same_code_is_a_ready_one(program):
    ctx = Log()
    call_in(ctx, program.root, 4)
    found = [entered(ctx) for _ in range(3)]  # the second one is by the code with a branch for contexts
    assert type(found[2]) is ReadyActivation
    assert (found[2].contexts, found[2].entered, found[2].left, found[2].variant) == ((ctx,), ctx, True, None)
    assert is_nothing_in_use()


def test_events_of_ready_contexts_are_those_of_the_first_entry(program):
    ctx = Log()
    for _ in range(5):
        assert call_in(ctx, program.root, 4) == 2
    assert ctx.names == ["sqrt"] * 5


def test_nested_contexts_both_get_the_events(program):
    outer, inner = Log(), Other()
    for _ in range(4):
        with outer:
            for _ in range(3):
                with inner:
                    program.root(4)
                assert current() is outer
            program.root(9)
    assert (len(outer.names), len(inner.names)) == (16, 12)
    assert is_nothing_in_use()


def test_nested_contexts_are_ready_in_c(program, way):
    outer, inner = Log(), Other()
    call_in(outer, call_in, inner, program.root, 4)
    found = [entered(outer, inner) for _ in range(3)]
    assert type(found[-1]) is (ReadyActivation if way == "in C" else EnteredActivation)
    assert found[-1].contexts == (outer, inner)


def test_the_same_code_enters_a_type_in_several_stacks(program):
    one, two = Log(), Other()
    for _ in range(3):
        assert entered(one).contexts == (one,)
        assert entered(two, one).contexts == (two, one)
        assert entered(one, one).contexts == (one, one)
        assert entered(one, two, one).contexts == (one, two, one)


def test_other_events_of_an_outer_context_count_from_the_next_entry_within_it(program):
    outer, inner = Log(), Other()

    def run():
        with inner:
            program.total(1, 2)

    with outer:
        run()
        run()
        outer.events = Events.CALLS
        run()
    assert outer.names == ["add"] * 2
    assert inner.names == ["add"] * 3


def test_an_instance_with_other_events_is_not_taken_for_its_type(program):
    plain, special = Log(), Log()
    special.events = Events.CALLS
    for _ in range(3):
        call_in(plain, program.total, 1, 2)
        call_in(special, program.total, 1, 2)
    assert (plain.names, special.names) == (["add"] * 3, [])


def test_a_registration_between_two_entries_counts(program):
    class Late(Context):
        pass

    ctx = Late()
    for _ in range(3):
        assert call_in(ctx, program.root, 4) == 2
    Late.overdub.register(program.math.sqrt)(lambda ctx, f, x: 7)
    assert call_in(ctx, program.root, 4) == 7


def test_a_package_that_is_installed_between_two_entries_is_overdubbed(program, make_program):
    ctx = Log()
    for _ in range(3):
        call_in(ctx, program.root, 4)
    second = make_program(SOURCE)
    call_in(ctx, second.root, 4)
    assert ctx.names == ["sqrt"] * 4


def test_an_exception_in_a_block_leaves_it(program):
    ctx = Log()
    for _ in range(3):
        with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
            call_in(ctx, program.root, -1)
    assert is_nothing_in_use()


def test_an_exception_of_an_attribute_is_that_of_the_block(program):
    ctx = Raising()
    for _ in range(3):
        with pytest.raises(LookupError, match="no such thing"):
            entered(ctx)
    assert is_nothing_in_use()


def test_report_escapes_may_be_set_between_two_entries(program):
    ctx = Log()
    for _ in range(3):
        call_in(ctx, program.root, 4)
    ctx.report_escapes = True
    call_in(ctx, program.root, 4)
    ctx.report_escapes = False
    call_in(ctx, program.root, 4)
    assert ctx.names == ["sqrt"] * 5
    assert is_nothing_in_use()


def test_blocks_may_be_left_in_another_order(program):
    def block(ctx):
        with ctx:
            yield

    for _ in range(4):
        outer, inner = Log(), Other()
        first, second = block(outer), block(inner)
        next(first)
        next(second)
        first.close()
        assert current() is inner
        program.root(4)
        second.close()
        assert (outer.names, inner.names) == ([], ["sqrt"])
        assert is_nothing_in_use()


def test_a_context_is_left_in_a_copy_of_the_context_variables(program):
    ctx = Log()
    for _ in range(3):
        call_in(ctx, program.root, 4)

    def leave(copy):
        copy.run(ctx.__exit__, None, None, None)
        return copy.run(ACTIVE.get)

    def enter_and_leave():
        with ctx:
            copy = contextvars.copy_context()
        ctx.__enter__()
        copy = contextvars.copy_context()
        found = leave(copy)
        assert ACTIVE.get().left
        assert current() is None
        ACTIVE.set(INACTIVE)
        return found

    for _ in range(3):
        assert enter_and_leave() is INACTIVE
        assert is_nothing_in_use()


def test_a_left_activation_in_a_copy_is_not_the_outer_one(program):
    ctx, other = Log(), Other()

    def copy_within():
        with ctx:
            return contextvars.copy_context()

    for _ in range(3):
        assert copy_within().run(entered, other).contexts == (other,)


def test_tasks_have_their_own_contexts(program):
    async def work(ctx, count):
        for _ in range(count):
            with ctx:
                await asyncio.sleep(0)
                program.root(4)
                assert current() is ctx
            assert current() is None

    async def main():
        contexts = [Log(), Other(), Log()]
        await asyncio.gather(*(work(ctx, 5) for ctx in contexts))
        return [len(ctx.names) for ctx in contexts]

    assert asyncio.run(main()) == [5, 5, 5]
    assert is_nothing_in_use()


def test_threads_have_their_own_contexts(program):
    counts = []

    def work():
        ctx = Log()
        for _ in range(300):
            with ctx:
                program.root(4)
        counts.append(len(ctx.names))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [300] * 4
    assert is_nothing_in_use()


def test_a_left_context_is_freed(program):
    ctx = Log()
    for _ in range(3):
        call_in(ctx, program.root, 4)
        entered(ctx)
    dead = weakref.ref(ctx)
    del ctx
    gc.collect()
    assert dead() is None


def test_an_overridden_method_calls_that_of_context(program):
    class Twice(Log):
        def __enter__(self):
            self.names.append("enter")
            return super().__enter__()

        def __exit__(self, *exception):
            super().__exit__(*exception)
            self.names.append("exit")

    ctx = Twice()
    for _ in range(3):
        call_in(ctx, program.root, 4)
    assert ctx.names == ["enter", "sqrt", "exit"] * 3


def test_methods_look_as_they_are_defined(way):
    assert Context.__enter__.__qualname__ == "Context.__enter__"
    assert Context.__exit__.__module__ == Context.__module__
    assert str(inspect.signature(Context.__exit__)) == "(self, *exception: 'object') -> 'None'"
    ctx = Log()
    assert ctx.__enter__() is ctx
    assert pickle.loads(pickle.dumps(Log().__exit__)).__func__ is Context.__exit__
    assert ctx.__exit__(None, None, None) is None


def test_wrong_arguments_have_the_error_of_the_method(way):
    with pytest.raises(TypeError, match=r"__enter__\(\) takes 1 positional argument but 2 were given"):
        Log().__enter__(3)
    with pytest.raises(TypeError, match=r"__exit__\(\) missing 1 required positional argument: 'self'"):
        Context.__exit__()
    with pytest.raises(AttributeError, match="'int' object has no attribute '_type_defaults'"):
        Context.__enter__(5)
