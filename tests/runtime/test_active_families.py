"""`family in ACTIVE_FAMILIES` asks what is active in this thread and task, as entries of functions do."""

import contextvars

import pytest
from helpers.accelerator import problem_of_dispatch

from cassette_import import Context
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.active_families import ActiveFamiliesInPython
from cassette_import.runtime.state import ACTIVE


@pytest.fixture(params=["in C", "in Python"])
def families(request):
    if request.param == "in Python":
        return ActiveFamiliesInPython()
    if problem_of_dispatch():
        pytest.skip(problem_of_dispatch())
    return DISPATCH.ActiveFamilies()


class Tagging(Context, tagging=True):
    pass


class Comparing:
    def __eq__(self, other):
        raise AssertionError("compared")


def family_here():
    return ACTIVE.get().family


def test_the_family_of_the_active_contexts_is_active_and_no_other_one(families):
    with Tagging():
        outer = family_here()
        assert outer in families
        with Tagging():
            assert family_here() in families
            assert outer not in families
        assert outer in families
    assert outer not in families


def test_no_family_is_active_where_the_variables_of_the_context_are_others(families):
    with Tagging():
        family = family_here()
        assert not contextvars.Context().run(lambda: family in families)
        assert contextvars.copy_context().run(lambda: family in families)


def test_families_are_not_compared(families):
    assert Comparing() not in families
    with Tagging():
        assert Comparing() not in families
