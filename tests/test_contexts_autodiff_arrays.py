"""Derivatives through NumPy, of functions that know nothing of it."""

import functools
import math
import operator

import pytest
from heap import no_new_holders_of_wrappers

from cassette_import import NotOverdubbable, install
from cassette_import.contexts.autodiff import derivative, gradient, jvp, vjp

np = pytest.importorskip("numpy")

VECTOR = np.array([0.3, 0.7, 0.5])
OTHER = np.array([1.3, -0.4, 0.8])
MATRIX = np.array([[0.9, 0.2, -0.3], [0.1, 0.8, 0.4], [-0.5, 0.3, 1.1]])
WIDE = np.array([[0.6, -0.2, 0.9], [0.4, 1.2, -0.7]])
CUBE = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.1
NUMBER = 0.6


def directions(arguments, seed=1):
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=np.shape(argument)) if np.ndim(argument) else float(rng.normal()) for argument in arguments)


def differences(function, arguments, tangents, step=1e-6):
    def moved(sign):
        return function(*(a + sign * step * t for a, t in zip(arguments, tangents, strict=True)))

    return (np.asarray(moved(1)) - np.asarray(moved(-1))) / (2 * step)


def check(function, *arguments, second=True):
    """Values, both modes and second derivatives of a function of arrays and numbers."""
    expected = np.asarray(function(*arguments))
    tangents = directions(arguments)
    value, pushed = jvp(function, arguments, tangents)
    assert np.array_equal(np.asarray(value), expected)
    assert np.shape(pushed) == expected.shape
    np.testing.assert_allclose(np.asarray(pushed), differences(function, arguments, tangents), rtol=2e-7, atol=2e-8)

    weights = np.random.default_rng(2).normal(size=expected.shape)
    value, pulled = vjp(function, arguments, weights if expected.shape else float(weights))
    assert np.array_equal(np.asarray(value), expected)
    for argument, found in zip(arguments, pulled, strict=True):
        assert np.shape(found) == np.shape(argument)
    along = sum(np.sum(found * tangent) for found, tangent in zip(pulled, tangents, strict=True))
    np.testing.assert_allclose(along, np.sum(weights * pushed), rtol=1e-9, atol=1e-12)
    if second:
        check_second(function, arguments, tangents, weights)


def check_second(function, arguments, tangents, weights):
    def gradients(*arguments):
        return vjp(function, arguments, weights if np.ndim(weights) else float(weights))[1]

    def gradients_forward(*arguments):
        return jvp(function, arguments, tangents)[1]

    found = jvp(gradients, arguments, tangents)[1]
    for number, part in enumerate(found):
        expected = differences(lambda *a, number=number: gradients(*a)[number], arguments, tangents)
        np.testing.assert_allclose(np.asarray(part), expected, rtol=1e-6, atol=1e-7)
    twice = vjp(gradients_forward, arguments, weights if np.ndim(weights) else float(weights))[1]
    for part, expected in zip(twice, found, strict=True):
        np.testing.assert_allclose(np.asarray(part), np.asarray(expected), rtol=1e-8, atol=1e-10)


UNARY = [
    "negative", "positive", "absolute", "fabs", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt",
    "square", "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
    "arctanh", "degrees", "rad2deg", "radians", "deg2rad", "sinc", "floor", "ceil", "rint", "trunc", "sign",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_each_element(name):
    function = getattr(np, name)
    check(lambda x: function(x), VECTOR)
    check(lambda x: function(x) * x, NUMBER)


def test_arccosh_of_each_element():
    check(lambda x: np.arccosh(x), VECTOR + 1.5)


BINARY = [
    "add", "subtract", "multiply", "divide", "true_divide", "power", "float_power", "remainder", "mod", "fmod",
    "arctan2", "hypot", "maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2", "copysign", "floor_divide",
]  # fmt: skip
SHAPES = {
    "arrays": (VECTOR, OTHER + 1.0),
    "array and number": (VECTOR, 1.7),
    "number and array": (1.7, VECTOR),
    "matrix and row": (np.abs(WIDE) + 0.1, VECTOR + 0.05),
    "column and row": (np.array([[0.4], [1.7]]), VECTOR),
    "array without axes": (np.array(1.7), VECTOR),
    "axis of length one": (np.array([[0.45]]), np.abs(WIDE) + 0.1),
}


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_arrays_that_are_broadcast(name, shapes):
    function = getattr(np, name)
    check(lambda x, y: function(x, y), *SHAPES[shapes], second=shapes in ("arrays", "column and row"))


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv]


@pytest.mark.parametrize("function", OPERATORS, ids=lambda function: function.__name__)
def test_operators_of_arrays_and_numbers(function):
    check(lambda x, y: function(x, y), VECTOR, OTHER + 1.0)
    check(lambda x, y: function(x, y), 1.7, VECTOR)
    check(lambda x: function(x, 2), VECTOR)
    check(lambda x: function(2.0, x), VECTOR)
    check(lambda x: function(x, WIDE + 1.3), VECTOR)
    check(lambda x: function(np.abs(WIDE), x), VECTOR)


def test_operators_of_one_array():
    check(lambda x: -x + abs(x) * +x, OTHER)


def test_operators_of_numbers_of_numpy():
    check(lambda x: x[0] * x[1] / np.float64(3.0) - 2.0 / x[2], VECTOR)
    check(lambda x: np.float64(x) * VECTOR + np.float32(2.0) * x, NUMBER)


def test_a_power_of_zero_and_to_zero():
    assert gradient(lambda x: (x**2).sum(), np.zeros(2))[0].tolist() == [0.0, 0.0]
    assert gradient(lambda x: (x**1.0).sum(), np.zeros(2))[0].tolist() == [1.0, 1.0]
    assert gradient(lambda x: (x**0).sum(), np.zeros(2))[0].tolist() == [0.0, 0.0]
    assert gradient(lambda x, y: (x**y).sum(), np.zeros(2), np.ones(2))[1].tolist() == [0.0, 0.0]


REDUCTIONS = {
    "sum": lambda x: x.sum(),
    "np.sum": lambda x: np.sum(x),
    "sum along": lambda x: x.sum(axis=1),
    "sum along two": lambda x: np.sum(x, axis=(0, -1)),
    "sum kept": lambda x: x.sum(1, keepdims=True),
    "mean": lambda x: x.mean() * np.mean(x, 0),
    "prod": lambda x: np.prod(x, axis=-1) + x.prod(axis=(0, 2))[0],
    "max": lambda x: x.max(axis=0),
    "min": lambda x: np.min(x, axis=(1, 2), keepdims=True),
    "amax": lambda x: np.amax(x) - np.amin(x, 1),
    "var": lambda x: x.var(axis=1) + np.var(x, ddof=1),
    "std": lambda x: np.std(x, 2, ddof=1, keepdims=True) + x.std(),
    "cumsum": lambda x: np.cumsum(x, axis=1) + x.cumsum(axis=-1),
    "cumsum of all": lambda x: x.cumsum(),
    "norm": lambda x: np.linalg.norm(x),
    "norm along": lambda x: np.linalg.norm(x, axis=-1, keepdims=True),
    "norm 1": lambda x: np.linalg.norm(x, 1, axis=1),
    "norm 3": lambda x: np.linalg.norm(x, ord=3, axis=0),
    "norm inf": lambda x: np.linalg.norm(x, np.inf, axis=2) + np.linalg.norm(x[0], "fro"),
    "norm along two": lambda x: np.linalg.norm(x, axis=(0, 2)),
    "add.reduce": lambda x: np.add.reduce(x) + np.maximum.reduce(x, axis=0) * np.multiply.reduce(x, axis=0),
    "median": lambda x: np.median(x) + np.median(x, axis=1, keepdims=True),
    "ptp": lambda x: np.ptp(x, axis=1),
    "average": lambda x: np.average(x, axis=1) + np.average(x, axis=1, weights=[1.0, 2.0, 4.0]),
    "trace": lambda x: np.trace(x) + x.trace(axis1=0, axis2=2)[0],
    "cumprod": lambda x: np.cumprod(x, axis=1) + x.cumprod()[:4],
    "sum of rows": lambda x: sum(x) + sum(x[0])[2],
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    check(REDUCTIONS[name], CUBE)


def test_a_product_with_zeros():
    for zeros in (1, 2):
        x = VECTOR.copy()
        x[:zeros] = 0.0
        check(lambda x: np.prod(x), x)
        check(lambda x: np.prod(np.stack([x, x + 1.0]), axis=1), x)


def test_the_norm_of_nothing_has_derivative_zero():
    assert gradient(lambda x: np.linalg.norm(x), np.zeros(3))[0].tolist() == [0.0, 0.0, 0.0]


def test_equal_extremes_share_the_derivative():
    assert gradient(lambda x: x.max(), np.array([2.0, 1.0, 2.0]))[0].tolist() == [0.5, 0.0, 0.5]
    assert gradient(lambda x: np.maximum(x, 2.0).sum(), np.array([2.0, 1.0]))[0].tolist() == [0.5, 0.0]


PRODUCTS = {
    "dot": (lambda x, y: np.dot(x, y), VECTOR, OTHER),
    "dot of matrix and vector": (lambda x, y: x.dot(y), WIDE, VECTOR),
    "dot of vector and matrix": (lambda x, y: np.dot(x, y), VECTOR, MATRIX),
    "dot of matrices": (lambda x, y: np.dot(x, y), WIDE, MATRIX),
    "dot with number": (lambda x, y: np.dot(x, y), VECTOR, NUMBER),
    "dot of number": (lambda x, y: np.dot(x, y), NUMBER, WIDE),
    "dot of cubes": (lambda x, y: np.dot(x, y), CUBE, CUBE.transpose(1, 2, 0)),
    "@": (lambda x, y: x @ y, WIDE, MATRIX),
    "@ of vectors": (lambda x, y: x @ y, VECTOR, OTHER),
    "@ of matrix and vector": (lambda x, y: x @ y, WIDE, VECTOR),
    "@ of vector and matrix": (lambda x, y: x @ y, VECTOR, MATRIX),
    "@ of batches": (lambda x, y: x @ y, CUBE, CUBE.transpose(0, 2, 1)),
    "@ with broadcast": (lambda x, y: x @ y, MATRIX, CUBE),
    "@ of batch of one": (lambda x, y: np.matmul(x, y), CUBE[:1], CUBE.transpose(0, 2, 1)),
    "@ of constant": (lambda x, y: WIDE @ (x * y), VECTOR, OTHER),
    "inner": (lambda x, y: np.inner(x, y), WIDE, MATRIX),
    "outer": (lambda x, y: np.outer(x, y), VECTOR, WIDE),
    "vdot": (lambda x, y: np.vdot(x, y), WIDE, WIDE + 1.0),
    "tensordot": (lambda x, y: np.tensordot(x, y, axes=([1, 2], [0, 1])), CUBE, CUBE.transpose(1, 2, 0)),
    "tensordot 1": (lambda x, y: np.tensordot(x, y, 1), WIDE, MATRIX),
    "tensordot 0": (lambda x, y: np.tensordot(x, y, axes=0), VECTOR, OTHER),
    "einsum": (lambda x, y: np.einsum("ij,kj->ik", x, y), WIDE, MATRIX),
    "einsum, sum": (lambda x, y: np.einsum("ij,kj", x, y), WIDE, MATRIX),
    "einsum, ellipsis": (lambda x, y: np.einsum("...ij,jk->...k", x, y), CUBE.transpose(0, 2, 1), MATRIX),
    "einsum, alone": (lambda x, y: np.einsum("ij->j", x) * y, WIDE, OTHER),
    "kron": (lambda x, y: np.kron(x, y), WIDE, VECTOR),
    "cross": (lambda x, y: np.cross(x, y), WIDE, OTHER),
    "convolve": (lambda x, y: np.convolve(x, y), VECTOR, np.array([0.4, -1.0])),
    "convolve, same": (lambda x, y: np.convolve(x, y, "same"), VECTOR, np.array([0.4, -1.0])),
    "convolve, valid": (lambda x, y: np.convolve(x, y, "valid"), VECTOR, np.array([0.4, -1.0])),
    "solve": (lambda x, y: np.linalg.solve(x, y), MATRIX, VECTOR),
    "solve for matrix": (lambda x, y: np.linalg.solve(x, y), MATRIX, WIDE.T),
    "inv": (lambda x, y: np.linalg.inv(x) @ y, MATRIX, VECTOR),
    "inv of batch": (lambda x, y: np.linalg.inv(x * y), np.stack([MATRIX, MATRIX.T + 0.1]), NUMBER),
    "det": (lambda x, y: np.linalg.det(x) * y, MATRIX, NUMBER),
    "det of batch": (lambda x, y: np.linalg.det(x * y), np.stack([MATRIX, MATRIX.T + 0.1]), NUMBER),
    "slogdet": (lambda x, y: np.linalg.slogdet(x)[1] * y + np.linalg.slogdet(x).logabsdet, MATRIX, NUMBER),
    "matrix_power": (lambda x, y: np.linalg.matrix_power(x, 3) * y, MATRIX, NUMBER),
    "cholesky": (lambda x, y: np.linalg.cholesky(x @ x.T + y * np.eye(3)), MATRIX, NUMBER),
    "interp": (lambda x, y: np.interp(x, [0.0, 0.4, 1.0], y), VECTOR, OTHER),
}  # fmt: skip


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_and_linear_algebra(name):
    check(*PRODUCTS[name])


MOVES = {
    "item": lambda x: x[1, 2, 0],
    "row": lambda x: x[1],
    "slice": lambda x: x[:, ::-1, 1:3],
    "ellipsis and new axis": lambda x: x[..., None, 0],
    "mask": lambda x: x[CUBE > 0],
    "list": lambda x: x[:, [0, 2, 0]],
    "arrays": lambda x: x[np.array([0, 1]), np.array([2, 2])],
    "take": lambda x: np.take(x, [0, 5, 5]) + x.take([1], axis=0).sum(),
    "take_along_axis": lambda x: np.take_along_axis(x, np.argsort(CUBE, 1), 1),
    "where": lambda x: np.where(CUBE > 0, x, 2.0 * x) + np.where(CUBE > 0, 1.0, x),
    "clip": lambda x: np.clip(x, -0.5, 0.5) + x.clip(0.1) + np.clip(x, None, 0.3),
    "diag": lambda x: np.diag(x[0]) @ np.diag(x[0, 0, :3]),
    "diagonal": lambda x: x.diagonal(1, 1, 2) + np.diagonal(x)[0, 0],
    "sort": lambda x: np.sort(x[:, ::-1], axis=1) + np.sort(-x, axis=1),
    "partition": lambda x: np.partition(-x, 1, axis=-1)[..., 0],
    "flip": lambda x: np.flip(x, 1) + np.fliplr(x) + np.flipud(x),
    "roll": lambda x: np.roll(x, 2) + np.roll(x, 1, axis=2),
    "rot90": lambda x: np.rot90(x[0]),
    "triangles": lambda x: np.tril(x) + np.triu(x, 1),
    "reshape": lambda x: x.reshape(4, -1) + np.reshape(x, (4, 6)) + x.reshape((4, 6), order="F"),
    "ravel": lambda x: x.ravel() + np.ravel(x, "F") + x.flatten(),
    "T": lambda x: x.T,
    "transpose": lambda x: x.transpose(1, 0, 2) + np.transpose(x, (1, 0, 2)),
    "swapaxes": lambda x: np.swapaxes(x, 0, 2) + x.swapaxes(2, 0),
    "moveaxis": lambda x: np.moveaxis(x, 0, -1),
    "expand_dims": lambda x: np.expand_dims(x, 1),
    "squeeze": lambda x: np.squeeze(x[:1]) + x[1:].squeeze(axis=0),
    "concatenate": lambda x: np.concatenate([x, 2.0 * x, CUBE], axis=1),
    "stack": lambda x: np.stack([x[0], x[1] ** 2], axis=-1) + np.stack((x[0, 0, 0], 1.0)),
    "hstack": lambda x: np.hstack([x[0, 0], x[0, 1], [1.0]]) * np.hstack((x[0, 0], 1.0, x[1, 1])),
    "vstack": lambda x: np.vstack([x[0, 0], x[0, 1]]) + np.column_stack([x[0, 0, :2]] * 4),
    "dstack": lambda x: np.dstack([x[0], x[1]]),
    "block": lambda x: np.block([[x[0], x[1]], [x[1], x[0]]]),
    "append": lambda x: np.append(x, x[0, 0]) + np.append(x[0, 0], x),
    "insert": lambda x: np.insert(x, 1, x[0, 0], axis=1),
    "delete": lambda x: np.delete(x, 1, axis=2),
    "pad": lambda x: np.pad(x, 1) + np.pad(x, 1, mode="edge") + np.pad(x, 1, constant_values=7.0),
    "tile": lambda x: np.tile(x, (2, 1, 2)),
    "repeat": lambda x: np.repeat(x, 2, axis=1) + x.repeat([1, 2, 3], 1),
    "broadcast_to": lambda x: np.broadcast_to(x[:, None], (2, 5, 3, 4)),
    "atleast": lambda x: np.atleast_1d(x[0, 0, 0]) + np.atleast_2d(x[0, 0]) + np.atleast_3d(x[0]),
    "array": lambda x: np.array([[x[0, 0, 0], 1.0], [2.0, x[1, 1, 1]]]) @ np.array([x[0, 0, 0], 3]),
    "array of arrays": lambda x: np.array([x[0], x[1] * 2.0, CUBE[0]]),
    "asarray": lambda x: np.asarray(x) + np.asarray([x[0, 0, 0]] * 4) + np.asanyarray(x),
    "full": lambda x: np.full((2, 4), x[0, 0, 0]) + np.full_like(CUBE[0, :2], x[1, 0]),
    "zeros_like": lambda x: np.zeros_like(x) + np.ones_like(x) * x,
    "astype": lambda x: x.astype(float) + x.astype(int) * 2.0,
    "copy": lambda x: x.copy() + np.copy(x),
    "item()": lambda x: x.item(3) * x[0, 0, 1].item(),
    "split": lambda x: np.split(x, 3, axis=1)[1] + np.array_split(x, 2, axis=1)[1][:, :1],
    "unpacked": lambda x: functools.reduce(operator.mul, [a * d for a, b, c, d in x[0]]),
    "iterated": lambda x: sum([row[0] * row[1] for plane in x for row in plane]),
    "zipped": lambda x: sum(a * b for a, b in zip(x[0, 0], x[1, 2])) + max(x[0, 0]) * min(x[1, 1]),
    "tolist": lambda x: x.tolist()[1][2][3] * x[0, 0].tolist()[1],
    "list()": lambda x: list(x[0, 0])[1] * sorted(x[0, 0])[2],
    "float": lambda x: float(x[0, 0, 0]) * float(x[0, 0, 1:2][0]),
    "diff": lambda x: np.diff(x**2) + np.diff(x, axis=0)[..., :3],
    "linspace": lambda x: np.linspace(x[0, 0, 0], x[1, 1, 1], 5) ** 2,
    "select": lambda x: np.select([CUBE < -0.5, CUBE > 0.5], [x, 2.0 * x], 3.0 * x),
    "compress": lambda x: np.compress([True, False, True], x, 1) + x.compress([False, True, True], axis=1),
    "matrix_transpose": lambda x: x.mT,
}


@pytest.mark.parametrize("name", MOVES)
def test_what_moves_elements(name):
    if name == "matrix_transpose" and not hasattr(np.ndarray, "mT"):
        pytest.skip("this NumPy has no mT")
    check(MOVES[name], CUBE)
