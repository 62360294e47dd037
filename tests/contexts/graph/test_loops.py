"""Long loops stay loops in a residual program, and compute what they compute unrolled."""

import ast
import math
import operator
import random

import pytest

from cassette_import.contexts.graph import residual, unknown

OPERATIONS = [operator.add, operator.sub, operator.mul, max, lambda one, other: one if one > other else other - 1.0]
KINDS = ["register", "round", "list"]


def loops(found):
    return [node for node in ast.walk(ast.parse(found.source)) if isinstance(node, ast.For)]


def horner(coefficients, x):
    total = 0.0
    for coefficient in coefficients:
        total = total * x + coefficient
    return total


def fibonacci(n, x, y):
    for _ in range(n):
        x, y = y, x + y
    return x, y


def collected(n, x):
    found = []
    for number in range(n):
        x = x * 0.5 + number
        found.append(x)
    return found


def nested(n, x):
    total = x
    for number in range(n):
        inner = 0.0
        for other in range(n):
            inner += x * other
        total = total * 0.5 + inner + number
    return total


def weighted(xs, factor):
    total = 0.0
    for number, x in enumerate(xs):
        total += x * factor**2 + number
    return total, x


def decided(n, x):
    count = x
    for number in range(n):
        if x + number > 3.0:
            count += 1.0
        else:
            count -= x
    return count


def halved(x):
    count = 0
    while x > 1.0:
        x /= 2.0
        count += 1
    return x, count


@pytest.mark.parametrize(
    ("f", "known", "unknowns", "others", "count"),
    [
        (horner, [[1.5, -2.0, 0.25] * 20], [0.5], [[2.0], [-0.0], [1e10]], 1),
        (fibonacci, [40], [1.0, 2.0], [[0.5, -3.0]], 1),
        (collected, [30], [1.0], [[2.0]], 0),
        (nested, [20], [1.0], [[0.3]], None),
        (decided, [40], [1.0], [[2.5], [-30.0], [9.0]], None),
        (halved, [], [2.0**50], [[2.0**50 * 1.5], [2.0**51], [3.0]], None),
    ],
)
def test_a_loop_gives_the_results_of_the_function(f, known, unknowns, others, count):
    marks = [unknown(f"x{number}", value) for number, value in enumerate(unknowns)]
    found = residual(f, *known, *marks)
    for values in [unknowns, *others]:
        assert repr(found(*values)) == repr(f(*known, *values))
    if count is not None:
        assert len(loops(found)) == count


def test_unknown_lists_and_powers_are_columns_and_common():
    xs = [0.5 * number for number in range(20)]
    found = residual(weighted, unknown("xs", xs), unknown("factor", 3.0))
    assert found(xs[::-1], 0.7) == weighted(xs[::-1], 0.7)
    assert len(loops(found)) == 1
    assert found.source.count("**") == 1


def test_loops_after_a_decision_are_loops_on_every_path():
    def powers(x, n):
        total = 1.0 if x > 0.0 else -1.0
        for _ in range(n):
            total = total * x + 1.0
        if total > 5.0:
            total -= 5.0
        for _ in range(n):
            total = total / 2.0
        return total

    found = residual(powers, unknown("x", 0.5), 100)
    for x in (0.5, -0.5, 0.9, 0.25, -0.75):
        assert repr(found(x)) == repr(powers(x, 100))
    assert (found.paths, len(loops(found))) == (3, 5)
    assert len(found.source.splitlines()) < 50


def test_short_loops_are_unrolled_and_long_ones_keep_the_program_small():
    assert not loops(residual(horner, [1.0] * 8, unknown("x", 0.5)))
    short, long = (residual(fibonacci, n, unknown("x", 1.0), unknown("y", 1.0)).source for n in (20, 2000))
    assert len(long) < len(short) + 10


def test_random_machines_have_the_same_results_as_their_programs():
    numbers = random.Random(5)
    rolled = 0
    for _ in range(60):
        body = [
            (
                numbers.choice(OPERATIONS),
                *(numbers.randrange(3) for _ in range(3)),
                numbers.choice(KINDS),
            )
            for _ in range(numbers.randrange(1, 5))
        ]

        def machine(start, rounds, body, x, y):
            registers = [start, x, y]
            for number in range(rounds):
                for operation, target, one, other, kind in body:
                    value = {"register": registers[other], "round": number * 0.5, "list": [0.5, 0.25][number % 2]}[kind]
                    registers[target] = operation(registers[one], value) * 0.5
            return registers

        given = numbers.choice([0.0, 1.5]), numbers.choice([17, 18, 40]), body
        found = residual(machine, *given, unknown("x", 1.0), unknown("y", 0.5))
        rolled += len(loops(found))
        for values in ((1.0, 0.5), (0.25, 4.0), (-1.5, 0.0)):
            assert repr(found(*values)) == repr(machine(*given, *values))
    assert rolled > 20


def test_what_the_last_round_has_computed_may_be_used_after_the_loop():
    def program(x):
        total = 0.0
        for k in range(20):
            total = total * 0.5 + math.cos((x + k) * 3.0)
        return total + 2.0 * math.cos((x + 19) * 3.0)

    found = residual(program, unknown("x", 2.0))
    assert "for " in found.source
    assert [found(x) for x in (2.0, -1.5, 0.1)] == [program(x) for x in (2.0, -1.5, 0.1)]


def fixed_point(x):
    rounds, y = 0, x
    while abs(math.cos(y) * x - y) > 1e-13 and rounds < 100:
        y = math.cos(y) * x
        rounds += 1
    return y * y


def test_a_loop_that_computes_its_test_again_in_its_body_has_a_program():
    program = residual(fixed_point, unknown("x", 0.9))
    assert "    while (abs(((math.cos(y) * x) - y)) > 1e-13) and (rounds < 100):" in program.source.splitlines()
    assert [program(x) for x in (0.9, 0.5, 0.8)] == [fixed_point(x) for x in (0.9, 0.5, 0.8)]
