"""Packages that recognise the frames of their functions by code objects recognise them in contexts too."""

import pytest

from cassette_import import uninstall
from cassette_import.contexts import Noop, Profile
from cassette_import.specialization.code_consumers import KEEPERS

KEEPER = """
    import sys
    import weakref

    class Weakly:
        def __init__(self):
            self.references = {}

        def __getitem__(self, key):
            return self.references[id(key)][1]

        def __setitem__(self, key, value):
            self.references[id(key)] = weakref.ref(key), value

        def __contains__(self, key):
            return id(key) in self.references

        def add(self, key):
            self[key] = "kept"

    keeper = MADE

    def internal(function):
        keeper.add(function.__code__)
        return function

    @internal
    def work(x):
        return frame_is_kept(), abs(x)

    @internal
    def steps():
        yield frame_is_kept()

    def frame_is_kept():
        return sys._getframe(1).f_code in keeper

    def other():
        return frame_is_kept()

    def nested():
        @internal
        def inner():
            return frame_is_kept()

        return inner

    def main():
        return work(-1), list(steps()), other(), nested()()

    EXPECTED = (True, 1), [True], False, True
"""


@pytest.fixture(params=["set()", "Weakly()"])
def program(request, make_program, monkeypatch):
    module = make_program(KEEPER.replace("MADE", request.param))
    monkeypatch.setattr(
        "cassette_import.specialization.code_consumers.KEEPERS", [*KEEPERS, (module.__name__, "keeper")]
    )
    assert module.main() == module.EXPECTED
    return module


def test_a_frame_is_known_by_the_code_that_runs_in_a_context(program, Recorder):
    made_before = program.nested()
    with Recorder() as ctx:
        assert program.main() == program.EXPECTED
        assert made_before() is True
    assert abs in ctx.functions


def test_it_is_known_in_one_context_after_the_other_and_outside(program, Recorder):
    for context in [Recorder(), Noop(), Profile()]:
        with context:
            assert program.main() == program.EXPECTED
        assert program.main() == program.EXPECTED


def test_code_stored_while_a_context_is_active_is_recognised_after_uninstalling(program, Recorder):
    with Recorder():
        made_inside = program.nested()
        assert made_inside() is True
    uninstall()
    assert made_inside() is True
    assert program.main() == program.EXPECTED
