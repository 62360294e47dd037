"""`residual` and `inline`: what is left of a function is a readable program with the same results."""

import ast
import datetime
import math
from decimal import Decimal
from fractions import Fraction

import pytest

from cassette_import.contexts.graph import GuardFailed, NotRepresentable, inline, residual, unknown

np = pytest.importorskip("numpy")

CALLS = []


class Curve:
    def __init__(self, coefficients):
        self.coefficients = coefficients
        self.table = {"name": "curve", "scale": 2.0}

    def value(self, x):
        total = 0.0
        for coefficient in self.coefficients:
            total = total * x + coefficient
        return total * self.table["scale"]


def halvings(x, divisor):
    count = 0
    for limit in (2.0, 8.0, 50.0):
        if x > limit:
            x = x / divisor
            count += 1
    wave = math.sin(x)
    return {"x": x, "count": count, "waves": [wave, wave * wave]}


def quotient(x, y):
    try:
        return x / y
    except ZeroDivisionError:
        return -1.0


def many(n, x):
    total = -0.0
    for number in range(n):
        total += [1.5, 2.5, 3.5, 4.5][number % 4] * x
    return total, [10, 20, 30][n % 3], f"{n:>4}", str(x).upper()


def imported(source):
    """The modules that a program imports."""
    return {alias.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for alias in node.names}


def test_a_known_polynomial_is_straight_line_code():
    found = residual(Curve([1.0, -3.0, 2.0]).value, unknown("x", 5.0))
    assert [found(x) for x in (0.5, -0.0, 7.0)] == [Curve([1.0, -3.0, 2.0]).value(x) for x in (0.5, -0.0, 7.0)]
    assert not any(isinstance(node, (ast.For, ast.While, ast.Attribute)) for node in ast.walk(ast.parse(found.source)))
    assert "total_3 = (total_2 * x) + 2.0" in found.source


def test_new_paths_are_traced_and_added():
    found = residual(halvings, unknown("x", 5.0), 2.0)
    for x in (5.0, 9.0, 0.5, 100.0, 2.0, 30.0, math.nan):
        assert repr(found(x)) == repr(halvings(x, 2.0))
    assert found.paths == 3
    assert imported(found.source) == {"math"}
    before = found.source
    assert found(99.0) == halvings(99.0, 2.0)
    assert found.source == before


def test_on_guard_says_what_happens_elsewhere():
    called = residual(halvings, unknown("x", 5.0), 2.0, on_guard="call")
    assert (called(100.0), called.paths) == (halvings(100.0, 2.0), 1)
    strict = residual(halvings, unknown("x", 5.0), 2.0, on_guard="raise")
    with pytest.raises(GuardFailed, match="the truth of gt was False"):
        strict(100.0)
    with pytest.raises(ValueError, match="on_guard is one of"):
        residual(halvings, unknown("x", 5.0), 2.0, on_guard="guess")


def test_exceptions_that_the_function_catches_have_its_results():
    found = residual(quotient, 3.0, unknown("y", 2.0))
    assert [found(4.0), found(0.0)] == [0.75, -1.0]


def test_exceptions_of_the_function_reach_the_caller():
    found = residual(lambda x: math.sqrt(x), unknown("x", 2.0))
    with pytest.raises(ValueError, match="math domain error"):
        found(-1.0)


def test_arguments_of_other_types_have_the_results_of_the_function():
    found = residual(lambda x, n: (x * n, isinstance(x, int)), unknown("x", 2.0), 3)
    assert [found(2.5), found(2), found(True)] == [(7.5, False), (6, True), (3, True)]


def test_sizes_tables_and_texts_are_exact():
    found = residual(many, unknown("n", 4), unknown("x", 0.1))
    for n, x in ((4, 0.3), (7, 0.7), (0, -0.0), (4, math.inf)):
        assert repr(found(n, x)) == repr(many(n, x))


def test_lists_of_unknown_numbers_have_a_structure():
    found = residual(lambda xs, scale: [x * scale for x in xs] + [sum(xs)], unknown("xs", [1.0, 2.0]), 3.0)
    assert found([5.0, 6.0]) == [15.0, 18.0, 11.0]
    assert found([5.0]) == [15.0, 5.0]


def test_known_arrays_are_tables():
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = residual(lambda matrix, x: (np.tanh(matrix @ x), x.shape), matrix, unknown("x", np.ones(2)))
    given = np.array([0.25, -0.5])
    assert found(given)[0].tolist() == np.tanh(matrix @ given).tolist()
    assert "numpy" in imported(found.source)


def test_writes_into_known_arguments_are_undone():
    def counted(state, x):
        state["calls"] += 1
        return x * state["calls"]

    state = {"calls": 1}
    found = residual(counted, state, unknown("x", 2.0))
    assert [found(2.0), found(3)] == [4.0, 6]
    assert state == {"calls": 1}


def test_a_result_that_a_program_cannot_name_is_refused():
    with pytest.raises(NotRepresentable, match="a program cannot name Curve"):
        residual(lambda x: Curve([x]), unknown("x", 2.0))
    with pytest.raises(NotRepresentable, match="an object that exists outside of the call is changed"):
        residual(lambda x: CALLS.append(x) or x, unknown("x", 2.0))
    with pytest.raises(ValueError, match="no argument is unknown"):
        residual(halvings, 5.0, 2.0)


def test_inline_is_one_function_of_a_function_and_its_callees():
    def area(width, height):
        return width * height

    found = inline(lambda width, height, depth: area(width, height) * depth, 1.0, 2.0, 3.0)
    assert found.source.splitlines()[-1].strip() == "return ((width * height) * depth)"
    assert found(2.0, 3.0, 4.0) == 24.0


@pytest.mark.parametrize(
    ("constant", "example", "other"),
    [
        (Fraction(216, 24389), 1.5, 0.25),
        (Decimal("1.10"), 3, 4),
        (range(0, 12, 3), 3, 4),
        (datetime.timedelta(days=1, seconds=3), 0.5, 0.25),
        (datetime.date(2020, 2, 29), datetime.timedelta(1), datetime.timedelta(366)),
        (datetime.datetime(2020, 2, 29, 12), datetime.timedelta(1), datetime.timedelta(hours=5)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_constants_of_the_standard_library_are_written_into_the_program(constant, example, other):
    def combined(x):
        return x in constant if type(constant) is range else constant + x if type(x) is not float else constant * x

    found = residual(combined, unknown("x", example))
    assert [repr(found(x)) for x in (example, other)] == [repr(combined(x)) for x in (example, other)]
