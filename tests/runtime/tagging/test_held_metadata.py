"""What arguments of a leaf hold: values with metadata in views, iterators, containers and attributes."""

import collections
import itertools
import types

import pytest

from cassette_import import Context, metadata, overdub, tag
from cassette_import.runtime.tagging.held_metadata import holds_metadata
from cassette_import.runtime.tagging.tag_scopes import tag_of
from cassette_import.runtime.tagging.wrappers import plain


class Box:
    pass


class Ctx(Context, tagging=True):
    lost = "ignore"

    def found(self, value):
        return False


@Ctx.overdub.register(Ctx.found)
def _found(ctx, f, self, value):
    return holds_metadata([plain(value)], tag_of(ctx))


HOLDERS = {
    "list": lambda ctx, x: [x],
    "tuple in a list": lambda ctx, x: [(x,)],
    "values": lambda ctx, x: {"a": x}.values(),
    "items": lambda ctx, x: {"a": x}.items(),
    "keys of a dict with tagged values": lambda ctx, x: {"a": x}.keys(),
    "mapping proxy": lambda ctx, x: types.MappingProxyType({"a": x}),
    "list iterator": lambda ctx, x: iter([x]),
    "deque iterator": lambda ctx, x: iter(collections.deque([x])),
    "reversed": lambda ctx, x: reversed([x]),
    "chain": lambda ctx, x: itertools.chain([1], [x]),
    "islice": lambda ctx, x: itertools.islice([x], 1),
    "cycle": lambda ctx, x: itertools.cycle([x]),
    "enumerate": lambda ctx, x: enumerate([x]),
    "zip": lambda ctx, x: zip([x], [1], strict=True),
    "view in a list": lambda ctx, x: [{"a": [x]}.values()],
    "chain of a view": lambda ctx, x: itertools.chain.from_iterable([{"a": x}.values()]),
    "generator": lambda ctx, x: (y for y in [x]),
}


@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
def test_what_holds_a_value_with_metadata_is_found(make):
    ctx = Ctx()

    def program(x):
        held = make(ctx, x)
        return ctx.found(held)

    assert overdub(ctx, program, tag(1.5, ctx, "metadata")) is True


def test_attributes_are_found_behind_views():
    ctx = Ctx()

    def program(x):
        box = Box()
        box.v = x
        return ctx.found({"a": box}.values())

    assert overdub(ctx, program, tag(1.5, ctx, "metadata")) is True


@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
def test_what_holds_none_is_not_found(make):
    ctx = Ctx()

    def program(x):
        other = Box()
        other.v = x
        held = make(ctx, 2.5)
        return ctx.found(held), other.v

    found, v = overdub(ctx, program, tag(1.5, ctx, "metadata"))
    assert found is False
    assert metadata(v, ctx, default=None) is None
