"""`with ctx:` enters a context for a block."""

import operator

import pytest
from helpers.called_program import PROGRAM, Ctx

from cassette_import import CassetteWarning, current, overdub
from cassette_import.activation import adoption


def test_block_binds_the_context():
    ctx = Ctx()
    with ctx as entered:
        assert entered is ctx


def test_block_runs_installed_functions_in_the_context(program, Recorder):
    with Recorder() as ctx:
        assert program.twice(2) == 4
    assert ctx.calls == [(program.add, (2, 2)), (operator.add, (2, 2))]


def test_block_ends_the_context(program, Recorder):
    with Recorder() as ctx:
        pass
    program.twice(2)
    assert ctx.calls == []


def test_block_lets_exceptions_through_and_ends_the_context(program):
    with pytest.raises(ValueError, match="7"), Ctx():
        program.fail(7)
    assert current() is None


def test_block_leaves_modules_that_are_not_installed_alone(make_package, import_fresh, Recorder, monkeypatch):
    monkeypatch.setattr(
        adoption.wildcard_variant, "any_wildcard_is_met", lambda: False
    )  # other tests may have made such functions

    class Fresh(Recorder):
        """A type of its own: each warns once."""

    plain, ctx = import_fresh(make_package(PROGRAM)), Fresh()
    with pytest.warns(CassetteWarning, match="Fresh met no function in this block"), ctx:
        assert plain.twice(2) == 4
    assert ctx.calls == []


def test_block_can_be_entered_again(program, Recorder):
    ctx = Recorder()
    with ctx:
        program.add(1, 2)
    with ctx:
        program.add(3, 4)
    assert ctx.calls == [(operator.add, (1, 2)), (operator.add, (3, 4))]


def test_block_of_a_context_that_is_active_ends_only_itself():
    ctx = Ctx()
    with ctx:
        with ctx:
            assert current() is ctx
        assert current() is ctx
    assert current() is None


def test_block_and_overdub_nest(program, Recorder):
    outer, inner = Recorder(), Recorder()
    with outer:
        overdub(inner, program.add, 1, 2)
        program.add(3, 4)
    assert inner.calls == [(operator.add, (1, 2))]
    assert outer.calls == [(operator.add, (1, 2)), (operator.add, (3, 4))]
