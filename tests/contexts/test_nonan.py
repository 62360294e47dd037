"""`NoNaN`: the first expression whose result is not finite although its operands were."""

import functools
import itertools
import json
import math
import operator
import statistics
import threading
import traceback

import numpy
import pytest
from helpers.command_line import cassette

from cassette_import import overdub
from cassette_import.contexts import NoNaN
from cassette_import.contexts.nonan import NaNFound

HUGE = 1e308


def first(function, *arguments):
    """What stops the function."""
    with pytest.raises(NaNFound) as caught, numpy.errstate(all="ignore"):
        overdub(NoNaN(), function, *arguments)
    return caught.value


def in_place_division():
    array = numpy.zeros(3)
    array /= array
    return array


def output_that_is_an_operand():
    array = numpy.ones(2)
    numpy.divide(array, 0.0, out=array)


def positional_output():
    array = numpy.ones(2)
    numpy.divide(array, 0.0, array)


@pytest.mark.parametrize(
    ("program", "function", "source"),
    [
        (lambda: [x / 0.1 for x in (1.0, HUGE)], operator.truediv, "x / 0.1"),
        (lambda: HUGE * 10 - HUGE * 10, operator.mul, "HUGE * 10"),
        (lambda: (HUGE + HUGE * 1j) * (HUGE + 1j), operator.mul, "(HUGE + HUGE * 1j) * (HUGE + 1j)"),
        (lambda: sum([HUGE, HUGE]), sum, "sum([HUGE, HUGE])"),
        (lambda: sum(x for x in (HUGE, HUGE)), sum, "sum(x for x in (HUGE, HUGE))"),
        (lambda: functools.reduce(operator.mul, [HUGE, HUGE]), operator.mul, None),
        (lambda: list(map(math.prod, [[HUGE, HUGE]])), math.prod, None),
        (lambda: list(itertools.accumulate([HUGE, HUGE])), operator.add, None),
        (lambda: statistics.fmean([HUGE, HUGE], [2.0, 2.0]), statistics.fmean, None),
        (lambda: numpy.log(numpy.array([1.0, 0.0])), numpy.log, None),
        (lambda: numpy.array([1.0, 0.0]) / 0, operator.truediv, None),
        (lambda: numpy.float32(1e300), numpy.float32, None),
        (lambda: numpy.linalg.norm(numpy.array([1e200, 1e200])), numpy.linalg.norm, None),
        (in_place_division, operator.itruediv, "array /= array"),
        (output_that_is_an_operand, numpy.divide, None),
        (positional_output, numpy.divide, None),
    ],
)
def test_the_first_result_that_is_not_finite_stops_the_program(program, function, source):
    found = first(program)
    assert found.function is function
    assert found.callsite.filename == __file__
    assert source is None or found.callsite.source == source


def nan_in_place():
    array = numpy.array([math.nan, 1.0])
    array += 1
    array *= 2.0
    numpy.add(array, 1, out=array)
    return array.sum(), array[0], array.copy(), array.reshape(2, 1)


@pytest.mark.parametrize(
    "program",
    [
        lambda: float("nan") * 2,
        lambda: json.loads("[NaN, Infinity]")[0] + 1,
        lambda: math.inf - math.inf,
        lambda: min(1.0, math.inf),
        lambda: {"a": math.nan}.get("a", 1.0),
        lambda: [math.inf][0],
        lambda: sum(x for x in [math.inf, 1.0]),
        lambda: sum([1.0, math.nan]),
        lambda: next(iter([1.0, math.nan][1:])),
        lambda: math.isnan(math.nan),
        lambda: HUGE * HUGE if HUGE < 0 else HUGE / HUGE,
        lambda: numpy.full(3, numpy.inf).sum(),
        lambda: numpy.nan_to_num(numpy.array([numpy.nan])),
        nan_in_place,
    ],
)
def test_a_number_that_was_not_finite_before_is_not_reported(program):
    with numpy.errstate(all="ignore"):
        overdub(NoNaN(), program)


def unused(x):
    return math.inf if x > 1 else x


def test_a_constant_that_a_function_returns_is_not_reported():
    overdub(NoNaN(), lambda: unused(2.0))


def test_an_error_has_the_operands_and_the_call_site():
    found = first(lambda: 3.0 * HUGE)
    assert (found.operands, found.result) == ((3.0, HUGE), math.inf)
    assert str(found).startswith("operator.mul(3.0, 1e+308) is inf, at ")
    assert str(found).endswith(": 3.0 * HUGE")
    assert isinstance(found, ArithmeticError)


def test_arrays_in_a_message_are_short():
    text = str(first(lambda: numpy.log(numpy.zeros((100, 2)))))
    assert text.startswith(
        "numpy.log(array of 100 × 2 float64) is array of 100 × 2 float64, of which 200 not finite, at"
    )


def after_an_error():
    array = numpy.ones(3)
    try:
        array /= numpy.ones(2)
    except ValueError:
        pass
    return HUGE * 10


def test_an_operation_in_place_that_raises_changes_nothing_for_the_next_one():
    assert first(after_an_error).function is operator.mul


def noted():
    return [x * 10 for x in (HUGE, HUGE, 1.0)], HUGE + HUGE


def test_without_stop_each_expression_is_noted_once():
    context = NoNaN(stop=False)
    overdub(context, noted)
    assert [found.callsite.source for found in context.found] == ["x * 10", "HUGE + HUGE"]
    lines = context.summary().splitlines()
    assert lines[0] == "nonan: 2 expressions with a result that is not finite"
    assert lines[1].endswith("x * 10 (and 1 further time)")


def test_what_the_program_catches_is_in_the_summary():
    def careless():
        try:
            return HUGE * 10
        except ArithmeticError:
            return 0.0

    context = NoNaN()
    assert overdub(context, careless) == 0.0
    assert len(context.found) == 1


def test_a_thread_is_looked_at():
    def work():
        results.append(HUGE * 10)

    results = []
    context = NoNaN(stop=False)

    def start():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    overdub(context, start)
    assert results == [math.inf]
    assert len(context.found) == 1


def test_the_command_line_stops_and_names_the_expression(tmp_path):
    (tmp_path / "program.py").write_text("rate = 1e308\nprint(rate * 100)\n")
    result = cassette("run", "-c", "nonan", "program.py", folder=tmp_path)
    assert result.status == 1
    assert "NaNFound: operator.mul(1e+308, 100) is inf, at " in result.stderr
    result = cassette("run", "-c", "nonan:stop=False", "-o", "found.json", "program.py", folder=tmp_path)
    assert result.stdout.startswith("inf\n")
    (entry,) = json.loads((tmp_path / "found.json").read_text())
    assert (entry["line"], entry["source"], entry["operands"]) == (2, "rate * 100", ["1e+308", "100"])


def doubled_in_place():
    array = numpy.array([1.0, 1e300])
    array *= 1e300
    return array


@pytest.mark.parametrize(
    ("program", "operands"),
    [
        (doubled_in_place, "array of 2 float64, changed in place, 1e+300"),
        (
            lambda: numpy.multiply(a := numpy.full(3, 1e300), a, a),
            "3 float64, changed in place, array of 3 float64, ch",
        ),
        (lambda: numpy.full(3, 1e300) * 1e300, "(array of 3 float64, 1e+300)"),
    ],
)
def test_an_operand_that_the_operation_changed_is_not_described_as_it_is_afterwards(program, operands):
    with numpy.errstate(all="ignore"):
        found = first(program)
    assert operands in str(found)
    assert "of which" not in ", ".join(found.descriptions)


def test_the_traceback_ends_at_the_expression():
    found = first(lambda: HUGE * HUGE)
    assert [entry.name for entry in traceback.extract_tb(found.__traceback__)][-1] == "<lambda>"
