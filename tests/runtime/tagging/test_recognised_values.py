"""What is stored by one route and read by another one keeps its metadata, or its loss is an error."""

import pytest
from programs.tagging import stores

from cassette_import import Context, NotOverdubbable, install, metadata, overdub, tag, untag
from cassette_import.contexts.autodiff import derivative, gradient
from cassette_import.contexts.intervals import Interval, enclosure
from tests.helpers.counted_results import share_of_results


@pytest.fixture(scope="module", autouse=True)
def installed():
    with install([stores.__name__]):
        yield


def found_or_refused(function, *arguments):
    try:
        return function(*arguments)
    except NotOverdubbable:
        return None


@pytest.mark.filterwarnings("ignore:Pickle, copy:DeprecationWarning")
@pytest.mark.parametrize("store", stores.STORES, ids=lambda store: store.__name__)
def test_a_number_that_is_stored_keeps_its_derivative_or_is_an_error(store):
    assert store(1.25) == 1.25
    assert found_or_refused(derivative, store, 1.25) in (1.0, None)
    assert found_or_refused(gradient, store, 1.25) in ((1.0,), None)


@pytest.mark.filterwarnings("ignore:Pickle, copy:DeprecationWarning")
@pytest.mark.parametrize("store", stores.STORES, ids=lambda store: store.__name__)
def test_a_number_that_is_stored_keeps_its_enclosure_or_is_an_error(store):
    found = found_or_refused(enclosure, store, Interval(1.0, 1.5))
    assert found is None or (found.low <= 1.0 and found.high >= 1.5)


@pytest.mark.filterwarnings("ignore:Pickle, copy:DeprecationWarning")
@pytest.mark.parametrize(
    "compute",
    [
        lambda store: derivative(store, 1.25),
        lambda store: gradient(store, 1.25),
        lambda store: enclosure(store, Interval(1.0, 1.5)),
    ],
    ids=["derivative", "gradient", "enclosure"],
)
def test_two_thirds_of_the_stores_have_a_result(compute):
    assert share_of_results(compute, stores.STORES) >= 0.66


class Recognising(Context, tagging=True):
    recognised_types = (float,)


def through_defaults(x):
    return (lambda a=x: a).__defaults__[0]


def test_a_context_type_lists_the_types_that_are_recognised():
    ctx = Recognising()
    assert metadata(overdub(ctx, through_defaults, tag(float("1.5"), ctx, "m")), ctx) == "m"
    assert metadata(overdub(ctx, through_defaults, tag([1.5], ctx, "m")), ctx, None) is None


def test_a_value_that_the_program_untags_is_not_recognised():
    ctx = Recognising()
    assert metadata(overdub(ctx, lambda x: [x, untag(x, ctx)][1], tag(float("1.5"), ctx, "m")), ctx, None) is None


def test_a_value_with_different_metadata_in_different_places_is_an_error():
    class Strict(Recognising):
        lost = "error"

    ctx = Strict()

    def program(x):
        first = (lambda a=x: a).__defaults__
        y = tag(untag_elsewhere(x), ctx, "other")
        second = (lambda a=y: a).__defaults__
        return first, second

    with pytest.raises(NotOverdubbable, match="different metadata in different places"):
        overdub(ctx, lambda x: program(x)[0][0], tag(float("1.5"), ctx, "m"))


def untag_elsewhere(x):
    return x


def test_constants_of_the_program_are_not_taken_for_the_number():
    def program(x):
        stored = (lambda a=x: a).__defaults__
        return [1.5][0] * stored[0]

    assert derivative(program, 1.5) == 1.5


def test_inner_and_outer_derivatives_of_a_stored_number_are_not_confused():
    def inner(x):
        def f(y):
            stored = (lambda a=x, b=y: a).__defaults__
            return stored[0] * stored[1]

        return derivative(f, x)

    assert derivative(inner, 2.0) == 1.0
