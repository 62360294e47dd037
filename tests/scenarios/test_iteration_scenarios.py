"""Scenario 31 of Cassette.jl: overloads of the functions that loops, splats and unpacking call implicitly."""

import pytest

from cassette_import import Context, install, overdub

from . import further_programs as unaware


@pytest.fixture
def programs():
    with install([unaware.__name__]):
        yield unaware


# 31: NukeCtx


@pytest.fixture
def nuke(programs):
    class NukeCtx(Context):
        pass

    @NukeCtx.overdub.register(iter)
    def _(ctx, f, silo: programs.Silo):
        return iter(())

    return NukeCtx()


def test_31_nukectx_overloaded_iteration_is_matched_when_it_is_called(nuke, programs):
    assert list(overdub(nuke, iter, programs.Silo())) == []


@pytest.mark.parametrize(("name", "result"), [("display", ()), ("turns", 0), ("splat", 0)])
def test_31_nukectx_overloaded_iteration_is_matched_when_it_is_implied(name, result, nuke, programs):
    assert overdub(nuke, getattr(programs, name), programs.Silo()) == result


def test_31_nukectx_unpacking_of_overloaded_iteration_raises_its_own_error(nuke, programs):
    with pytest.raises(ValueError, match="not enough values to unpack"):
        overdub(nuke, programs.unpack, programs.Silo())
