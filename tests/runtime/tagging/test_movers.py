"""Metadata survives operations that move a value."""

import sys

import pytest
from helpers.heap import no_new_holders_of_wrappers
from programs.tagging import movers

from cassette_import import NO_METADATA, Context, Tagged, install, metadata, metameta, overdub, tag, untag


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


def test_a_change_by_a_leaf_drops_the_metadata():
    ctx = Moving()
    result = overdub(ctx, movers.by_shuffled_unseen, tag(1, ctx, "m"))
    assert sorted(result) == [-3, -2, -1, 1]
    assert not any(type(part) is Tagged for part in result)


def test_a_value_sent_again_without_metadata_has_none():
    ctx = Moving()
    found = overdub(ctx, movers.sent_in_turn, tag(1, ctx, "m"))
    assert [part.metadata for part in metameta(found, ctx)] == ["m", NO_METADATA, NO_METADATA]


def test_a_generator_that_is_not_overdubbed_receives_plain_values():
    ctx = Moving()
    kinds = []

    def unseen():
        kinds.append(type((yield)))
        yield

    running = unseen()
    next(running)
    overdub(ctx, movers.sent, running, tag(1, ctx, "m"))
    assert kinds == [int]


def test_an_overdubbed_generator_that_is_passed_to_the_program_yields_metadata():
    ctx = Moving()

    def work(x):
        running = overdub(ctx, movers.patient, x)
        next(running)
        return metadata(running.throw(KeyError()), ctx)

    assert overdub(ctx, work, tag(1, ctx, "m")) == "m"


@pytest.mark.skipif(sys.version_info < (3, 13), reason="close gives nothing")
def test_the_value_that_a_closed_generator_returns_keeps_its_metadata():
    ctx = Moving()
    assert metadata(overdub(ctx, movers.closed, tag(1, ctx, "m")), ctx) == "m"
