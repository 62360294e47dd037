"""A view or an iterator reads the metadata of its source when it is read, not when it is made."""

import gc

import pytest
from programs.tagging import reading_later

from cassette_import import Context, hasmetadata, install, overdub, tag, untag
from cassette_import.contexts.autodiff import derivative

each_reader = pytest.mark.parametrize("reader", reading_later.READERS, ids=lambda reader: reader.__name__)


class Following(Context, tagging=True):
    """Each value that is computed of tagged ones is tagged."""

    def computed(self, value, f, *arguments, **keywords):
        return "m"


def source():
    return 3.0


class Supplied(Following):
    """The first value is tagged while the program runs."""


@Supplied.overdub.register(source)
def _(ctx, f):
    return tag(float("3"), ctx, "m")


@pytest.fixture(scope="module", autouse=True)
def installed():
    with install([reading_later.__name__]):
        yield


@each_reader
def test_the_derivative_follows(reader):
    assert derivative(lambda x: reader(lambda: x), 3.0) == pytest.approx(1.0)


@each_reader
def test_metadata_from_before_the_view_was_made_is_found(reader):
    ctx = Following()
    result = overdub(ctx, lambda x: reader(lambda: x), tag(3.0, ctx, "m"))
    assert untag(result, ctx) == reader(source)
    assert hasmetadata(result, ctx)


@each_reader
def test_metadata_of_the_first_value_ever_is_found(reader):
    gc.collect()  # no metadata of another test is alive
    ctx = Supplied()
    result = overdub(ctx, reader, source)
    assert untag(result, ctx) == reader(source)
    assert hasmetadata(result, ctx)
