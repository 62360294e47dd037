"""Tools of the standard library, used by a program on itself, report the same as in the plain program.

Each program runs plain and then, from a fresh copy of its module, installed: with no context active, in
`Noop`, and in a context whose hooks read their arguments. `tests/programs/test_tools_processes.py` does the
same for tools that start, stop or drive processes.
"""

import sys

import pytest
from helpers.contexts import ReadsArguments
from helpers.same_program import WAYS, assert_same

from cassette_import.contexts import Noop
from programs.transparency import tools_copying, tools_inspecting, tools_running

PROGRAMS = {**tools_inspecting.PROGRAMS, **tools_copying.PROGRAMS, **tools_running.PROGRAMS}
if sys.version_info >= (3, 12):
    PROGRAMS |= tools_running.SINCE_3_12


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("program", PROGRAMS)
def test_tool_reports_the_same_as_of_the_plain_program(program, way, make_package):
    """V15 (programs named sys_...) and more: tracers, profilers, inspect, pickle, …"""
    assert_same(way, PROGRAMS[program], make_package)


RECURSIONS = """
    import sys

    def depth():
        frame, n = sys._getframe(), 0
        while frame is not None:
            frame, n = frame.f_back, n + 1
        return n

    deepest = 0

    def note(n):
        global deepest
        deepest = n

    def function(n):
        global deepest
        deepest = n
        return function(n + 1) + 1

    class A:
        def method(self, n):
            global deepest
            deepest = n
            return self.method(n + 1)

        def __add__(self, n):
            global deepest
            deepest = n
            return self + (n + 1)

    def closure(n):
        def inner(n):
            global deepest
            deepest = n
            return inner(n + 1)
        return inner(n)

    def lambdas(n):
        go = lambda n: note(n) or go(n + 1)
        return go(n)

    def generator(n):
        global deepest
        deepest = n
        yield from generator(n + 1)

    def generators(n):
        return next(generator(n))

    def main(go, limit):
        old = sys.getrecursionlimit()
        sys.setrecursionlimit(depth() + limit)
        try:
            go(0)
        except RecursionError:
            return deepest
        finally:
            sys.setrecursionlimit(old)
"""
MOST_FRAMES_MISSING = 8
"""By how much less deep a recursion may get, for every limit: see `docs/transparency.md`."""


@pytest.mark.parametrize("go", ["function", "A().method", "A().__add__", "closure", "lambdas", "generators"])
@pytest.mark.parametrize("context_type", [Noop, ReadsArguments])
def test_recursion_ends_at_the_same_depth_but_for_the_frames_of_the_last_hooks(go, context_type, make_program):
    program = make_program(RECURSIONS)
    start = eval(go, vars(program))
    for limit in (200, 600):
        expected = program.main(start, limit)
        with context_type():
            found = program.main(start, limit)
        assert expected - MOST_FRAMES_MISSING <= found <= expected
