"""Metadata survives what moves a value."""

import pytest
import tagging_movers as movers
from heap import no_new_holders_of_wrappers

from cassette_import import Context, Tagged, install, metadata, overdub, tag, untag


class Moving(Context, tagging=True):
    pass


@pytest.fixture(scope="module", autouse=True)
def installed():
    with no_new_holders_of_wrappers(), install([movers.__name__]):
        yield


@pytest.mark.parametrize("value", [1, 3.5], ids=["small int", "float"])
@pytest.mark.parametrize("mover", movers.MOVERS, ids=lambda mover: mover.__name__)
def test_metadata_survives(mover, value):
    ctx = Moving()
    result = overdub(ctx, mover, tag(value, ctx, "m"))
    assert untag(result, ctx) == mover(value)
    assert type(untag(result, ctx)) is type(mover(value))
    assert metadata(result, ctx) == "m"


def test_a_change_that_nobody_saw_drops_the_metadata():
    ctx = Moving()
    result = overdub(ctx, movers.by_shuffled_unseen, tag(1, ctx, "m"))
    assert sorted(result) == [-3, -2, -1, 1]
    assert not any(type(part) is Tagged for part in result)
