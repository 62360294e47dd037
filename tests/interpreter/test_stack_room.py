"""The room on the stack of frames: loops do not ask the operating system for memory at each call."""

import sys

import pytest

from cassette_import.interpreter.fresh_stack import with_stack_room

resource = pytest.importorskip("resource", reason="page faults are counted by getrusage")

CALLS = 300


def leaf():
    return None


def faults_at(depth):
    """How many pages the operating system provided for the calls of a loop below `depth` frames."""
    if depth:
        return faults_at(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        leaf()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def most_faults():
    depths = range(min(400, (sys.getrecursionlimit() - 300) // 2))
    return max([faults_at(depth) for depth in depths])


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="later releases of 3.14 keep one piece for the next call")
def test_a_loop_at_the_end_of_a_piece_of_the_stack_takes_memory_for_each_call():
    assert most_faults() >= CALLS


def test_no_loop_takes_memory_for_each_call_where_there_is_room():
    assert with_stack_room(most_faults)() < CALLS


def test_a_function_with_room_returns_and_raises_as_before():
    @with_stack_room
    def divided(number, by=2):
        return number / by

    assert divided(3) == 1.5
    with pytest.raises(ZeroDivisionError) as failed:
        divided(3, by=0)
    assert failed.traceback[-1].frame.code.name == "divided"


def test_the_program_runs_with_room():
    from cassette_import.frontends.programs.user_program import Program

    assert Program.run.__code__.co_stacksize > 16 * 1024
