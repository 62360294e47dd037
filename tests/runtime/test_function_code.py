"""Calls of functions whose code cassette_import has replaced, and of hooks, are specialised by the interpreter."""

import dis
import sys
from types import FunctionType

import pytest
from helpers.accelerator import problem_of_dispatch

from cassette_import import Context, Events, overdub
from cassette_import.runtime.dispatch.hook_functions import set_code, specialised_calls

PROGRAM = """
    def call(function, count):
        for _ in range(count):
            function(1)

    def called(x):
        return x
"""
CALLS_OF_FUNCTIONS = ("CALL_PY_EXACT_ARGS", "CALL_ADAPTIVE_PY", "CALL_PY_GENERAL")

needs_extension = pytest.mark.skipif(
    bool(problem_of_dispatch()) and sys.version_info >= (3, 13), reason=problem_of_dispatch() or "it is there"
)


def is_specialised(function):
    """Whether the interpreter specialises a call site that calls nothing but this function."""

    def call(function, count):
        for _ in range(count):
            function(1)

    call(function, 100)
    names = [one.opname for one in dis.get_instructions(call, adaptive=True)]
    return any(name in names for name in CALLS_OF_FUNCTIONS)


def plain(x):
    return x


def made(code=plain.__code__):
    return FunctionType(code, {})


def defined():
    def function(x):
        return x

    return function


@needs_extension
def test_calls_of_a_function_are_specialised_when_it_has_other_code():
    function = defined()
    set_code(function, plain.__code__.replace(co_name="other"))
    assert is_specialised(function)


@needs_extension
def test_calls_of_a_function_are_specialised_when_it_has_its_own_code_again():
    function = defined()
    own = function.__code__
    set_code(function, plain.__code__.replace(co_name="other"))
    set_code(function, own)
    assert is_specialised(function)
    assert function(3) == 3


@needs_extension
def test_a_call_site_calls_the_code_that_a_function_has_got_meanwhile():
    function = defined()

    def call(count):
        for _ in range(count):
            found = function(1)
        return found

    def other(x):
        return x + 1

    def another(x, y=5):
        return y

    assert call(100) == 1
    set_code(function, other.__code__)
    assert call(100) == 2
    set_code(function, another.__code__)
    with pytest.raises(TypeError, match="missing 1 required"):
        call(1)


@pytest.mark.skipif(sys.version_info < (3, 13), reason="before 3.13, each function gets a version")
def test_a_function_whose_code_the_program_has_assigned_stays_as_the_program_left_it():
    function = defined()
    function.__code__ = plain.__code__
    set_code(function, plain.__code__.replace(co_name="other"))
    assert not is_specialised(function)


@pytest.mark.skipif(sys.version_info < (3, 13), reason="before 3.13, each function gets a version")
def test_a_function_whose_defaults_the_program_has_assigned_stays_as_the_program_left_it():
    function = defined()
    function.__defaults__ = (1,)
    set_code(function, plain.__code__)
    assert not is_specialised(function)
    assert function() == 1


@needs_extension
def test_calls_of_a_function_that_was_made_are_specialised():
    assert is_specialised(specialised_calls(made()))


def test_code_that_does_not_fit_is_refused_as_by_an_assignment():
    function, x = defined(), 1
    with pytest.raises(ValueError, match="free vars"):
        set_code(function, (lambda: x).__code__)


@pytest.mark.skipif(bool(problem_of_dispatch()), reason=problem_of_dispatch() or "it is there")
def test_only_functions_have_code_to_set():
    with pytest.raises(TypeError, match="a function is needed"):
        set_code(print, plain.__code__)
    with pytest.raises(TypeError, match="a function is needed"):
        specialised_calls(print)


class Nothing(Context):
    pass


@Nothing.overdub.register(sys.intern)
def _intern(ctx, f, text):
    return text


class Count(Context, events=Events.CALLS):
    def __init__(self):
        super().__init__()
        self.count = 0

    def prehook(self, f, *arguments, **keywords):
        self.count += 1


@needs_extension
@pytest.mark.parametrize("context", [Nothing, Count])
def test_calls_of_overdubbed_functions_are_specialised_in_a_context_and_after_it(make_program, context):
    program = make_program(PROGRAM)
    with context():
        program.call(program.called, 100)
        assert is_specialised(program.called)
    assert is_specialised(program.called)


@needs_extension
def test_calls_of_hooks_are_specialised(make_program):
    program = make_program(PROGRAM)
    with Count():
        program.call(program.called, 100)
        names = [one.opname for one in dis.get_instructions(program.call, adaptive=True)]
    if sys.version_info >= (3, 12):  # 3.11 has other names
        assert names.count("CALL_PY_EXACT_ARGS") == 2  # the hook and `function`
    assert overdub(Count(), program.called, 1) == 1
