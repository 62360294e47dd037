"""Events while nothing is tagged run in C as in Python where the active context is looked up at each of them."""

import gc
import weakref

import pytest
from helpers.accelerator import installed_program

from cassette_import import NO_METADATA, Context, Events, metadata, overdub, tag, untag

PROGRAM = """
    import operator
    import sys

    class Number:
        def __init__(self, value, meet):
            self.value, self.meet = value, meet

        def __mul__(self, other):
            return self.meet(self.value * other)

        @property
        def doubled(self):
            return self.meet(self.value * 2)

        def plus(self, other):
            return self.meet(self.value + other)

    class Items(list):
        pass

    class Backwards(list):
        def __iter__(self):
            return iter(self[::-1])

    def products(numbers):
        return [x for x in (number * 2 for number in numbers)]

    def doubled(numbers):
        return [x for x in (number.doubled for number in numbers)]

    def sums(numbers):
        return [x for x in (number.plus(1) for number in numbers)]

    def values(items):
        return list(x for x in items)

    def pairs(items):
        return list((a, b, c) for a, (b, c) in items)

    def first_of(items):
        return list(a for a, *rest in items)

    def steps(items):
        for item in items:
            yield item * 2

    def delegating(items):
        yield from steps(items)

    def in_block(manager, items):
        with manager:
            return [item * 2 for item in items if item % 3]

    def missing():
        return list(no_such_name for _ in "a")

    def attribute():
        return list(x.no_such_attribute for x in [1])

    def calling(f):
        return list(f(*x) for x in [1])

    def frames(items):
        return list(sorted(locals()) for item in items)
"""


class Tagging(Context, tagging=True):
    recognised_types = (float,)


@pytest.fixture(params=["in C", "in Python"])
def program(request, make_package):
    with installed_program(PROGRAM, request.param, make_package) as module:
        yield module


@pytest.mark.parametrize("function", ["products", "doubled", "sums"])
def test_the_first_value_that_code_of_the_program_tags_in_a_generator_expression_is_seen(program, function):
    def run(ctx):
        held = []

        def meet(value):
            if len(held) == 1:
                held.append(tag(value, ctx, "m"))
                return held[1]
            held.append(value)
            return value

        numbers = [program.Number(float(number), meet) for number in range(4)]
        return [metadata(x, ctx) for x in getattr(program, function)(numbers)]

    context = Tagging()
    assert overdub(context, run, context) == [NO_METADATA, "m", NO_METADATA, NO_METADATA]


def test_items_that_were_tagged_after_the_loop_began_have_their_metadata(program):
    def run(ctx):
        values = [0.5, 1.5, 2.5]
        body = (x for x in program.steps(values))
        found = [metadata(next(body), ctx)]
        values[1] = tag(1.5, ctx, "m")
        held = [*values]
        return found + [metadata(x, ctx) for x in program.values(held)], len(held)

    context = Tagging()
    assert overdub(context, run, context)[0] == [NO_METADATA, NO_METADATA, "m", NO_METADATA]


def test_a_generator_shows_its_steps_to_the_context_in_which_it_is_resumed(program):
    class Counting(Context, events=Events.ITERATION | Events.OPERATORS):
        def __init__(self):
            super().__init__()
            self.seen = []

        def prehook(self, f, *arguments, **keywords):
            self.seen.append(f.__name__)

    counting, found = Counting(), []
    with Counting():
        pass
    with Tagging():
        body = program.steps([1, 2, 3])
        found.append(next(body))
        with counting:
            found.append(next(body))
        found += body
    assert found == [2, 4, 6]
    assert {"next", "mul"} <= set(counting.seen)
    assert counting.seen.count("mul") == 1


def test_a_hook_that_is_registered_while_a_generator_is_suspended_sees_its_next_event(program):
    class Watching(Tagging):
        pass

    seen = []
    with Watching() as context:
        body = program.steps([1, 2, 3])
        assert next(body) == 2

        @Watching.prehook.register(program.operator.mul)
        def _(ctx, f, *arguments):
            seen.append(arguments)

        assert [*body] == [4, 6]
    assert context is not None
    assert seen == [(2, 2), (3, 2)]


def test_a_subclass_of_a_container_with_its_own_iterator_is_iterated_over_by_it(program):
    with Tagging():
        assert program.values(program.Items([1, 2])) == [1, 2]
        assert program.values(program.Backwards([1, 2])) == [2, 1]
        assert [*program.delegating(program.Backwards([1, 2]))] == [4, 2]


def test_nested_and_starred_targets_are_unpacked(program):
    with Tagging():
        assert program.pairs([(1, (2, 3)), [4, [5, 6]], (7, "ab")]) == [(1, 2, 3), (4, 5, 6), (7, "a", "b")]
        assert program.first_of([(1, 2), "ab", [3]]) == [1, "a", 3]
        with pytest.raises(ValueError, match="unpack"):
            program.pairs([(1, (2, 3, 4))])


def test_errors_are_those_of_the_interpreter(program):
    with Tagging():
        with pytest.raises(NameError, match=r"^name 'no_such_name' is not defined$"):
            program.missing()
        with pytest.raises(AttributeError, match=r"^'int' object has no attribute 'no_such_attribute'$"):
            program.attribute()
        with pytest.raises(TypeError, match=r"after \* must be an iterable, not int$"):
            program.calling(len)
        with pytest.raises(TypeError, match=r"^'int' object is not iterable$"):
            program.values(1)


def test_functions_that_read_the_frame_of_their_caller_read_that_of_the_program(program):
    with Tagging():
        assert program.frames([1]) == [[".0", "item"]]


def test_an_item_that_the_program_drops_dies(program):
    class Item:
        def __mul__(self, other):
            return self

    alive = []

    def items():
        for _ in range(3):
            item = Item()
            alive.append(weakref.ref(item))
            yield item
            del item

    with Tagging():
        body = program.steps(items())
        assert sum(1 for _ in body) == 3
        gc.collect()
    assert [reference() for reference in alive] == [None] * 3


def test_a_context_that_a_block_enters_sees_the_events_in_it(program):
    class Counting(Context, events=Events.OPERATORS):
        def __init__(self):
            super().__init__()
            self.count = 0

        def prehook(self, f, *arguments, **keywords):
            self.count += 1

    counting = Counting()
    with Tagging():
        assert program.in_block(counting, [1, 2, 3]) == [2, 4]
    assert counting.count == 5


def test_what_began_while_something_was_tagged_goes_on_when_nothing_is(program):
    context = Tagging()

    def run(ctx):
        held = [tag(1.5, ctx, "m")]
        body = program.steps([1.0, held[0], 2.0])
        found = [metadata(next(body), ctx)]
        held[0] = untag(held[0], ctx)
        return found, [float(x) for x in body]

    assert overdub(context, run, context) == ([NO_METADATA], [3.0, 4.0])
