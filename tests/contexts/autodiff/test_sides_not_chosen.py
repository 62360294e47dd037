"""What a function does not choose contributes nothing to a derivative, although its own derivative is infinite."""

import math

import numpy as np
import pytest

from cassette_import.contexts.autodiff import derivative, gradient, jvp, vjp

POINT = np.array([0.0, 4.0])


def assigned(x):
    result = np.sqrt(x)
    result[x < 1.0] = x[x < 1.0]
    return result


def filled(x):
    result = x.copy()
    result[x >= 1.0] = np.sqrt(x)[x >= 1.0]
    return result


def put_in_place(x):
    result = x.copy()
    np.sqrt(x, out=result, where=x >= 1.0)
    return result


CHOICES = {
    "where": lambda x: np.where(x < 1.0, x, np.sqrt(x)),
    "where of a sum": lambda x: np.where(x < 1.0, x, np.where(x < 9.0, np.sqrt(x), np.sqrt(x).sum())),
    "where of where": lambda x: np.where(x < 1.0, x, np.where(x < 0.5, np.sqrt(x), np.sqrt(x))),
    "where after operations": lambda x: np.where(x < 1.0, x, (2.0 * np.sqrt(x).reshape(2, 1) / 2.0).ravel()),
    "select": lambda x: np.select([x < 1.0], [x], np.sqrt(x)),
    "choose": lambda x: np.choose((x >= 1.0).astype(int), [x, np.sqrt(x)]),
    "maximum": lambda x: np.where(x < 1.0, np.maximum(x, -np.sqrt(x) - 1.0 + x), np.sqrt(x)),
    "minimum": lambda x: np.where(x < 1.0, np.minimum(x, np.sqrt(x) + 1.0), np.sqrt(x)),
    "fmax": lambda x: np.where(x < 1.0, np.fmax(x, -np.sqrt(x) - 1.0), np.sqrt(x)),
    "clip": lambda x: np.clip(np.sqrt(x), 1.0, 5.0) + np.where(x < 1.0, x - 1.0, 0.0),
    "max": lambda x: np.stack([np.stack([x[0], np.sqrt(x)[0] - 1.0]).max(), np.sqrt(x)[1]]),
    "min along an axis": lambda x: np.where(x < 1.0, np.stack([x, np.sqrt(x) + 1.0]).min(axis=0), np.sqrt(x)),
    "nanmax": lambda x: np.stack([np.nanmax(np.stack([x[0], np.sqrt(x)[0] - 1.0])), np.sqrt(x)[1]]),
    "sort": lambda x: np.stack([np.sort(np.stack([x[0], np.sqrt(x)[0] + 1.0]))[0], np.sqrt(x)[1]]),
    "take": lambda x: np.stack([x[0], np.take(np.sqrt(x), 1)]),
    "a slice": lambda x: np.concatenate([x[:1], np.sqrt(x)[1:]]),
    "compress": lambda x: np.concatenate([x[:1], np.compress([False, True], np.sqrt(x))]),
    "assignment by a mask": assigned,
    "assignment of a mask": filled,
    "out and where": put_in_place,
    "piecewise": lambda x: np.piecewise(x, [x < 1.0], [lambda x: x, np.sqrt]),
    "a sum where": lambda x: np.stack([x[0], np.sum(np.sqrt(x), where=[False, True])]),
}
"""The same function in many ways: x up to 1, then the root of x."""


@pytest.mark.parametrize("name", CHOICES)
def test_a_side_that_was_not_chosen_contributes_nothing(name):
    f = CHOICES[name]
    assert gradient(lambda x: f(x).sum(), POINT)[0].tolist() == [1.0, 0.25]
    assert jvp(f, (POINT,), (np.ones(2),))[1].tolist() == [1.0, 0.25]
    assert vjp(f, (POINT,), np.array([0.0, 2.0]))[1][0].tolist() == [0.0, 0.5]


@pytest.mark.parametrize("name", ["where", "where of where", "select", "minimum", "a slice", "assignment by a mask"])
def test_a_second_derivative_has_nothing_of_the_side_that_was_not_chosen(name):
    f = CHOICES[name]
    slope = lambda x: gradient(lambda x: f(x).sum(), x)[0]
    assert jvp(slope, (POINT,), (np.ones(2),))[1].tolist() == [0.0, -1 / 32]
    assert gradient(lambda x: slope(x).sum(), POINT)[0].tolist() == [0.0, -1 / 32]


def test_numbers_that_where_does_not_choose_contribute_nothing():
    for root in (np.sqrt, math.sqrt):
        f = lambda x, root=root: np.where(x < 1.0, x, root(x))
        assert derivative(f, 0.0) == gradient(f, 0.0)[0] == 1.0


def test_a_side_that_was_chosen_keeps_its_infinite_derivative():
    assert gradient(lambda x: np.where(x < 1.0, np.sqrt(x), x).sum(), POINT)[0].tolist() == [math.inf, 1.0]


def test_a_zero_times_an_infinite_derivative_is_no_number():
    assert math.isnan(gradient(lambda x: (np.sqrt(x) ** 2).sum(), POINT)[0][0])


SINGULAR = {
    "of rank 1": [[1.0, 2.0], [2.0, 4.0]],
    "zero": [[0.0, 0.0], [0.0, 0.0]],
    "of rank 2": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]],
    "nearly singular": [[0.1, 0.2], [0.3, 0.6]],
    "a number": [[0.0]],
    "a stack": [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 3.0]]],
}


def cofactors(x):
    if x.ndim > 2:
        return np.stack(list(map(cofactors, x)))
    return np.array(
        [
            [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(len(x))]
            for i in range(len(x))
        ]
    )


@pytest.mark.parametrize("name", SINGULAR)
def test_the_gradient_of_the_determinant_of_a_singular_matrix_has_its_cofactors(name):
    x = np.array(SINGULAR[name])
    expected = cofactors(x)
    assert gradient(lambda x: np.sum(np.linalg.det(x)), x)[0] == pytest.approx(expected, rel=1e-10, abs=1e-12)
    slopes = jvp(lambda x: np.sum(np.linalg.det(x)), (x,), (np.ones(x.shape),))[1]
    assert slopes == pytest.approx(expected.sum(), rel=1e-10, abs=1e-12)


def test_the_second_derivative_of_the_determinant_of_a_singular_matrix():
    x, direction = np.array(SINGULAR["of rank 1"]), np.array([[1.0, 0.0], [0.0, 2.0]])
    slope = lambda x: gradient(np.linalg.det, x)[0]
    assert jvp(slope, (x,), (direction,))[1] == pytest.approx(np.array([[2.0, 0.0], [0.0, 1.0]]), abs=1e-12)
