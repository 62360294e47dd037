"""A context that is entered again while it is active: its tags stay readable, or there is an error."""

import contextlib
import operator

import pytest

from cassette_import import Context, enabletagging, metadata, overdub, recurse, tag, untag


class Dual(Context, tagging=True):
    """Dual numbers, as a user would write them."""


@Dual.overdub.register(operator.mul)
def _(ctx, f, x, y):
    dx, dy = metadata(x, ctx, 0.0), metadata(y, ctx, 0.0)
    x, y = untag(x, ctx), untag(y, ctx)
    return tag(f(x, y), ctx, dx * y + x * dy)


@Dual.overdub.register(operator.add)
def _(ctx, f, x, y):
    return tag(f(untag(x, ctx), untag(y, ctx)), ctx, metadata(x, ctx, 0.0) + metadata(y, ctx, 0.0))


def cube(x):
    return x * x * x + x


def in_block(ctx):
    with ctx:
        return metadata(overdub(ctx, cube, tag(2.0, ctx, 1.0)), ctx)


def after_block(ctx):
    with ctx:
        result = overdub(ctx, cube, tag(2.0, ctx, 1.0))
    return metadata(result, ctx)


def tagged_before(ctx):
    x = tag(2.0, ctx, 1.0)
    with ctx:
        return metadata(overdub(ctx, cube, x), ctx)


def in_two_blocks(ctx):
    with ctx, ctx:
        return metadata(overdub(ctx, cube, tag(2.0, ctx, 1.0)), ctx)


def tagged_between_blocks(ctx):
    with ctx:
        x = tag(2.0, ctx, 1.0)
        with ctx:
            result = cube(x)
        return metadata(overdub(ctx, lambda: result + 0.0), ctx)


def by_recurse(ctx):
    with ctx:
        return metadata(recurse(ctx, cube, tag(2.0, ctx, 1.0)), ctx)


def in_a_root_call(ctx):
    return overdub(ctx, in_block_of_its_own, ctx)


def in_block_of_its_own(ctx):
    x = tag(2.0, ctx, 1.0)
    with ctx:
        return metadata(overdub(ctx, cube, x), ctx)


def with_another_between(ctx):
    with ctx, Context():
        return metadata(overdub(ctx, cube, tag(2.0, ctx, 1.0)), ctx)


@pytest.mark.parametrize(
    "derivative",
    [
        *(in_block, after_block, tagged_before, in_two_blocks, tagged_between_blocks, by_recurse, in_a_root_call),
        with_another_between,
    ],
)
def test_tags_stay_readable_where_their_context_is_entered_again(derivative):
    assert derivative(Dual()) == 13.0


def outside(ctx, f, x):
    return metadata(overdub(ctx, f, tag(x, ctx, 1.0)), ctx, 0.0)


def inside(ctx, f, x):
    return overdub(ctx, lambda: metadata(f(tag(x, ctx, 1.0)), ctx, 0.0))


def nested(derivative, make):
    """The derivative of `x * D(y -> x + y)` at 1."""
    return derivative(make(), lambda x: x * derivative(make(), lambda y: x + y, 1.0), 1.0)


@pytest.mark.parametrize("derivative", [outside, inside])
def test_nested_derivatives_with_a_context_each_are_not_confused(derivative):
    first = Dual()
    assert nested(derivative, Dual) == 1.0
    assert nested(derivative, lambda: enabletagging(first)) == 1.0
    with first:
        assert nested(derivative, Dual) == 1.0


@pytest.mark.parametrize("derivative", [outside, inside])
@pytest.mark.parametrize("blocks", [0, 1])
def test_nested_derivatives_with_one_context_are_an_error(derivative, blocks):
    ctx = Dual()

    entered = contextlib.ExitStack()
    if blocks:
        entered.enter_context(ctx)
    with entered, pytest.raises(RuntimeError, match="a context for each level"):
        nested(derivative, lambda: ctx)


def test_after_that_error_the_context_works():
    ctx = Dual()
    with pytest.raises(RuntimeError):
        nested(inside, lambda: ctx)
    assert outside(ctx, cube, 2.0) == 13.0


def test_values_are_tagged_inside_and_outside_of_one_activation():
    ctx = Dual()

    def program(x):
        return metadata(x * tag(3.0, ctx, 1.0), ctx)

    assert overdub(ctx, program, tag(2.0, ctx, 1.0)) == 5.0


def test_an_activation_after_the_other_has_a_new_tag():
    ctx = Dual()
    with ctx:
        x = tag(2.0, ctx, 1.0)
    with ctx:
        assert metadata(x, ctx, None) is None


FINALIZED = []


class Finalized:
    def __del__(self):
        FINALIZED.append(("finalized", len(FINALIZED)))


def a_list_with_a_tagged_item_dies(ctx):
    value = tag(2, ctx, "m")
    held = [Finalized(), value]
    del held
    FINALIZED.append("next")
    return value


def test_a_finalizer_runs_events_when_the_last_entry_of_its_object_is_dropped():
    FINALIZED.clear()
    ctx = Dual()
    assert metadata(overdub(ctx, a_list_with_a_tagged_item_dies, ctx), ctx) == "m"
    assert sorted(map(len, FINALIZED)) == [2, 4]
