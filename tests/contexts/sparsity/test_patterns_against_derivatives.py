"""No entry of a pattern is false where a numeric derivative is not zero."""

import random

import pytest

np = pytest.importorskip("numpy", reason="the patterns are arrays")
pytest.importorskip("scipy", reason="the patterns are sparse arrays of SciPy")

from helpers.sparsity_functions import ARRAYS, SCALAR  # noqa: E402

from cassette_import.contexts.sparsity import hessian, jacobian  # noqa: E402

POINTS = 20
STEP = 1e-6


def numbers(value):
    if isinstance(value, dict):
        return numbers(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [one for part in value for one in numbers(part)]
    return [float(one) for one in np.ravel(value)]


def points(make):
    generator = random.Random(1)
    return [make([generator.uniform(-1, 1) for _ in range(6)]) for _ in range(POINTS)]


def derivatives(f, x, make):
    columns = []
    for place in range(6):
        both = [list(map(float, x)) for _ in range(2)]
        both[0][place] += STEP
        both[1][place] -= STEP
        high, low = (np.array(numbers(f(make(one)))) for one in both)
        columns.append((high - low) / (2 * STEP))
    return np.array(columns).T


def second_derivative(f, make, x, i, j, step):
    total = 0.0
    for a, b, sign in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)):
        moved = list(map(float, x))
        moved[i] += a * step
        moved[j] += b * step
        total = total + sign * np.array(numbers(f(make(moved))))
    return total / (4 * step * step)


def dense_patterns(f, make):
    found = False
    for x in points(make):
        found = found | (np.abs(derivatives(f, x, make)) > 1e-5)
    return found


CASES = [
    *(pytest.param(f, list, id=f"scalar-{place}") for place, f in enumerate(SCALAR)),
    *(pytest.param(f, np.array, id=f"array-{place}") for place, f in enumerate(ARRAYS)),
]


def test_there_are_a_hundred_functions():
    assert len(CASES) >= 100


@pytest.mark.parametrize(("f", "make"), CASES)
def test_a_pattern_has_every_derivative_of_all_points(f, make):
    pattern = jacobian(f, points(make)[0]).toarray()
    assert not (dense_patterns(f, make) & ~pattern).any()


@pytest.mark.parametrize(("f", "make"), CASES)
def test_a_local_pattern_has_every_derivative_at_its_point_and_no_more_than_the_other(f, make):
    x = points(make)[3]
    local = jacobian(f, x, local=True).toarray()
    assert not ((np.abs(derivatives(f, x, make)) > 1e-5) & ~local).any()
    assert not (local & ~jacobian(f, x).toarray()).any()


@pytest.mark.parametrize(("f", "make"), CASES)
def test_a_hessian_has_every_second_derivative(f, make):
    pattern = hessian(f, points(make)[0]).toarray()
    for x in points(make)[:3]:
        for i in range(6):
            for j in range(i + 1):
                if not pattern[i, j]:
                    one, other = (second_derivative(f, make, x, i, j, step) for step in (2e-3, 1e-3))
                    # a kink or step between the points is no derivative: it is not the same for two distances
                    assert not ((np.abs(other) > 1e-3) & (np.abs(one - other) < 0.2 * np.abs(other))).any()
