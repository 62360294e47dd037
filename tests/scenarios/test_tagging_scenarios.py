"""Scenarios 35 to 49: tagged values."""

import math
import operator

import pytest
from helpers.heap import no_new_holders_of_wrappers

from cassette_import import (
    NO_METADATA,
    Context,
    enabletagging,
    fallback,
    hasmetadata,
    hasmetameta,
    install,
    istagged,
    metadata,
    metameta,
    overdub,
    tag,
    untag,
)

from . import tagging_programs as unaware


@pytest.fixture
def programs():
    """The module of unaware programs, whose objects hold no wrapper afterwards."""
    with no_new_holders_of_wrappers(), install([unaware.__name__]):
        yield unaware


class Moving(Context, tagging=True):
    """Tags values and overloads nothing."""


class Arithmetic(Context, tagging=True):
    """Metadata follows the values through `+` and `*`."""

    def metadatatype(self, kind):
        return float if issubclass(kind, (int, float)) else None


@Arithmetic.overdub.register(operator.add)
def _(ctx, f, x, y):
    if not (hasmetadata(x, ctx) or hasmetadata(y, ctx)):
        return fallback(ctx, f, x, y)
    return tag(untag(x, ctx) + untag(y, ctx), ctx, metadata(x, ctx, 0.0) + metadata(y, ctx, 0.0))


@Arithmetic.overdub.register(operator.mul)
def _(ctx, f, x, y):
    if not (hasmetadata(x, ctx) or hasmetadata(y, ctx)):
        return fallback(ctx, f, x, y)
    return tag(untag(x, ctx) * untag(y, ctx), ctx, metadata(x, ctx, 1.0) * metadata(y, ctx, 1.0))


def test_35_bazctx_a_typed_field_keeps_value_and_metadata(programs):
    ctx = Moving()
    result = overdub(ctx, programs.baz_identity, tag(7, ctx, 0.25))
    assert untag(result, ctx) == 7
    assert type(untag(result, ctx)) is int
    assert metadata(result, ctx) == 0.25
    assert not hasmetameta(result, ctx)


def test_36_foobarctx_int_to_float_converts_the_metadata(programs):
    ctx = Arithmetic()
    result = overdub(ctx, programs.foo_bar_identity, tag(1, ctx, 2))
    assert untag(result, ctx) == 1.0
    assert type(untag(result, ctx)) is float
    assert metadata(result, ctx) == 2.0
    assert type(metadata(result, ctx)) is float


def test_37_taggedtuplectx_a_tuple_has_a_mirror_with_three_slots(programs):
    ctx = Moving()
    result = overdub(ctx, programs.three, tag(3.0, ctx, "m"))
    assert untag(result, ctx) == (3.0, [3.0], 1)
    assert type(result) is tuple
    assert istagged(result, ctx)
    assert not hasmetadata(result, ctx)
    first, middle, last = metameta(result, ctx)
    assert (first.metadata, middle.metadata, last.metadata) == ("m", NO_METADATA, NO_METADATA)
    assert [part.metadata for part in middle.metameta] == ["m"]


def test_38_applyctx_the_result_of_a_leaf_is_plain(programs):
    ctx = Moving()
    result = overdub(ctx, programs.hypotenuse, tag(2, ctx))
    assert result == programs.hypotenuse(2)
    assert not istagged(result, ctx)
    assert type(result) is float


def test_39_vatuplectx_a_comprehension_over_varargs(programs):
    ctx = Moving()
    result = overdub(ctx, programs.sines, tag(1.0, ctx), tag(2.0, ctx))
    assert result == [math.sin(1.0), math.sin(2.0)]
    assert not hasmetadata(result, ctx)
    assert not hasmetameta(result, ctx)


def tagged_in_there(values, found, ctx):
    return [tag(value, ctx, m) for value, m in zip(values, found, strict=True)]


def test_40_broadcastctx_elements_tagged_in_overdubbed_code(programs):
    ctx = Moving()
    result = overdub(ctx, tagged_in_there, [1, 2, 3], [0.5, 0.25, 2.0], ctx)
    assert result == [1, 2, 3]
    assert [part.metadata for part in metameta(result, ctx)] == [0.5, 0.25, 2.0]
    result = overdub(ctx, tagged_in_there, [1, 2, 3], ["m"] * 3, ctx)
    assert [part.metadata for part in metameta(result, ctx)] == ["m"] * 3


class ByWidth(Context, tagging=True):
    """The type of metadata is chosen from the context's metadata."""

    def metadatatype(self, kind):
        width = self.metadata

        def fits(found):
            if len(found) != width:
                raise TypeError(f"{width} parts are wanted")
            return list(found)

        return tuple if width is None else fits


def test_41_broadcastctx2_the_metadata_type_depends_on_the_contexts_metadata(programs):
    ctx = ByWidth(10)
    result = overdub(ctx, tagged_in_there, [1, 2], [[0] * 10] * 2, ctx)
    assert [part.metadata for part in metameta(result, ctx)] == [[0] * 10] * 2
    with pytest.raises(TypeError, match="10 parts are wanted"):
        tag(1, ByWidth(10), [1])
    fixed = ByWidth()
    result = overdub(fixed, tagged_in_there, [1, 2], [(1, 2, 3)] * 2, fixed)
    assert [part.metadata for part in metameta(result, fixed)] == [(1, 2, 3)] * 2


def test_42_metatypectx_types_are_never_wrapped(programs):
    ctx = Moving()
    result = overdub(ctx, programs.twice, float)
    assert result == (float, float)
    assert result[0] is float
    assert not istagged(result, ctx)


def test_43_tagconditionalctx_tagged_bools_steer(programs):
    ctx = Moving()
    assert overdub(ctx, programs.either, tag(True, ctx, "m")) == 1
    assert overdub(ctx, programs.either, tag(False, ctx, "m")) == 2
    assert overdub(ctx, programs.count_down, tag(False, ctx, "m")) == 0


def test_44_kwargctx_a_tagged_keyword(programs):
    ctx = Moving()
    result = overdub(ctx, programs.add_keyword, 3, y=tag(2, ctx, "m"))
    assert result == 5
    assert type(result) is int


def test_45_recurtagctx_a_self_referential_class(programs):
    ctx = Moving()
    thing = programs.RecurType()
    result = overdub(ctx, programs.attach, tag(thing, ctx))
    assert istagged(result, ctx)
    assert untag(result, ctx) is thing
    assert set(metameta(result, ctx)) == {"r"}
    assert type(thing.r) is programs.RecurType
    assert not hasattr(thing.r, "r")
    thing.r.r = thing
    assert set(metameta(result, ctx)) == {"r"}


class Crazy(Arithmetic):
    """Addition adds, multiplication multiplies: what the program does with the values."""


def add_up(xs, ys, program, ctx):
    x = [tag(v, ctx, m) for v, m in xs]
    y = [tag(v, ctx, m) for v, m in ys]
    return program(x, y)


def test_46_crazypropctx_metadata_follows_the_values(programs):
    ctx = Crazy()
    xs = list(zip([1.0, 2.0, 3.0], [0.5, 0.25, 2.0], strict=True))
    ys = list(zip([4.0, 5.0, 6.0], [3.0, 1.0, 0.5], strict=True))
    result = overdub(ctx, add_up, xs, ys, programs.crazy_sum_mul, ctx)
    assert untag(result, ctx) == 90.0
    assert metadata(result, ctx) == 12.375
    assert [type(value) for value in programs.CONST] == [float] * 3
    assert programs.CONST == [1.0, 2.0, 3.0]
    assert type(programs.GLOBAL) is float
    assert programs.GLOBAL == 15.0


# ---- 47


class Diff(Context, tagging=True):
    """Forward mode, as Cassette's own test has it."""


def _rule(function, value, slopes):
    @Diff.overdub.register(function)
    def _(ctx, f, *arguments):
        if not any(istagged(x, ctx) for x in arguments):
            return fallback(ctx, f, *arguments)
        plain = [untag(x, ctx) for x in arguments]
        slope = 0.0
        for x, part in zip(arguments, slopes(*plain), strict=True):
            if hasmetadata(x, ctx):
                slope = slope + part * metadata(x, ctx)
        return tag(value(*plain), ctx, slope)


_rule(operator.add, lambda x, y: x + y, lambda x, y: (1.0, 1.0))
_rule(operator.mul, lambda x, y: x * y, lambda x, y: (y, x))
_rule(operator.neg, lambda x: -x, lambda x: (-1.0,))
_rule(math.sin, lambda x: math.sin(x), lambda x: (math.cos(x),))
_rule(math.cos, lambda x: math.cos(x), lambda x: (-math.sin(x),))


def D(f, x):
    ctx = enabletagging(Diff(), f)
    return metadata(overdub(ctx, f, tag(x, ctx, 1.0)), ctx, 0.0)


class Confuse:
    """Differentiates itself."""

    def __init__(self, depth):
        self.depth = depth

    def __call__(self, x):
        return x if self.depth == 0 else x * D(Confuse(self.depth - 1), x)


@pytest.mark.parametrize(
    ("f", "x", "slope"),
    [
        (math.sin, 1, 0.5403023058681398),
        (lambda x: D(math.sin, x), 1, -0.8414709848078965),
        (lambda x: math.sin(x) * math.cos(x), 1, math.cos(1) ** 2 - math.sin(1) ** 2),
        (lambda x: x * D(lambda y: x * y, 1), 2, 4),
        (lambda x: x * D(lambda y: x * y, 2), 1, 2),
        (lambda x: x * D(lambda y: 5 * x * y, 3), 2, 20),
        (lambda x: x * unaware.foo_bar_identity(x), 1, 2.0),
        (lambda x: (x + 2) * (3 + x), 0.25, 2 * 0.25 + 5),
        (lambda x: unaware.crazy([x], [x]), 0.25, 2 * 0.25),
        (lambda x: unaware.crazy([x, 2], [3, x]), 0.25, 2 * 0.25 + 5),
        (lambda x: x * D(lambda y: x + y, 1), 1, 1),
        (Confuse(1), 1, 1),
    ],
)
def test_47_diffctx_nested_derivatives_are_not_confused(programs, f, x, slope):
    assert D(f, x) == slope


def test_48_arrayindexctx_a_display_of_displays(programs):
    ctx = Moving()
    result = overdub(ctx, programs.square, tag(1, ctx, "hi"))
    assert result == [[1, 1], [1, 1]]
    assert [[part.metadata for part in row.metameta] for row in metameta(result, ctx)] == [["hi", "hi"]] * 2


class Nested(Context, tagging=True):
    pass


def nested(depth, x, seen):
    ctx = enabletagging(Nested(), nested)
    marked = tag(x, ctx, depth)
    seen.append(ctx)
    if depth == 0:
        return overdub(ctx, unaware.sine_of_doubled, marked)
    return overdub(ctx, nested, depth - 1, marked + marked if depth == 1 else marked, seen)


def test_49_nestedctx_each_tag_encloses_the_previous(programs):
    seen = []
    assert nested(2, 0.5, seen) == math.sin(2.0)
    outer, middle, inner = [next(iter(ctx._tags.values())) for ctx in seen]
    assert outer.parent is None
    assert middle.parent is outer
    assert inner.parent is middle
