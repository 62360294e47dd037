"""Hooks and overloads run in C as in Python: suspended, chosen alike, with the variables of the same context."""

import abc
import contextvars
import gc
import sys
import threading
import weakref

import pytest
from helpers.accelerator import installed_program

from cassette_import import AmbiguousOverload, Context, Events, fallback, overdub, recurse
from cassette_import.activation.context import current

PROGRAM = """
    import contextvars
    import math

    variable = contextvars.ContextVar("variable", default="unset")

    class Words(list):
        pass

    def one(x):
        return x

    def appends(items, values):
        for value in values:
            items.append(value)
        return items

    def call(f, *arguments):
        return f(*arguments)

    def sines(values):
        return [math.sin(value) for value in values] + [sine(math.sin, value) for value in values]

    def sine(f, value):
        return f(value)

    def down(n):
        return 0 if n == 0 else one(down(n - 1) + 1)

    def ones(values):
        result = []
        for value in values:
            result += [one(value)]
        return result
"""


@pytest.fixture(params=["in C", "in Python"])
def program(request, make_package):
    with installed_program(PROGRAM, request.param, make_package) as module:
        yield module


def test_an_overload_of_a_method_in_c_gets_receiver_and_argument_each_time(program):
    class Seen(Context):
        def __init__(self):
            super().__init__()
            self.seen = []

    @Seen.overdub.register(list.append)
    def _(ctx, f, items, value):
        ctx.seen.append((f, type(items), value))
        return f(items, value)

    context = Seen()
    assert overdub(context, program.appends, [], range(20)) == list(range(20))
    assert overdub(context, program.appends, program.Words(), "ab") == ["a", "b"]
    assert context.seen == [
        *((list.append, list, value) for value in range(20)),
        *((list.append, program.Words, value) for value in "ab"),
    ]


def test_an_overload_runs_while_its_context_is_suspended(program):
    class Checked(Context):
        pass

    active = []

    @Checked.overdub.register(list.append)
    def _(ctx, f, items, value):
        active.append(current())
        return program.appends(items, [value])  # no event: the context is suspended

    assert overdub(Checked(), program.appends, [], range(12)) == list(range(12))
    assert active == [None] * 12


def test_hooks_run_while_their_context_is_suspended_and_the_outer_one_is_active(program):
    class Outer(Context):
        pass

    class Inner(Context, events=Events.CALLS):
        def __init__(self):
            super().__init__()
            self.active = []

        def prehook(self, f, *arguments):
            self.active.append(current())

        def posthook(self, result, f, *arguments):
            self.active.append(current())

    outer, inner = Outer(), Inner()
    with outer:
        overdub(inner, program.appends, [], range(12))
        assert current() is outer
    assert inner.active == [outer] * 24


def test_what_an_overload_sets_in_context_variables_stays_set(program):
    class Sets(Context):
        pass

    @Sets.overdub.register(list.append)
    def _(ctx, f, items, value):
        if value % 3 == 0:
            program.variable.set(value)
        assert current() is None
        return items.append((value, program.variable.get()))

    before = program.variable.set("before")
    found = overdub(Sets(), program.appends, [], range(1, 8))
    assert found == [(1, "before"), (2, "before"), (3, 3), (4, 3), (5, 3), (6, 6), (7, 6)]
    assert program.variable.get() == 6
    program.variable.reset(before)  # the context is the same one all the time
    assert program.variable.get() == "unset"


def test_a_token_of_an_overload_resets_the_variable_after_the_event(program):
    class Sets(Context):
        pass

    tokens = []

    @Sets.overdub.register(list.append)
    def _(ctx, f, items, value):
        tokens.append(program.variable.set(value))

    overdub(Sets(), program.appends, [], "abc")
    for value in "cba":
        assert program.variable.get() == value
        program.variable.reset(tokens.pop())
    assert program.variable.get() == "unset"


def test_variables_that_change_between_events_are_seen_in_overloads(program):
    class Reads(Context):
        pass

    @Reads.overdub.register(list.append)
    def _(ctx, f, items, value):
        items.append(program.variable.get())

    found = []

    def run():
        with Reads():
            for number in range(9):
                program.variable.set(number // 2)
                program.appends(found, [None])

    contextvars.copy_context().run(run)
    assert found == [number // 2 for number in range(9)]


def test_a_value_of_a_variable_dies_when_the_variable_gets_another_one(program):
    class Value:
        pass

    class Does(Context):
        pass

    @Does.overdub.register(list.append)
    def _(ctx, f, items, value):
        items.append(value)

    def run():
        with Does():
            value = Value()
            reference = weakref.ref(value)
            program.variable.set(value)
            del value
            program.appends([], range(10))
            program.variable.set(None)
            return reference()

    assert contextvars.copy_context().run(run) is None


def test_an_exception_of_an_overload_ends_the_suspension(program):
    class Fails(Context):
        pass

    @Fails.overdub.register(list.append)
    def _(ctx, f, items, value):
        raise KeyError(value)

    context = Fails()
    with context:
        for value in range(10):
            with pytest.raises(KeyError, match=str(value)) as caught:
                program.appends([], [value])
            assert current() is context
    names = [frame.name for frame in caught.traceback]
    assert names[-2:] == ["appends", "_"]
    assert len(names) == 3


def test_an_overload_of_a_python_function_recurses_as_deep_as_python_functions_do(program):
    class Deep(Context):
        pass

    @Deep.overdub.register(program.down)
    def _(ctx, f, n):
        return recurse(ctx, f, n)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        assert overdub(Deep(), program.down, 5000) == 5000
    finally:
        sys.setrecursionlimit(limit)


def test_overloads_are_chosen_by_the_types_of_arguments_each_time(program):
    class Mine:
        pass

    class Sub(int):
        pass

    class Typed(Context):
        pass

    @Typed.overdub.register(program.one)
    def _(ctx, f, x):
        return "anything"

    @Typed.overdub.register(program.one)
    def _(ctx, f, x: int):
        return "int"

    @Typed.overdub.register(program.one)
    def _(ctx, f, x: bool):
        return "bool"

    @Typed.overdub.register(program.one)
    def _(ctx, f, x: Mine):
        return "mine"

    values = [1, True, Sub(2), "a", Mine(), None]
    expected = ["int", "bool", "int", "anything", "mine", "anything"]
    with Typed():
        for _ in range(12):
            assert program.ones(values) == expected


def test_overloads_of_methods_in_c_are_chosen_by_the_types_of_arguments_each_time(program):
    class Typed(Context):
        pass

    @Typed.overdub.register(list.append)
    def _(ctx, f, items: list, value: int):
        items.append(("int", value))

    @Typed.overdub.register(list.append)
    def _(ctx, f, items: program.Words, value: int):
        items.extend([("words", value)])

    with Typed():
        for _ in range(12):
            assert program.appends([], [1, "a", 2.0, True]) == [("int", 1), "a", 2.0, ("int", True)]
            assert program.appends(program.Words(), [1, "a"]) == [("words", 1), "a"]


def test_an_object_that_claims_another_class_is_asked_each_time(program):
    class Chameleon:
        claims = int

        @property
        def __class__(self):
            return self.claims

    class Typed(Context):
        pass

    @Typed.overdub.register(program.one)
    def _(ctx, f, x: int):
        return "int"

    @Typed.overdub.register(program.one)
    def _(ctx, f, x):
        return "other"

    chameleon = Chameleon()
    with Typed():
        assert program.ones([chameleon] * 12) == ["int"] * 12
        Chameleon.claims = str
        assert program.ones([chameleon] * 3) == ["other"] * 3


def test_a_class_that_is_registered_later_counts_as_its_abstract_class(program):
    class Shape(abc.ABC):  # noqa: B024
        pass

    class Typed(Context):
        pass

    @Typed.overdub.register(program.call)
    def _(ctx, f, target, x: Shape):
        return "shape"

    @Typed.overdub.register(list.append)
    def _(ctx, f, items, x: Shape):
        items.extend(["shape"])

    with Typed():
        assert program.appends([], [1.5] * 12) == [1.5] * 12
        Shape.register(float)
        assert program.appends([], [1.5] * 3) == ["shape"] * 3


def test_ambiguous_overloads_are_an_error_each_time(program):
    class Typed(Context):
        pass

    class Both(int, abc.ABC):
        pass

    @Typed.overdub.register(list.append)
    def _(ctx, f, items: list, x):
        pass

    @Typed.overdub.register(list.append)
    def _(ctx, f, items, x: int):
        pass

    with Typed():
        for _ in range(3):
            with pytest.raises(AmbiguousOverload):
                program.appends([], [1])


def test_an_overload_that_is_registered_later_takes_the_next_event(program):
    class Late(Context):
        pass

    @Late.overdub.register(list.append)
    def _(ctx, f, items, value):
        items.extend(["first"])

    with Late():
        assert program.appends([], range(10)) == ["first"] * 10

        @Late.overdub.register(list.append)
        def _(ctx, f, items, value):
            items.extend(["second"])

        assert program.appends([], range(10)) == ["second"] * 10

        @Late.overdub.register(program.one)
        def _(ctx, f, x):
            return "one"

        assert program.ones([1]) == ["one"]


def test_a_target_in_a_variable_is_met_after_other_callees_were(program):
    class Does(Context):
        pass

    @Does.overdub.register(max)
    def _(ctx, f, *values):
        return "overloaded"

    class Own:
        def method(self, *values):
            return "method"

        def __call__(self, *values):
            return "called"

    with Does():
        for _ in range(4):
            for callee in (min, "".join, Own().method, Own(), [3].count, min, int):
                assert program.call(callee, *((1, 2) if callee is min else ("1",))) != "overloaded"
            assert program.call(max, 1, 2) == "overloaded"


def test_the_wrong_number_of_arguments_is_pythons_own_error(program):
    class Does(Context):
        pass

    @Does.overdub.register(list.append)
    def _(ctx, f, items, value):
        return items.append(value)

    with Does():
        for _ in range(12):
            program.appends([], [1])
            with pytest.raises(TypeError, match=r"list.append\(\) takes exactly one argument \(2 given\)"):
                program.call([].append, 1, 2)


def test_threads_have_suspensions_of_their_own(program):
    class Does(Context, inherit=True):
        pass

    barrier = threading.Barrier(4)
    problems = []

    @Does.overdub.register(list.append)
    def _(ctx, f, items, value):
        if value == 5:
            barrier.wait()
        if current() is not None:
            problems.append(value)
        return items.append(value)

    def run():
        if program.appends([], range(300)) != list(range(300)):
            problems.append("items")
        if current() is not context:
            problems.append("activation")

    with Does() as context:
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert problems == []


def test_nothing_keeps_a_context_alive_that_was_left(program):
    class Does(Context, events=Events.CALLS):
        def prehook(self, f, *arguments):
            str(f)

    @Does.overdub.register(list.append)
    def _(ctx, f, items, value):
        return items.append(value)

    def run():
        context = Does()
        with context:
            program.appends([], range(20))
        return weakref.ref(context)

    reference = run()
    gc.collect()
    assert reference() is None


def test_two_contexts_get_the_event_one_after_the_other(program):
    class Outer(Context):
        pass

    class Inner(Context):
        pass

    @Outer.overdub.register(list.append)
    def _(ctx, f, items, value):
        items.extend([("outer", value)])

    @Inner.overdub.register(list.append)
    def _(ctx, f, items, value):
        items.extend(["inner"])
        return fallback(ctx, f, items, value)

    with Outer(), Inner():
        assert program.appends([], "ab") == ["inner", ("outer", "a"), "inner", ("outer", "b")]
