"""A derivative is right or an error: numbers that go ways without a rule are never taken for constants."""

import asyncio
import inspect
import json
import math
import statistics

import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import derivative, gradient
from tests.helpers.counted_results import share_of_results
from tests.programs import (
    binding_numbers,
    holding_numbers,
    moving_numbers,
    numbers_called_back,
    numbers_in_classes,
    sequence_numbers,
)

CALLED_BACK = {**numbers_called_back.PROGRAMS, **numbers_in_classes.PROGRAMS}
PROGRAMS = {**moving_numbers.PROGRAMS, **sequence_numbers.PROGRAMS, **holding_numbers.PROGRAMS, **CALLED_BACK}

STEP = 1e-6


def central(f, x):
    return (f(x + STEP) - f(x - STEP)) / (2 * STEP)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("differentiate", [derivative, lambda f, x: gradient(f, x)[0]], ids=["forward", "reverse"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_derivative_of_a_program_is_right_or_an_error(name, differentiate):
    program = PROGRAMS[name]
    try:
        found = differentiate(program, 3.0)
    except NotOverdubbable:
        return
    assert found == pytest.approx(central(program, 3.0), rel=1e-4, abs=1e-6)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("differentiate", [derivative, gradient], ids=["forward", "reverse"])
def test_three_quarters_of_the_programs_have_a_derivative(differentiate):
    assert share_of_results(lambda program: differentiate(program, 3.0), PROGRAMS.values()) >= 0.75


NOT_CARRIED = (
    "cmath_rect", "math_float", "pickle_reduce", "writer_print",
    "writer_csv", "writer_json", "prepare_class", "prepare_own_setitem", "eq_count",
    "od_setitem_copy", "enum_new", "enum_value", "enum_value_func",
)  # fmt: skip
"""The programs whose numbers no rule carries: a derivative of them is an error."""


@pytest.mark.parametrize("name", [name for name in CALLED_BACK if name.partition(": ")[2] not in NOT_CARRIED])
def test_a_function_that_a_leaf_calls_gets_numbers_with_their_derivatives(name):
    program = CALLED_BACK[name]
    assert derivative(program, 3.0) == pytest.approx(central(program, 3.0), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("differentiate", [derivative, lambda f, x: gradient(f, x)[0]], ids=["forward", "reverse"])
@pytest.mark.parametrize("name", binding_numbers.PROGRAMS)
def test_every_target_keeps_the_derivative(name, differentiate):
    program = binding_numbers.PROGRAMS[name]
    assert differentiate(program, 3.0) == pytest.approx(central(program, 3.0), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("program", "leaf"),
    [
        (lambda x: json.loads(json.dumps([x]))[0], "json.loads"),
        (lambda x: statistics.NormalDist(0.0, 1.0).inv_cdf(x / 10), "statistics.NormalDist.inv_cdf"),
        (lambda x: float(str(x)), "float"),
        (lambda x: [x][0].as_integer_ratio()[0], "float.as_integer_ratio"),
    ],
    ids=["json", "statistics", "text", "ratio"],
)
def test_the_error_names_the_leaf_and_the_call_site(program, leaf):
    with pytest.raises(NotOverdubbable, match=rf"there is no derivative of {leaf}: .*, at .*{__file__}:\d+ in .*: \S"):
        derivative(program, 3.0)


@pytest.mark.parametrize("differentiate", [derivative, gradient])
def test_a_program_that_catches_the_error_gets_no_derivative(differentiate):
    def program(x):
        try:
            return float(str(x))
        except Exception:
            return 1.0

    with pytest.raises(NotOverdubbable, match="there is no derivative of float"):
        differentiate(program, 3.0)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: float(len([x, x])),
        lambda x: 5.0 if isinstance(x, float) and type(x) is float else 6.0,
        lambda x: 5.0 if x > 1.0 and x != 2.0 and not math.isnan(x) else 6.0,
        lambda x: float(int(x + 0.5)) + round(x) + math.floor(x + 0.5) + (x + 0.5) // 1.0,
        lambda x: (f"{x} {x!r} {x:.3f}" + str(x) + "%s" % x) and 5.0,
        lambda x: float(sum(range(int(x + 0.5)))),
        lambda x: 5.0 if x in (1.0, 2.0) else 6.0,
    ],
    ids=["len", "type", "comparison", "rounding", "text", "range", "in"],
)
def test_the_derivative_of_what_is_constant_is_zero(program):
    assert derivative(program, 3.0) == 0.0
    assert gradient(program, 3.0) == (0.0,)


def test_text_of_a_number_is_printed(capsys):
    def program(x):
        print(x, f"{x:.1f}")
        return x * x

    assert derivative(program, 3.0) == 6.0
    assert capsys.readouterr().out == "3.0 3.0\n"


def test_text_beside_a_number_in_the_result_has_derivative_zero():
    assert derivative(lambda x: {"text": f"{x}", "value": x * x}, 3.0) == {"text": 0.0, "value": 6.0}


def test_integers_that_are_keys_are_no_error():
    def program(x, n):
        known = {}
        for number in range(n):
            known[number * n] = x * number
        known[n] = x
        return known[n] + known[n * 2]

    assert gradient(program, 3.0, 4)[0] == 3.0


async def _twice(x):
    return x * 2


def test_a_coroutine_whose_variables_a_leaf_reads_is_an_error():
    def program(x):
        coroutine = _twice(x)
        return inspect.getcoroutinelocals(coroutine)["x"]

    with pytest.raises(NotOverdubbable, match=r"lost in inspect.getcoroutinelocals"):
        derivative(program, 3.0)


def test_a_coroutine_that_an_event_loop_runs_keeps_its_derivative():
    assert derivative(lambda x: asyncio.run(_twice(x)), 3.0) == 2.0
