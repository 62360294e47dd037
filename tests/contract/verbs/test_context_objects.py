"""Context objects, and which one is current."""

import pytest
from helpers.called_program import Ctx

from cassette_import import Context, current, overdub


def test_metadata_is_kept_as_given():
    metadata = object()
    assert Ctx(metadata).metadata is metadata


def test_metadata_is_none_unless_given():
    assert Ctx().metadata is None


def test_subclass_need_not_call_the_initialiser_of_context(program):
    class Own(Context):
        def __init__(self, limit):
            self.limit = limit

        def prehook(self, f, *args):
            self.limit -= 1

    ctx = Own(10)
    assert overdub(ctx, program.twice, 2) == 4
    assert ctx.limit == 8


def test_context_itself_can_be_entered(program):
    assert overdub(Context(), program.twice, 2) == 4


def test_context_is_one_instance_for_all_its_events(program):
    seen = []

    class Own(Context):
        def prehook(self, f, *args):
            seen.append(self)

    ctx = Own()
    overdub(ctx, program.twice, 2)
    assert len(seen) == 2
    assert all(each is ctx for each in seen)


def test_current_is_none_outside_of_contexts():
    assert current() is None


def test_current_is_the_context_inside_of_a_block():
    ctx = Ctx()
    with ctx:
        assert current() is ctx
    assert current() is None


def test_current_is_the_context_inside_of_overdub(program):
    ctx = Ctx()
    assert overdub(ctx, program.call, current) is ctx
    assert current() is None


def test_current_is_the_innermost_context():
    outer, inner = Ctx(), Ctx()
    with outer:
        with inner:
            assert current() is inner
        assert current() is outer


def test_current_is_none_in_a_hook_of_the_only_context(program):
    # The hook runs with its context suspended.
    seen = []

    class Own(Context):
        def prehook(self, f, *args):
            seen.append(current())

    overdub(Own(), program.add, 1, 2)
    assert seen == [None]


def test_current_is_the_outer_context_in_a_hook_of_the_inner_one(program):
    seen = []

    class Own(Context):
        def prehook(self, f, *args):
            seen.append(current())

    outer = Ctx()
    with outer:
        overdub(Own(), program.add, 1, 2)
    assert len(seen) == 1
    assert seen[0] is outer


def test_current_is_what_it_was_after_an_exception(program):
    with pytest.raises(ValueError, match="7"):
        overdub(Ctx(), program.fail, 7)
    assert current() is None
