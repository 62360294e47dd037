"""Metadata survives what moves a value: construction, iterators and algorithms, calls and syntax.

Each function of the programs gets a tagged value and another one, and returns the first of them.
"""

import pytest
from programs.tagging import constructing, iterating, passing

from cassette_import import NO_METADATA, Context, install, metadata, overdub, tag, untag

PROGRAMS = (constructing, iterating, passing)
MOVERS = [mover for program in PROGRAMS for mover in program.MOVERS]
VALUES = {"small ints": (1, 2), "floats": (3.5, 2.5)}


class Moving(Context, tagging=True):
    pass


@pytest.fixture(scope="module", autouse=True)
def installed():
    with install([program.__name__ for program in PROGRAMS]):
        yield


@pytest.fixture(autouse=True)
def empty_caches():
    passing.cached.cache_clear()
    passing.cached_pair.cache_clear()


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("mover", MOVERS, ids=lambda mover: mover.__name__)
def test_metadata_survives(mover, values):
    ctx, (value, other) = Moving(), values
    result = overdub(ctx, mover, tag(value, ctx, "m"), other)
    assert untag(result, ctx) == mover(value, other)
    assert type(untag(result, ctx)) is type(mover(value, other))
    assert metadata(result, ctx) == "m"


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("mover", MOVERS, ids=lambda mover: mover.__name__)
def test_the_metadata_of_another_value_is_not_attached(mover, values):
    ctx, (value, other) = Moving(), values
    result = overdub(ctx, mover, value, tag(other, ctx, "m"))
    assert untag(result, ctx) == mover(value, other)
    assert metadata(result, ctx) is NO_METADATA
