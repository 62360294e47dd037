"""Hidden frames."""

import sys

from cassette_import.interpreter.hidden_frames import hidden


def name_of_caller():
    return sys._getframe(1).f_code.co_name


def test_a_function_that_is_hidden_twice_is_hidden():
    @hidden
    @hidden
    def between():
        return name_of_caller()

    assert between() == "test_a_function_that_is_hidden_twice_is_hidden"


def test_a_comprehension_of_a_hidden_function_is_hidden():
    @hidden
    def between():
        return [name_of_caller() for _ in range(1)]

    assert between() == ["test_a_comprehension_of_a_hidden_function_is_hidden"]
