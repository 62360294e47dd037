"""Method-wrappers, such as `super().__init__` that reaches `object`, are called in C as in Python, untagged or not."""

import pytest
from helpers.accelerator import installed_program

from cassette_import import NO_METADATA, Context, metadata, overdub, tag

PROGRAM = """
    class Base(object):
        def __init__(self, *arguments):
            super(Base, self).__init__(*arguments)
            self.made = True

    class Number:
        def __init__(self, meet):
            self.meet = meet

        def __add__(self, other):
            return self.meet(other)

        def __radd__(self, other):
            return self.meet(other)

    class Items(list):
        def __len__(self):
            return super().__len__() + 1

        def __iter__(self):
            return super().__iter__()

    class Other(str):
        def __add__(self, other):
            return super().__add__(other)

    def make(times, *arguments):
        return [Base(*arguments) for _ in range(times)]

    def lengths(times):
        return [len(Items([1, 2])) for _ in range(times)]

    def added(function, times, other):
        found = None
        for _ in range(times):
            found = function(other)
        return found

    def iterated(items):
        return [x for _ in range(3) for x in items]

    def compared(left, right, times):
        return [left.__eq__(right) for _ in range(times)]

    def missing(times):
        for _ in range(times):
            (1).__add__()
"""

MANY = 300
"""So many calls that the guard of a call site has given up."""


class Tagging(Context, tagging=True):
    recognised_types = (float, int)


@pytest.fixture(params=["in C", "in Python"])
def program(request, make_package):
    with installed_program(PROGRAM, request.param, make_package) as module:
        yield module


def test_a_constructor_that_ends_in_that_of_object_makes_the_object(program):
    with Tagging():
        assert all(item.made for item in program.make(MANY))


def test_the_error_of_a_method_wrapper_is_that_of_the_interpreter(program):
    with pytest.raises(TypeError) as plain:
        program.make(1, 2)
    with Tagging():
        for _ in range(3):
            with pytest.raises(TypeError) as found:
                program.make(MANY, 2)
            assert str(found.value) == str(plain.value)
        with pytest.raises(TypeError, match=r"^expected 1 argument, got 0$"):
            program.missing(1)


def test_methods_of_builtin_types_that_super_finds_have_their_results(program):
    with Tagging():
        assert program.lengths(MANY) == [3] * MANY
        assert program.iterated(program.Items([1, 2])) == [1, 2] * 3
        assert program.added(program.Other("a").__add__, MANY, "b") == "ab"


def test_a_value_that_was_tagged_before_the_call_keeps_its_metadata_through_it(program):
    def run(ctx):
        program.added((1).__add__, MANY, 2)
        value = tag(2.5, ctx, "m")
        return metadata(value, ctx), program.added((1.5).__add__, 2, value), program.compared(2.5, value, 3)

    context = Tagging()
    found, total, equal = overdub(context, run, context)
    assert found == "m"
    assert total == 4.0
    assert equal == [True] * 3


def test_a_value_that_a_method_wrapper_is_called_with_may_tag_the_first_value(program):
    def run(ctx):
        numbers = [program.Number(lambda other: tag(3.5, ctx, "m")) for _ in range(2)]
        found = [program.added(number.__add__, 1, 2.0) for number in numbers]
        return [metadata(x, ctx) for x in found]

    context = Tagging()
    assert overdub(context, run, context) == ["m", "m"]


def test_a_hook_of_a_target_that_is_reached_as_a_method_wrapper_sees_the_calls(program):
    class Watching(Context, tagging=True):
        def __init__(self):
            super().__init__()
            self.seen = 0

    @Watching.prehook.register(object.__init__)
    def _(ctx, f, *arguments):
        ctx.seen += 1

    context = Watching()
    with context:
        assert all(item.made for item in program.make(MANY))
    assert context.seen == MANY


def test_a_hook_that_is_registered_after_the_guard_gave_up_sees_the_calls(program):
    class Later(Context, tagging=True):
        def __init__(self):
            super().__init__()
            self.seen = 0

    with Later() as context:
        program.make(MANY)

        @Later.prehook.register(object.__init__)
        def _(ctx, f, *arguments):
            ctx.seen += 1

        program.make(MANY)
    assert context.seen == MANY


def test_nothing_is_tagged_by_a_method_wrapper_itself(program):
    def run(ctx):
        return metadata(program.added((1.5).__add__, MANY, 2), ctx)

    context = Tagging()
    assert overdub(context, run, context) is NO_METADATA
