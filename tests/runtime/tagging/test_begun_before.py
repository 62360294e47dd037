"""What began as plain code and goes on in a context: metadata is carried, or its loss is an error or a report."""

import pytest
from programs.tagging import begun_before

from cassette_import import Context, Events, NotOverdubbable, escapes, hasmetadata, install, overdub, tag
from cassette_import.contexts.autodiff import derivative

CARRIED = {
    "closure", "map_lambda", "map_def", "map_c", "starmap_c", "zip", "tee", "list_iter", "values", "filter", "cycle",
    "groupby", "zip_longest", "repeat_box", "reversed", "callback_registered", "partial_made", "with_made_before",
    "with_as_made_before", "enter_made_before", "stack_enter_made_before", "decorator_cm",
}  # fmt: skip
"""The cases that go on in the context exactly."""


class Reporting(Context, tagging=True):
    def computed(self, value, f, *arguments, **keywords):
        return "m"


@pytest.fixture(autouse=True)
def cleaned():
    with install([begun_before.__name__]):
        yield
    while begun_before.CLEANING:
        begun_before.CLEANING.pop()()


@pytest.mark.parametrize("name", begun_before.CASES)
def test_the_derivative_is_right_or_its_loss_is_an_error(name):
    continued = begun_before.CASES[name]()
    try:
        found, message = derivative(continued, 3.0), ""
    except NotOverdubbable as error:
        found, message = None, str(error)
    if found is not None or name in CARRIED:
        assert found == pytest.approx(2.0)
    else:
        assert "is lost in" in message
        assert "begun_before.py" in message


@pytest.mark.parametrize("name", sorted(begun_before.CASES.keys() - CARRIED))
def test_metadata_is_carried_or_its_loss_is_reported(name):
    continued, ctx = begun_before.CASES[name](), Reporting()
    found = []
    overdub(ctx, lambda x: found.append(hasmetadata(continued(x), ctx)), tag(float("3"), ctx, "m"))
    assert found == [True] or escapes(ctx)


WITH_FUNCTIONS = """
    def same(x):
        return x

    def numbers():
        @same
        def more(x):
            return x + 1

        class Held:
            value = same(3)

        yield more(1)
        yield [more(k) for k in (1, Held.value)]
"""


class Seeing(Context, tagging=True, events=Events.ALL):
    def __init__(self):
        super().__init__()
        self.seen = []

    def prehook(self, f, *arguments, **keywords):
        self.seen.append(getattr(f, "__name__", f))


def test_a_generator_that_defines_functions_goes_on_in_a_context(make_program):
    program = make_program(WITH_FUNCTIONS)
    overdub(Seeing(), program.same, 1)  # its shape is known before the generator begins
    begun = program.numbers()
    ctx = Seeing()
    with ctx:
        assert next(begun) == 2
        assert next(begun) == [2, 4]
    assert ctx.seen.count("more") == 3
    assert ctx.seen.count("same") == 2
