"""`Noop`: intercepts everything, changes nothing, and has no results."""

import colorsys

import pytest

from cassette_import import Context, Events, current, overdub
from cassette_import.contexts import Noop
from cassette_import.kits.reporting import is_reporting


def test_it_intercepts_every_event():
    assert Noop().events == Events.ALL


@pytest.mark.parametrize(
    ("option", "events"),
    [
        ("calls", Events.CALLS),
        ("calls+operators", Events.CALLS | Events.OPERATORS),
        ("Calls|Truth", Events.CALLS | Events.TRUTH),
        ("none", Events.NONE),
        (Events.NAMES, Events.NAMES),
    ],
)
def test_it_intercepts_the_events_of_the_option(option, events):
    assert Noop(events=option).events == events
    assert isinstance(Noop(events=option), Noop)


def test_each_instance_has_its_own_events():
    one, other = Noop(events="calls"), Noop(events="operators")
    assert (one.events, other.events, Noop().events) == (Events.CALLS, Events.OPERATORS, Events.ALL)


def test_equal_choices_share_one_type_and_so_one_body_of_code():
    assert type(Noop(events="calls")) is type(Noop(events=Events.CALLS))


def test_an_unknown_kind_of_events_is_an_error_that_names_the_known_ones():
    with pytest.raises(ValueError, match=r"'sounds'; there are .*calls, operators"):
        Noop(events="calls+sounds")


def test_it_carries_metadata():
    assert Noop({"a": 1}).metadata == {"a": 1}
    assert Noop({"a": 1}, events="calls").metadata == {"a": 1}


@pytest.mark.parametrize("events", [None, "calls", "calls+operators"])
def test_a_function_returns_the_same_as_without_it(events):
    assert overdub(Noop(events=events), colorsys.rgb_to_hls, 0.2, 0.4, 0.4) == colorsys.rgb_to_hls(0.2, 0.4, 0.4)


def test_an_exception_propagates_through_it(make_program):
    program = make_program("def fail():\n    raise ValueError('mine')\ndef main():\n    fail()\n")
    with Noop(), pytest.raises(ValueError, match="mine") as caught:
        program.main()
    assert [entry.name for entry in caught.traceback][-2:] == ["main", "fail"]


def test_it_is_a_context_like_any_other():
    with Noop() as context:
        assert current() is context
    assert isinstance(context, Context)


def test_it_has_no_results():
    assert not is_reporting(Noop())


def test_a_loop_over_all_objects_ends(make_program):
    program = make_program(
        """
        import gc

        def counted(objects):
            return sum(1 for one in objects), len([one for one in objects]), sum(map(bool, [True for _ in objects]))

        def main():
            gc.collect()
            objects = gc.get_objects()
            return [count == len(objects) for count in counted(objects)]
        """
    )
    with Noop():
        assert program.main() == [True, True, True]
        assert program.main() == [True, True, True]
