"""A context whose `overdub` says `recurse` for every call: modules of all callees are overdubbed, each of them once."""

import inspect

from cassette_import import Context, overdub, recurse
from cassette_import.specialization.progress import PROGRESS


class Everywhere(Context):
    def overdub(self, f, *arguments, **keywords):
        return recurse(self, f, *arguments, **keywords)


def functions_on_stack():
    return [entry.function for entry in inspect.stack()]


def smallest_first():
    return sorted([3, 1, 2], key=lambda number: -number)


def compiled_by(function):
    """How many functions are compiled when a function runs in the context."""
    before = PROGRESS.work().functions
    overdub(Everywhere(), function)
    return PROGRESS.work().functions - before


def test_a_library_function_that_calls_many_others_ends():
    assert "test_a_library_function_that_calls_many_others_ends" in overdub(Everywhere(), functions_on_stack)


def test_each_function_is_compiled_once():
    assert compiled_by(functions_on_stack) < 300  # as many as `inspect.stack` calls
    assert compiled_by(functions_on_stack) == 0


def test_callbacks_of_c_functions_are_compiled_once():
    assert overdub(Everywhere(), smallest_first) == [3, 2, 1]
    assert compiled_by(smallest_first) == 0
