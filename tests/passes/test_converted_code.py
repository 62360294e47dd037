"""The base of contexts of converted code: without methods of its own, a context runs code as Python does."""

from __future__ import annotations

import importlib.util
import random
import sys

import pytest
from helpers.random_lane_programs import PRELUDE, alike, arguments, program

from cassette_import import Context, install, overdub
from cassette_import.passes.if_conversion import ConvertedCode, if_conversion, loop_conversion
from cassette_import.rewriting.events import Events

PROGRAMS = 40
CALLS = 8


class Converted(Context, ConvertedCode, events=Events.NONE):
    passes = [if_conversion]


class ConvertedLoops(Context, ConvertedCode, events=Events.NONE):
    passes = [loop_conversion]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Many random functions in one module."""
    source = random.Random(20)
    text = PRELUDE + "\n\n".join(program(source, f"f{number}") for number in range(PROGRAMS))
    path = tmp_path_factory.mktemp("converted") / "converted_random_programs.py"
    path.write_text(text)
    with install(["helpers.random_lane_prelude"]):
        spec = importlib.util.spec_from_file_location("converted_random_programs", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        yield module
        del sys.modules[spec.name]


def outcome(call, *values):
    try:
        return call(*values), None
    except Exception as error:
        return None, error


@pytest.mark.parametrize("kind", [Converted, ConvertedLoops])
def test_random_programs_have_their_results_and_exceptions(kind, programs):
    source = random.Random(21)
    for number in range(PROGRAMS):
        f = getattr(programs, f"f{number}")
        for values in arguments(source, CALLS):
            expected, error = outcome(f, *values)
            found, raised = outcome(overdub, kind(), f, *values)
            assert type(raised) is type(error), (number, values)
            assert alike(found, expected), (number, values)
            if error is not None:
                assert alike(raised.args, error.args), (number, values)


def patterns(value):
    match value:
        case (True, one):
            return "true", one
        case (False, one):
            return "false", one
        case [None, *rest]:
            return "none", rest
        case {"key": True}:
            return "key"
        case None:
            return "nothing"
    return "other"


@pytest.mark.parametrize("kind", [Converted, ConvertedLoops])
@pytest.mark.parametrize("value", [(True, 1), (False, 1), (1, 1), (0, 1), [None, 2, 3], {"key": True}, None, 5])
def test_patterns_of_constants_compare_by_identity(kind, value):
    assert overdub(kind(), patterns, value) == patterns(value)


def scopes(x):
    text = f"{x!r:>4} {x % 3}"
    try:
        for one in range(3):
            if one == x:
                break
        else:
            text += " else"
        while x:
            x -= 1
            if x == 1:
                continue
        else:
            text += " ended"
        return text
    finally:
        text += " lost"


@pytest.mark.parametrize("kind", [Converted, ConvertedLoops])
@pytest.mark.parametrize("x", [0, 2, 7])
def test_loops_else_clauses_and_texts_are_those_of_python(kind, x):
    assert overdub(kind(), scopes, x) == scopes(x)


def unbound(x):
    if x:
        y = 1
    return y


@pytest.mark.parametrize("kind", [Converted, ConvertedLoops])
def test_an_unbound_variable_raises_the_error_of_python(kind):
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'y'"):
        overdub(kind(), unbound, 0)


class Counting(Converted):
    def __init__(self):
        self.tests = []

    def choice(self, test, *saved):
        self.tests.append(test)
        return super().choice(test, *saved)


def branches(x):
    if x > 2:
        x = 5
    return x if x == 5 else 7


def test_a_method_that_is_replaced_sees_each_branch():
    counting = Counting()
    assert overdub(counting, branches, 3) == 5
    assert counting.tests == [True, True]


class __Private__Names:
    __stored = "the class has one, too"

    def __init__(self, x):
        self.__stored = x
        self.__deleted = x

    def stores(self, x):
        if x:
            self.__stored += x
        self.left, self.__pair = x, -x
        del self.__deleted
        return self.__stored, self.__pair, dict(vars(self))

    def nested(self):
        def inner():
            self.__stored = "inner"
            return vars(self)

        return inner()

    def declared_global(self):
        global stores_from_outside

        def stores_from_outside():
            self.__stored = "outside"
            return vars(self)

        return stores_from_outside()


class PrivateInBase(__Private__Names):
    def __init__(self, x):
        self.__stored = x
        super().__init__(x)


def private_names(method, *arguments):
    return getattr(PrivateInBase(3), method)(*arguments)


@pytest.mark.parametrize("kind", [Converted, ConvertedLoops])
@pytest.mark.parametrize(("method", "arguments"), [("stores", (2,)), ("nested", ()), ("declared_global", ())])
def test_private_attributes_have_the_name_of_their_class(kind, method, arguments):
    assert overdub(kind(), private_names, method, *arguments) == private_names(method, *arguments)
