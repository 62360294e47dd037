"""`callee in NoTargets(functions, names)` contains functions and methods that are certainly no targets."""

import math

import pytest
from helpers.accelerator import problem_of_dispatch

from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.event_runner import NoTargetsInPython


@pytest.fixture(params=["in C", "in Python"])
def make(request):
    if request.param == "in Python":
        return NoTargetsInPython
    if problem_of_dispatch():
        pytest.skip(problem_of_dispatch())
    return DISPATCH.NoTargets


def function(x=None):
    return x


def others():
    return [eval("lambda: None") for _ in range(500)]


class Thing:
    def method(self):
        return self

    other = function

    def __eq__(self, another):
        raise AssertionError("compared")

    __hash__ = None


def test_python_functions_and_methods_are_contained_unless_they_are_targets(make):
    container = make(frozenset([function]), frozenset())
    assert Thing().method in container
    assert Thing.method in container
    assert function not in container
    assert Thing().other not in container


def test_each_of_many_functions_is_known(make):
    targets, rest = others(), others()
    container = make(frozenset(targets), frozenset())
    assert not any(target in container for target in targets)
    assert all(other in container for other in rest)


def test_other_callables_are_not_contained(make):
    container = make(frozenset(), frozenset())
    for callee in (Thing, Thing(), math.sin, len, [].__len__, None, type("", (), {"__call__": function})()):
        assert callee not in container


def test_methods_of_builtin_types_are_contained_in_c_unless_their_name_is_that_of_a_target():
    if problem_of_dispatch():
        pytest.skip(problem_of_dispatch())
    container = DISPATCH.NoTargets(frozenset(), frozenset(["append"]))
    for _ in range(2):  # what is found out about a method is kept
        assert [].extend in container
        assert "text".upper in container
        assert [].append not in container
        assert bytearray().append not in container


def test_methods_of_subclasses_of_builtin_types_are_not_contained_since_programs_change_these(make):
    class Items(list):
        pass

    assert Items().extend not in make(frozenset(), frozenset())
