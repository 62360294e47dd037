"""The first value may be tagged in the middle of a statement: metadata is then as if others had been tagged before."""

import gc
import sys

import pytest
from helpers.counted_metadata import count_anew
from programs.tagging import first_steps, first_steps_of_bodies, first_steps_of_calls, first_steps_of_suspensions

from cassette_import import Context, install, metadata, overdub, tag
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.tagging import live_metadata

FILES = [first_steps, first_steps_of_bodies, first_steps_of_calls, first_steps_of_suspensions]
PROGRAMS = [program for file in FILES for program in file.PROGRAMS]
INSTALLED = [file.__name__ for file in FILES]


class Flowing(Context, tagging=True):
    def computed(self, value, f, *arguments, **keywords):
        return "computed"


@pytest.fixture(autouse=True)
def nothing_tagged(monkeypatch):
    """Exclude wrappers of earlier tests, which tracebacks of failed tests hold, from the count."""
    with install(INSTALLED), Flowing():
        count_anew(monkeypatch)
    with install(INSTALLED):
        yield


def values_and_metadata(program, ctx):
    found = []

    def work():
        values = program(ctx)
        values = values if isinstance(values, tuple) else (values,)
        found.extend((value == value, repr(value), metadata(value, ctx, None)) for value in values)

    overdub(ctx, work)
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_metadata_is_as_if_another_value_had_been_tagged_before(program):
    ctx = Flowing()
    assert not FLAGS["@tagged"]
    first = values_and_metadata(program, ctx)
    assert FLAGS["@tagged"] or FLAGS["@epoch"] is not None
    ctx = Flowing()
    other = tag(1, ctx, "other")
    assert values_and_metadata(program, ctx) == first
    assert metadata(other, ctx) == "other"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_metadata_is_the_same_when_functions_have_run_before(program):
    """Guards hold then."""
    ctx = Flowing()
    first = values_and_metadata(program, ctx)
    for _ in range(3):
        gc.collect()
        ctx = Flowing()
        live_metadata.start_counting()
        assert values_and_metadata(program, ctx) == first


def lines_of(function, arguments):
    """The lines of a function that a tracer sees."""
    seen = []

    def trace(frame, event, argument):
        if frame.f_code.co_name != function.__name__:
            return None
        seen.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    return seen


@pytest.mark.xfail(
    sys.version_info < (3, 12),
    reason="on 3.11, a tracer sees a line once more where a part of a condition is tested (docs/transparency.md)",
    strict=False,
)
@pytest.mark.parametrize("arguments", [(3, "a"), (0, "a"), (3, "")])
def test_a_tracer_sees_the_lines_of_the_program_in_conditions_of_several_lines(arguments):
    plain = lines_of(first_steps.with_conditions_of_several_lines, arguments)
    with Flowing():
        first_steps.with_conditions_of_several_lines(*arguments)
        assert lines_of(first_steps.with_conditions_of_several_lines, arguments) == plain
