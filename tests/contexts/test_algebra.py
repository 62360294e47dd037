"""`Algebra`: number systems that a program defines by a table run unmodified code, and lose no meaning silently."""

import cmath
import functools
import heapq
import itertools
import math
import operator
import random
import statistics

import pytest
from helpers.slopes import Slopes

from cassette_import.contexts.algebra import Algebra, Meaningless, Number, evaluate, has_slopes


class Tropical(Algebra):
    """Sums are maxima, and products are sums: the weight of the heaviest path."""

    rules = {operator.add: max, operator.mul: operator.add, max: max}
    decisions = {operator.lt: lambda value, x, y: x < y}

    def lift(self, value):
        return value


class Samples(Algebra):
    """The meaning of a number is what it is in each of several random trials."""

    trials = 4
    follows_values = True

    def knows(self, f):
        return has_slopes(f)

    def lift(self, value):
        return [value] * self.trials

    def meaning(self, f, value, values, operands):
        return list(map(f, *operands))


def heaviest_path(first, second):
    """The matrix product of two steps, as any program writes it."""
    size = len(first)
    return [
        [sum((first[i][k] * second[k][j] for k in range(1, size)), first[i][0] * second[0][j]) for j in range(size)]
        for i in range(size)
    ]


def weights(rows):
    return [[Number(1.0, weight) for weight in row] for row in rows]


def samples_of(mean, seed):
    draw = random.Random(seed)
    return Number(mean, [draw.gauss(mean, 0.1) for _ in range(Samples.trials)])


def refused(system, f, *args):
    with pytest.raises(Meaningless) as caught:
        evaluate(system, f, *args)
    return str(caught.value)


def test_a_matrix_product_in_the_tropical_system_finds_the_heaviest_paths():
    one, other = [[3.0, -1.0], [2.0, 5.0]], [[0.5, 4.0], [1.0, -2.0]]
    found = evaluate(Tropical(), heaviest_path, weights(one), weights(other))
    for i, j in itertools.product(range(2), repeat=2):
        assert found[i][j].meaning == max(one[i][k] + other[k][j] for k in range(2))
        assert found[i][j].value == 2.0


def test_a_comparison_is_decided_by_the_rule_of_the_system():
    def smaller(x, y):
        return "first" if x < y else "second"

    assert smaller(1.0, 2.0) == "first"
    assert evaluate(Tropical(), smaller, Number(1.0, 9.0), Number(2.0, 3.0)) == "second"


def first_of_heap(x):
    heap = [2.0]
    heapq.heappush(heap, x)
    return heap[0]


CHOICES = {
    "min": lambda x: min(x, 2.0),
    "sorted": lambda x: sorted([x, 2.0])[0],
    "heappush": first_of_heap,
}


@pytest.mark.parametrize("name", CHOICES)
def test_code_of_the_interpreter_chooses_by_the_order_of_the_system(name):
    assert CHOICES[name](1.5) == 1.5
    assert evaluate(Tropical(), CHOICES[name], Number(1.5, 4.0)) == 2.0


@pytest.mark.parametrize("name", CHOICES)
def test_code_of_the_interpreter_chooses_nothing_in_a_system_without_an_order(name):
    class Unordered(Tropical):
        decisions = {}

    assert "operator.lt" in refused(Unordered(), CHOICES[name], Number(1.5, 4.0))


FUNCTIONS = {
    "operators": lambda x, y: (x - y) / (x * y) + (-x) ** 2 - abs(y) + +x,
    "augmented": lambda x, y: functools.reduce(operator.iadd, [x, y, 1], 2.5),
    "math": lambda x, y: math.atan2(math.sin(x), math.cos(y)) + math.hypot(x, y, 2.0) + math.log(y, x),
    "sums": lambda x, y: sum([x, y, 1.0]) + sum((x, y), start=2) + math.fsum([x, y, x]) + math.prod([x, y], start=3),
    "statistics": lambda x, y: statistics.fmean([x, y, 3.0]) * statistics.stdev([x, y, 7.0]) + math.dist([x], [y]),
    "containers": lambda x, y: {"a": [x * y]}["a"][0] + (x, y)[1] + max(x, y) + sorted([y, x])[0],
    "branches": lambda x, y: x * y if x < y else x / y,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_samples_are_what_the_function_returns_for_each_of_them(name):
    x, y = samples_of(2.0, 1), samples_of(3.5, 2)
    found = evaluate(Samples(), FUNCTIONS[name], x, y)
    assert found.value == pytest.approx(FUNCTIONS[name](2.0, 3.5))
    assert found.meaning == pytest.approx(list(map(FUNCTIONS[name], x.meaning, y.meaning)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_are_the_differences(name):
    def at(x):
        return FUNCTIONS[name](x, 3.5)

    found = evaluate(Slopes(), FUNCTIONS[name], Number(2.0, 1.0), 3.5)
    assert found.meaning == pytest.approx((at(2.0 + 1e-6) - at(2.0 - 1e-6)) / 2e-6, rel=1e-6)


def test_a_row_for_a_function_of_the_program_replaces_its_body():
    def area(radius):
        raise AssertionError

    class Areas(Algebra):
        rules = {cmath.phase: lambda x: x + 1, area: lambda x: x * 100}

        def lift(self, value):
            return value

    assert evaluate(Areas(), lambda x: cmath.phase(x), Number(2.0, 5.0)) == Number(0.0, 6.0)
    with pytest.raises(AssertionError):
        area(1.0)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: x - 1.0, "operator.sub"),
        (lambda x: math.sin(x), "math.sin"),
        (lambda x: x > 1.0, "operator.gt"),
        (lambda x: 1.0 if x else 2.0, "truth"),
        (lambda x: round(x), "round"),
        (lambda x: math.floor(x), "math.floor"),
        (lambda x: min([x, 2.0], key=operator.neg), "operator.neg"),
        (lambda x: {x, 2.0}, "set"),
        (lambda x: float(str(x)), "float"),
        (lambda x: math.nextafter(x, 0.0), "math.nextafter"),
        (lambda x: x.hex(), None),
        (lambda x: statistics.median([x, 1.0, 2.0]), "median"),
        (lambda x: x.as_integer_ratio()[0] * 2, None),
    ],
)  # fmt: skip
def test_what_has_no_rule_is_an_error_that_names_it(f, name):
    if name is None:
        with pytest.raises(Meaningless):
            evaluate(Tropical(), lambda x: float.fromhex(f(x)) if isinstance(f(x), str) else f(x), Number(1.5, 4.0))
    else:
        assert name in refused(Tropical(), f, Number(1.5, 4.0))


def test_an_error_that_the_program_catches_is_raised_at_the_end():
    def careful(x):
        try:
            return x - 1.0
        except Exception:
            return 0.0

    assert "x - 1.0" in refused(Tropical(), careful, Number(1.0, 2.0))


def test_an_exception_in_a_rule_is_not_one_of_the_program():
    class Broken(Algebra):
        rules = {operator.add: lambda x, y: 1 / 0}

        def lift(self, value):
            return value

    def careful(x):
        try:
            return x + 1.0
        except ZeroDivisionError:
            return 0.0

    assert "ZeroDivisionError: division by zero, in operator.add" in refused(Broken(), careful, Number(1.0, 2.0))


def test_a_system_that_does_not_lift_constants_refuses_them():
    class Closed(Algebra):
        rules = {operator.add: operator.add}

    assert evaluate(Closed(), operator.add, Number(1.0, 2.0), Number(1.0, 3.0)).meaning == 5.0
    assert "has no meaning" in refused(Closed(), lambda x: x + 1.0, Number(1.0, 2.0))


def test_an_array_of_numbers_is_an_error():
    numpy = pytest.importorskip("numpy", reason="the test is about arrays")
    assert "sum" in refused(Samples(), lambda x: numpy.array([1.0, x]).sum(), samples_of(2.0, 1))


def test_sizes_need_no_rule():
    assert evaluate(Tropical(), lambda x: len([x, x]), Number(1.0, 2.0)) == 2


def test_the_value_is_that_of_the_program_and_its_type_is_kept():
    found = evaluate(Slopes(), lambda x: (type(x) is float, isinstance(x, float), f"{x:.2f}"), Number(1.5, 1.0))
    assert found == (True, True, "1.50")
