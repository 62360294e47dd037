"""Derivatives of unmodified scalar functions."""

import cmath
import functools
import math
import operator
import random

import pytest

from cassette_import import NotOverdubbable, install
from cassette_import.contexts.autodiff import derivative, gradient, jvp, vjp
from cassette_import.kits.numbers.partials import PARTIALS
from cassette_import.specialization.registry import registry


def central(f, x, step=1e-5):
    return (f(x + step) - f(x - step)) / (2 * step)


POINTS = {math.acosh: (1.7,), math.ldexp: (0.7, 3), math.log: (0.7,)}


@pytest.mark.parametrize("function", list(PARTIALS), ids=lambda function: function.__qualname__)
def test_the_derivative_of_a_function_agrees_with_differences(function):
    count = len(PARTIALS[function])
    point = POINTS.get(function, (0.7, 1.3, 0.4)[:count])
    for number in range(len(point)):
        if function is math.ldexp and number:
            continue
        call = lambda x, number=number: function(*point[:number], x, *point[number + 1 :])
        expected = central(call, point[number])
        assert derivative(call, point[number]) == pytest.approx(expected, rel=1e-7, abs=1e-9)
        assert gradient(call, point[number])[0] == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_complex_steps_agree_to_the_last_digits():
    def f(x):
        return x * x * x + 2.0 / x

    assert derivative(f, 0.7) == pytest.approx(f(complex(0.7, 1e-30)).imag / 1e-30, rel=1e-15)
    assert derivative(math.sin, 0.7) == pytest.approx(cmath.sin(complex(0.7, 1e-30)).imag / 1e-30, rel=1e-15)


def test_derivatives_nest():
    assert derivative(lambda x: derivative(math.sin, x), 1.0) == -math.sin(1.0)
    assert derivative(lambda x: derivative(lambda y: derivative(math.sin, y), x), 1.0) == -math.cos(1.0)
    assert derivative(lambda x: x * derivative(lambda y: x + y, 1.0), 1.0) == 1.0
    assert derivative(lambda x: x * derivative(lambda y: x * y, 1.0), 2.0) == 4.0


def test_both_modes_nest_in_each_other():
    def f(x, y):
        return x * x * math.sin(y)

    assert derivative(lambda x: gradient(f, x, 1.0)[0], 3.0) == pytest.approx(2 * math.sin(1.0))
    assert gradient(lambda y: derivative(lambda x: f(x, y), 3.0), 1.0)[0] == pytest.approx(6 * math.cos(1.0))
    assert gradient(lambda x: gradient(f, x, 1.0)[1], 3.0)[0] == pytest.approx(6 * math.cos(1.0))


def test_jvp_returns_value_and_directional_derivative():
    assert jvp(lambda x, y: x * y, (2.0, 5.0), (1.0, 2.0)) == (10.0, 9.0)


def test_vjp_returns_value_and_weighted_derivatives():
    value, found = vjp(lambda x, y: [x * y, x], (2.0, 5.0), [1.0, 10.0])
    assert value == [10.0, 2.0]
    assert found == (15.0, 2.0)


def test_gradients_have_the_structure_of_the_arguments():
    def f(x, point, names):
        return x * point["a"] + sum(point["b"])

    assert gradient(f, 2.0, {"a": 3.0, "b": [1.0, 4.0]}, "text") == (3.0, {"a": 2.0, "b": [1.0, 1.0]}, None)


def test_tangents_of_another_structure_are_an_error():
    with pytest.raises(ValueError, match="2 arguments need as many tangents, not 1"):
        jvp(operator.add, (1.0, 2.0), (1.0,))
    with pytest.raises(ValueError, match=r"a tangent of the structure of \[1.0, 2.0\] is needed, not 1.0"):
        jvp(sum, ([1.0, 2.0],), (1.0,))


def test_a_result_that_does_not_depend_on_the_argument():
    assert derivative(lambda x: 5.0, 1.0) == 0.0
    assert gradient(lambda x: 5.0, 1.0) == (0.0,)


def test_a_function_without_source_or_rule_is_an_error():
    with pytest.raises(NotOverdubbable, match="there is no derivative of <built-in function perm>"):
        derivative(math.perm, 3.0)


def test_sums_products_and_norms():
    def f(xs):
        return sum(x * x for x in xs) + math.prod(xs) + math.hypot(*xs) + math.fsum(xs) + max(xs)

    xs = [1.0, 2.0, 2.0]
    expected = [2 * x + 4.0 / x + x / 3.0 + 1.0 for x in xs]
    expected[1] += 1.0
    assert gradient(f, xs)[0] == pytest.approx(expected)


def test_a_program_with_loops_and_objects():
    class Particle:
        def __init__(self, x, v):
            self.x, self.v = x, v

        def step(self, dt):
            self.v -= dt * self.x
            self.x += dt * self.v

    def f(x0):
        particle = Particle(x0, 0.0)
        for _ in range(20):
            particle.step(0.1)
        return particle.x

    assert derivative(f, 1.0) == pytest.approx(central(f, 1.0), rel=1e-9)
    assert gradient(f, 1.0)[0] == pytest.approx(derivative(f, 1.0), rel=1e-14)


def test_special_methods_of_the_program_are_followed():
    class Amount:
        def __init__(self, value):
            self.value = value

        def __mul__(self, other):
            return Amount(self.value * getattr(other, "value", other))

        def __rmul__(self, other):
            return Amount(other * self.value)

        def __iadd__(self, other):
            self.value = self.value + other.value**2
            return self

        def __neg__(self):
            return Amount(-self.value)

    def f(x):
        amount = Amount(x) * Amount(x) * 2.0
        amount += -(x * Amount(3.0))
        return amount.value

    assert derivative(f, 2.0) == 4 * 2.0 + 18 * 2.0
    assert gradient(f, 2.0) == (44.0,)


def test_functions_that_are_passed_to_others_are_differentiated():
    def f(xs):
        return sum(map(math.sin, xs)) + functools.reduce(operator.mul, xs) + sum(map(operator.mul, xs, xs))

    assert gradient(f, [2.0, 3.0])[0] == pytest.approx([math.cos(2.0) + 3.0 + 4.0, math.cos(3.0) + 2.0 + 6.0])


def test_derivatives_within_derivatives_accept_structures():
    assert derivative(lambda x: jvp(math.sin, (x,), (1.0,))[1], 1.0) == -math.sin(1.0)
    assert derivative(lambda x: jvp(math.sin, (1.0,), (x,))[1], 1.0) == math.cos(1.0)
    assert derivative(lambda x: vjp(math.sin, (1.0,), x)[1][0], 1.0) == math.cos(1.0)
    assert gradient(lambda x: vjp(lambda y: [y * y], (1.0,), [x])[1][0], 1.0) == (2.0,)


def test_results_of_derivatives_hold_no_wrappers():
    kept = []

    def f(x):
        kept.append(gradient(operator.mul, x, [x, 2.0][1]))
        return kept[0][1] * x

    assert derivative(f, 3.0) == 6.0
    assert [type(part) for part in kept[0]] == [float, float]


def test_geodesics_of_an_unaware_package():
    geodesic = pytest.importorskip("geographiclib.geodesic").Geodesic.WGS84

    def distance(lat1, lon1, lat2, lon2):
        return geodesic.Inverse(lat1, lon1, lat2, lon2)["s12"]

    rng = random.Random(6)
    with install(["geographiclib"]):
        for _ in range(5):
            point = [rng.uniform(-80, 80), rng.uniform(-170, 170), rng.uniform(-80, 80), rng.uniform(-170, 170)]
            found = gradient(distance, *point)
            for number in range(4):
                call = lambda x, number=number: distance(*point[:number], x, *point[number + 1 :])  # noqa: B023
                expected = central(call, point[number], 1e-4)
                assert found[number] == pytest.approx(expected, rel=1e-6)
                assert derivative(call, point[number]) == pytest.approx(found[number], rel=1e-9)


def test_nothing_is_in_use_after_derivatives_that_nest_twice():
    def cube(x):
        return x * x * x

    def once(x):
        return derivative(cube, x) * x

    assert derivative(lambda x: derivative(once, x), 1.5) == 27.0
    assert [variant.family.active for variant in registry.instrumentation.variants if variant.family.active] == []
