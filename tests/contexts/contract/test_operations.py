"""Operations on bounds: no value is lost forwards, no operand backwards, and derivatives have bounds."""

import math
import random

import pytest

pytest.importorskip("flint", reason="contract needs python-flint")

from flint import arb, ctx

from cassette_import.contexts.contract.operations import OPERATIONS, power, raised_to
from cassette_import.kits.numbers.enclosures.bounds import Empty, add, divide, exactly, multiply, subtract
from cassette_import.kits.numbers.enclosures.functions import working_precision

EXACT = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "min": lambda x, y: x.min(y), "max": lambda x, y: x.max(y), "neg": lambda x: -x, "abs": abs,
    "cbrt": lambda x: x.root(3) if x > 0 else -((-x).root(3)), "exp2": lambda x: arb(2) ** x,
    "log2": lambda x: x.log() / arb(2).log(), "log10": lambda x: x.log() / arb(10).log(),
}  # fmt: skip
"""What an operation computes, for balls of Arb; the others are methods of these."""

DOMAINS = {
    "sqrt": (0, 50), "log": (0, 50), "log2": (0, 50), "log10": (0, 50), "log1p": (-1, 50), "asin": (-1, 1),
    "acos": (-1, 1), "acosh": (1, 50), "atanh": (-1, 1), "gamma": (0, 9), "lgamma": (0, 50),
    **{f"power {p}": (0, 9) for p in (0.5, 1.5, -0.75)},
}  # fmt: skip

CASES = {
    **OPERATIONS,
    **{f"power {n}": power(n) for n in (0, 1, 2, 3, 4, 7, -1, -2, -3)},
    **{f"power {p}": raised_to((p, p)) for p in (0.5, 1.5, -0.75)},
}


def exact(name, numbers):
    balls = [arb(x) for x in numbers]
    if name.startswith("power "):
        return balls[0] ** arb(float(name[6:])) if "." in name else balls[0] ** int(name[6:])
    return EXACT[name](*balls) if name in EXACT else getattr(balls[0], name)()


def random_bounds(chance, low, high):
    width = chance.choice([0.0, 1e-14, 1e-3, 1.0, 20.0])
    a = chance.choice([chance.uniform(low, high), float(round(chance.uniform(low, high)))])
    return max(a - width * chance.random(), low), min(a + width * chance.random(), high)


def samples(name, operation, count=150):
    chance = random.Random(name)
    arity = 2 if name in ("add", "sub", "mul", "div", "min", "max") else 1
    for _ in range(count):
        operands = [random_bounds(chance, *DOMAINS.get(name, (-12, 12))) for _ in range(arity)]
        numbers = [chance.choice([chance.uniform(*one), *one]) for one in operands]
        with ctx.workprec(400):
            value = exact(name, numbers)
        if value.is_finite():
            yield chance, operands, numbers, value


@pytest.mark.parametrize("name", CASES)
def test_the_values_are_between_the_bounds(name):
    for _, operands, _, value in samples(name, CASES[name]):
        with working_precision():
            low, high = CASES[name].forward(*operands)
        assert not value < low
        assert not value > high
        assert not value > arb(high)


@pytest.mark.parametrize("name", CASES)
def test_a_value_at_a_point_has_bounds_of_some_units_in_the_last_place(name):
    for _, _, numbers, value in samples(name, CASES[name], 60):
        with working_precision():
            low, high = CASES[name].forward(*[(x, x) for x in numbers])
        assert not value < low
        assert not value > high
        assert high - low <= 8 * math.ulp(max(abs(low), abs(high)))


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].backward])
def test_no_operand_of_a_possible_value_is_lost(name):
    for chance, operands, numbers, value in samples(name, CASES[name]):
        margin = chance.choice([0.0, 1e-12, 0.1, 3.0])
        with working_precision():
            low, high = float(value.lower()), float(value.upper())
            target = math.nextafter(low, -math.inf) - margin, math.nextafter(high, math.inf) + margin * chance.random()
            values = CASES[name].forward(*operands)
            target = max(target[0], values[0]), min(target[1], values[1])
            narrowed = CASES[name].backward(target, *operands)
        for x, before, after in zip(numbers, operands, narrowed, strict=True):
            assert before[0] <= after[0] <= x <= after[1] <= before[1]


@pytest.mark.parametrize("name", CASES)
def test_difference_quotients_are_between_the_bounds_of_the_derivative(name):
    for _, operands, numbers, _ in samples(name, CASES[name], 60):
        with working_precision():
            try:
                partials = CASES[name].partials(CASES[name].forward(*operands), *operands)
            except Empty:
                continue
        for place, (low, high) in enumerate(partials):
            others = [list(numbers), list(numbers)]
            others[0][place], others[1][place] = operands[place]
            with ctx.workprec(400):
                rise = exact(name, others[1]) - exact(name, others[0])
                run = arb(others[1][place]) - arb(others[0][place])
                if not rise.is_finite() or run.is_zero():
                    continue
                slope = rise / run  # the mean of the derivative between the bounds
            may_cross_pole = name in ("div", "tan") or name.startswith("power -")
            if not may_cross_pole or math.isfinite(high - low):
                assert not slope < low
                assert not slope > high


@pytest.mark.parametrize("number", [0.1, 1, 2**70 + 1, -(10**400), 10**400])
def test_a_constant_is_between_its_bounds(number):
    low, high = exactly(number)
    assert low <= number <= high


def test_arithmetic_with_infinite_bounds_has_no_nan():
    ends = [-math.inf, -2.5, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1e308, math.inf]
    boxes = [(a, b) for a in ends for b in ends if a <= b and (a, b) not in ((-math.inf,) * 2, (math.inf,) * 2)]
    for x in boxes:
        for y in boxes:
            for function in (add, subtract, multiply, divide):
                try:
                    low, high = function(x, y)
                except Empty:
                    assert function is divide
                    assert y == (0.0, 0.0)
                    continue
                assert low <= high
