"""Derivatives of unmodified functions through NumPy."""

import functools
import math
import operator

import pytest
from helpers.heap import no_new_holders_of_wrappers

from cassette_import import NotOverdubbable, install
from cassette_import.contexts.autodiff import derivative, gradient, jvp, vjp

np = pytest.importorskip("numpy")

VECTOR = np.array([0.31, 0.73, 0.47])
OTHER = np.array([1.3, -0.42, 0.85])
MATRIX = np.array([[0.9, 0.2, -0.3], [0.1, 0.8, 0.4], [-0.5, 0.3, 1.1]])
WIDE = np.array([[0.6, -0.2, 0.9], [0.4, 1.2, -0.7]])
CUBE = np.arange(24.0).reshape(2, 3, 4) / 7 - 1.1
NUMBER = 0.6


def directions(arguments, seed=1):
    rng = np.random.default_rng(seed)
    return tuple(
        rng.normal(size=np.shape(argument)) if np.ndim(argument) else float(rng.normal()) for argument in arguments
    )


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


def pulled_back(function, weights, *arguments):
    return vjp(function, arguments, weights)[1]


def check_second(function, arguments, tangents, weights):
    """The gradient's derivative in a direction."""
    gradients = functools.partial(pulled_back, function, weights if np.ndim(weights) else float(weights))
    found = jvp(gradients, arguments, tangents)[1]
    for number, part in enumerate(found):
        expected = differences(lambda *a, number=number: gradients(*a)[number], arguments, tangents)
        np.testing.assert_allclose(np.asarray(part), expected, rtol=1e-6, atol=1e-7)


UNARY = [
    "negative", "positive", "absolute", "fabs", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt",
    "square", "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh",
    "arctanh", "degrees", "rad2deg", "radians", "deg2rad", "sinc", "floor", "ceil", "rint", "trunc", "sign",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_each_element(name):
    function = getattr(np, name)
    check(function, VECTOR)
    check(function, NUMBER)


def test_arccosh_of_each_element():
    check(np.arccosh, VECTOR + 1.5)


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
    check(function, *SHAPES[shapes], second=shapes in ("arrays", "column and row"))


def test_functions_with_an_exponent_or_a_direction():
    check(lambda x: np.ldexp(x, 3) + np.ldexp(x, np.array([0, 1, -2])), VECTOR)
    check(lambda x: np.nextafter(x, 9.0) * x, VECTOR)


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv]


@pytest.mark.parametrize("function", OPERATORS, ids=lambda function: function.__name__)
def test_operators_of_arrays_and_numbers(function):
    check(function, VECTOR, OTHER + 1.0)
    check(function, 1.7, VECTOR)
    for other in (2, 2.0, WIDE + 1.3):
        check(functools.partial(reflected, function, other), VECTOR)
        check(functools.partial(function, np.abs(other)), VECTOR)


def reflected(function, y, x):
    return function(x, y)


def test_operators_of_one_array():
    check(lambda x: -x + abs(x) * +x, OTHER)


def test_operators_of_numbers_of_numpy():
    check(lambda x: x[0] * x[1] / np.float64(3.0) - 2.0 / x[2], VECTOR)
    check(lambda x: np.float64(x) * VECTOR + np.float64(2.0) * x, NUMBER)


def test_functions_of_math_of_an_array_without_axes():
    check(lambda x: math.atan2(np.array(x), 2.0), NUMBER)
    check(lambda x: math.exp(x.reshape(())), np.array([0.5]))


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
    "einsum, diagonal": (lambda x, y: np.einsum("ii,ij->ij", x, y), MATRIX, MATRIX + 1.0),
    "einsum, traces": (lambda x, y: np.einsum("ii,jj,k", x, x, y), MATRIX, OTHER),
    "einsum, thrice": (lambda x, y: np.einsum("iji,j->j", x, y), CUBE[:, :, :2], OTHER),
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
    "T": lambda x: x.T + x[0, 0, 0].real * x.real.T,
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
    "unpacked": lambda x: math.prod([a * d for a, b, c, d in x[0]]),
    "iterated": lambda x: sum([row[0] * row[1] for plane in x for row in plane]),
    "zipped": lambda x: sum(a * b for a, b in zip(x[0, 0], x[1, 2], strict=True)) + max(x[0, 0]) * min(x[1, 1]),
    "tolist": lambda x: x.tolist()[1][2][3] * x[0, 0].tolist()[1],
    "list()": lambda x: list(x[0, 0])[1] * sorted(x[0, 0])[2],
    "float": lambda x: float(x[0, 0, 0]) * float(x[0, 0, 1:2][0]),
    "diff": lambda x: np.diff(x**2) + np.diff(x, axis=0)[..., :3],
    "gradient": lambda x: np.gradient(x, axis=1) * np.gradient(x**2, 0.5, axis=-1, edge_order=2),
    "nan_to_num": lambda x: np.nan_to_num(np.where(CUBE > 0, x**2, np.nan), nan=2.0),
    "conj": lambda x: np.conj(x) * x.conj() + x.conjugate(),
    "linspace": lambda x: np.linspace(x[0, 0, 0], x[1, 1, 1], 5) ** 2,
    "select": lambda x: np.select([CUBE < -0.5, CUBE > 0.5], [x, 2.0 * x], 3.0 * x),
    "compress": lambda x: np.compress([True, False, True], x, 1) + x.compress([False, True, True], axis=1),
    "broadcast_arrays": lambda x: operator.mul(*np.broadcast_arrays(x[0, 0], x[:, 0, :1])),
    "meshgrid": lambda x: np.meshgrid(x[0, 0], x[0, :, 0])[1],
    "mapped": lambda x: functools.reduce(np.multiply, map(np.asarray, [x, x[0] * 2.0])),
    "matrix_transpose": lambda x: x.mT,
}


@pytest.mark.parametrize("name", MOVES)
def test_what_moves_elements(name):
    if name == "matrix_transpose" and not hasattr(np.ndarray, "mT"):
        pytest.skip("this NumPy has no mT")
    check(MOVES[name], CUBE, second=False)


def test_second_derivatives_through_moves():
    def f(x):
        rows = np.concatenate([x[::-1], np.sort(x)]).reshape(2, -1)
        return (rows.T @ rows)[0] * np.array([x[0], x[1] * x[2], 1.0])

    check(f, VECTOR)


# ---- in place


def filled(x):
    made = np.zeros(3)
    for number in range(3):
        made[number] = x[number] * x[0]
    return made


def filled_through_views(x):
    made = np.zeros((2, 3))
    row = made[0]
    column = made.T[1]
    row[:] = x
    column *= x[0]
    made[1, ::2] += x[1:] * 2.0
    return made * row


def added_up(x):
    total = np.zeros(3)
    for number in range(3):
        total += x * x[number]
        total[1:] -= x[:2]
    return total


def changed_after_use(x):
    y = x * x
    z = y * 3.0 + np.exp(y)
    y *= 2.0
    y[0] = 1.0
    return z * y


def reused_buffer(x):
    buffer = np.empty(3)
    found = 0.0
    for number in range(1, 4):
        buffer[:] = number
        found = found + buffer * x
        np.multiply(x, number, out=buffer)
        found = found + buffer.sum()
    return found


def sorted_in_place(x):
    y = x * 1.0
    y.sort()
    y[::2] = y[::2][::-1]
    return y * OTHER


def filled_by_functions(x):
    y = np.ones((3, 3)) * x
    np.fill_diagonal(y, x[0])
    np.copyto(y[0], x[::-1])
    y[1].fill(x[2])
    np.put(y, [8], x[1])
    y.put([7], x[0] * 2.0)
    np.add(y[0], x, out=y[2])
    return y


def an_alias(x):
    y = x.reshape(3, 1) * 1.0
    z = y[:, 0]
    y += 1.0
    z[1] = x[0] ** 2
    return np.asarray(y).ravel() * z


def with_a_mask(x):
    y = x - 0.5
    y[y < 0] *= -3.0
    y[np.array([True, False, False])] = x[2]
    y **= 2
    return y @ np.eye(3)


IN_PLACE = [
    filled, filled_through_views, added_up, changed_after_use, reused_buffer, sorted_in_place, filled_by_functions,
    an_alias, with_a_mask,
]  # fmt: skip


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda function: function.__name__)
def test_arrays_that_are_changed_in_place(function):
    check(function, VECTOR)


def test_arguments_that_are_views_of_one_array_and_are_changed():
    def f(x, y):
        x *= 2.0
        x[0] = y[1]
        return x * y

    base = np.array([1.0, 2.0, 3.0, 4.0])
    _, found = jvp(f, (base[:2].copy(), base[2:].copy()), (np.ones(2), np.zeros(2)))
    memory = base.copy()
    _, shared = jvp(f, (memory[:2], memory[2:]), (np.ones(2), np.zeros(2)))
    assert found.tolist() == shared.tolist() == [0.0, 8.0]
    memory = base.copy()
    assert [part.tolist() for part in gradient(f, memory[:2], memory[2:])] == [[0.0, 8.0], [4.0, 7.0]]


def test_a_tangent_that_is_the_argument_which_is_changed():
    def f(x):
        y = x * 1.0
        x *= 5.0
        return y + x

    x = np.array([1.0, 2.0])
    assert jvp(f, (x,), (x,))[1].tolist() == [6.0, 12.0]


def test_a_change_by_a_function_without_a_rule_is_an_error():
    shuffle = memoryview

    def f(x):
        y = np.zeros(3)
        y[0] = x[0]
        shuffle(y)[1] = 5.0
        return y.sum()

    with pytest.raises(NotOverdubbable, match="was changed by a function without a rule"):
        gradient(f, VECTOR)


def test_a_number_with_a_derivative_in_an_array_of_objects_is_an_error():
    def f(x):
        y = np.empty(3, dtype=object)
        y[0] = x
        return y[0]

    with pytest.raises(NotOverdubbable, match="arrays of object have no derivative"):
        gradient(f, 1.0)


# ---- what has no rule


UNKNOWN = {
    "numpy.floor": lambda x: np.floor(x, out=x),
    "numpy.mean": lambda x: np.mean(MATRIX, axis=0, out=x[0]),
    "numpy.linalg.svd": lambda x: np.linalg.svd(x)[1],
    "numpy.fft.fft": lambda x: np.fft.fft(x),
    "numpy.quantile": lambda x: np.quantile(x, 0.3, method="nearest"),
    "numpy.nanmedian": lambda x: np.nanmedian(x),
    "numpy.i0": lambda x: np.i0(x),
    "frexp": lambda x: np.frexp(x)[0],
    "numpy.var": lambda x: np.var(x, where=x > 0.5),
    "ufunc.accumulate": lambda x: np.multiply.accumulate(x),
    "ufunc.at": lambda x: np.add.at(x, [0], 1.0),
    "einsum": lambda x: np.einsum("...ii->...i", x),
    "shuffle": lambda x: np.random.default_rng(1).shuffle(x),
    "the attribute flat": lambda x: next(x.flat),
    "divmod": lambda x: np.divmod(x, 2.0, out=(x * 1.0, x * 2.0)),
    "polyint": lambda x: np.polyint(x[0]),
    "numpy.kaiser": lambda x: np.kaiser(3, x[0, 0]),
    "getitem": lambda x: np.r_["0,3", x[0]],
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_function_without_a_rule_is_an_error_that_names_it(name):
    for call in (derivative, gradient):
        with pytest.raises(NotOverdubbable, match=f"there is no derivative of .*{name}"):
            call(UNKNOWN[name], MATRIX.copy())


def test_functions_that_return_no_numbers_need_no_rule():
    def f(x):
        seen = [np.all(x == x), np.isfinite(x).all(), np.allclose(x, x), x.shape, len(x), np.argmax(x), (x > 0.4).sum()]
        seen += [x.argsort().tolist(), x.any(), np.shape(x), x.dtype == float, x.size, repr(x), f"{x}", x.nbytes]
        return seen, x[np.argmax(x)] * x.astype(int).sum() + x[x > 0.4].sum()

    assert gradient(lambda x: f(x)[1], VECTOR)[0].tolist() == [0.0, 1.0, 1.0]
    assert jvp(f, (VECTOR,), (VECTOR,))[0] == f(VECTOR)


def test_arrays_of_other_kinds_are_an_error():
    with pytest.raises(TypeError, match="arrays of complex128 have no derivative"):
        gradient(lambda x: x.real.sum(), np.ones(2, complex))
    with pytest.raises(TypeError, match="arrays of type MaskedArray have no derivative"):
        gradient(lambda x: x.sum(), np.ma.array([1.0, 2.0]))
    with pytest.raises(NotOverdubbable, match="arrays of complex128 have no derivative"):
        gradient(lambda x: x * 1j, VECTOR)
    with pytest.raises(NotOverdubbable, match="the function computes with complex numbers"):
        gradient(lambda x: ((x[0] + 1j) * (x[1] - 1j)).real, VECTOR)
    with pytest.raises(NotOverdubbable, match="there is no derivative of abs"):
        gradient(lambda x: abs(x[0] + 1j), VECTOR)
    with pytest.raises(NotOverdubbable, match="arrays of type matrix have no derivative"):
        gradient(lambda x: np.multiply(x, np.ma.array([1.0, 2.0, 3.0]).view(np.matrix)), VECTOR)


def test_tangents_and_cotangents_of_another_shape_are_an_error():
    with pytest.raises(ValueError, match=r"a tangent of the shape \(3,\) is needed, not array"):
        jvp(np.sin, (VECTOR,), (np.ones(2),))
    with pytest.raises(ValueError, match=r"a cotangent of the shape \(3,\) is needed, not array"):
        vjp(np.sin, (VECTOR,), np.ones(2))


# ---- arguments and results


def test_gradients_have_the_structure_and_the_type_of_the_arguments():
    def f(weights, x, n):
        return sum(np.tanh(x @ layer["w"] + layer["b"]).sum() for layer in weights) * n

    weights = [{"w": WIDE.T.astype(np.float32), "b": 0.5}, {"w": WIDE.T, "b": np.array([1, 2])}]
    found, of_x, of_n = gradient(f, weights, VECTOR, 2)
    assert [found[0]["w"].shape, found[1]["w"].shape, found[1]["b"].shape, of_x.shape] == [(3, 2), (3, 2), (2,), (3,)]
    assert [found[0]["w"].dtype, found[1]["b"].dtype, type(found[0]["b"])] == [np.float32, np.float64, float]
    assert float(of_n) == pytest.approx(f(weights, VECTOR, 1))


def test_an_argument_that_nothing_depends_on():
    assert gradient(lambda x, y: y.sum(), VECTOR, VECTOR)[0].tolist() == [0.0, 0.0, 0.0]
    assert derivative(lambda x: np.ones(2), VECTOR).tolist() == [0.0, 0.0]
    assert vjp(lambda x: [x, 1.0], (VECTOR,), [2.0, 1.0])[1][0].tolist() == [2.0, 2.0, 2.0]


def test_derivatives_within_derivatives_are_arrays_of_their_own():
    def f(x):
        (found,) = vjp(lambda y: y + 1.0, (x,), x)[1]
        found *= 2.0
        return (found * x).sum()

    assert gradient(f, np.array([1.0, 2.0]))[0].tolist() == [4.0, 8.0]


def test_derivatives_are_arrays_of_their_own():
    tangent = np.ones(3)
    _, found = jvp(lambda x: x, (VECTOR,), (tangent,))
    assert found is not tangent
    assert found.flags.writeable
    (found,) = gradient(lambda x: x.sum(), VECTOR)
    found += 1.0
    assert gradient(lambda x: x.sum(), VECTOR)[0].tolist() == [1.0, 1.0, 1.0]


def test_the_argument_is_what_the_function_gets():
    seen = []
    gradient(lambda x: seen.append(x) or x.sum(), VECTOR)
    assert seen[0] is VECTOR


def test_the_hessian_times_a_vector_and_the_hessian():
    def f(x):
        return np.sum(np.exp(x) * x[::-1]) + np.prod(x)

    def grad(x):
        return gradient(f, x)[0]

    hessian = np.stack([differences(grad, (VECTOR,), (unit,)) for unit in np.eye(3)])
    direction = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(jvp(grad, (VECTOR,), (direction,))[1], hessian @ direction, rtol=1e-7)
    np.testing.assert_allclose(vjp(grad, (VECTOR,), direction)[1][0], hessian @ direction, rtol=1e-7)
    rows = [gradient(lambda x, row=row: gradient(f, x)[0][row], VECTOR)[0] for row in range(3)]
    np.testing.assert_allclose(np.stack(rows), hessian, rtol=1e-6)


def test_perturbations_of_arrays_are_not_confused():
    x = np.array([1.0, 2.0])
    assert derivative(lambda x: x * derivative(lambda y: x + y, x), x).tolist() == [1.0, 1.0]
    assert derivative(lambda x: x * derivative(lambda y: x * y, x), x).tolist() == [2.0, 4.0]


def test_a_derivative_within_a_function_that_changes_arrays():
    def f(x):
        buffer = np.zeros(3)
        buffer[1] = x[0] * 2.0
        inner = gradient(lambda y: (y * y * buffer).sum(), x)[0]
        buffer[0] = inner[1]
        return buffer * x

    check(f, VECTOR)


def test_jvp_and_vjp_within_a_derivative_accept_structures():
    assert derivative(lambda x: jvp(math.sin, (x,), (1.0,))[1], 1.0) == -math.sin(1.0)
    assert derivative(lambda x: vjp(math.sin, (1.0,), x)[1][0], 1.0) == math.cos(1.0)
    assert gradient(lambda x: vjp(lambda y: [y * y], (1.0,), [x])[1][0], 1.0) == (2.0,)


# ---- the program


def test_no_wrapper_is_left_in_arrays_or_the_programs_objects():
    kept = []

    class Model:
        pass

    def f(x):
        model = Model()
        model.weights = x * 2.0
        kept.extend([model, model.weights, [x[0], x], {"a": x.T}, np.array([x[0], x[1]]), gradient(np.prod, x)])
        made = np.zeros(2)
        made[0] = x[0]
        kept.append(made)
        return model.weights.sum() + made[0]

    with no_new_holders_of_wrappers():
        assert gradient(f, VECTOR)[0].tolist() == [3.0, 2.0, 2.0]
    assert type(kept[1]) is np.ndarray
    assert kept[4].dtype == float


def test_nothing_changes_where_nothing_has_a_derivative():
    def f(x, y):
        out = np.zeros(3)
        out[1] = y[0]
        np.sin(y, out=out)
        parts = [type(y.T), y.mean().dtype, (y + 1)[::2].tolist(), np.linalg.svd(MATRIX)[1].tolist(), list(y)]
        return (x, out, np.fft.fft(y), parts, np.stack([y, y]), np.einsum("ii->i", MATRIX), y.flags.owndata)

    def plain(values):
        return [part.tolist() if isinstance(part, np.ndarray) else part for part in values]

    assert plain(jvp(f, (1.0, VECTOR), (1.0, None))[0]) == plain(f(1.0, VECTOR))


UNAWARE = """
import numpy as np
from numpy.linalg import norm


class Layer:
    def __init__(self, weights, bias):
        self.weights, self.bias = weights, bias

    def __call__(self, inputs):
        return np.tanh(inputs @ self.weights + self.bias)


def network(parameters, inputs):
    for weights, bias in parameters:
        inputs = Layer(weights, bias)(inputs)
    return inputs


def loss(parameters, inputs, targets):
    errors = network(parameters, inputs) - targets
    return np.mean(errors**2) + 0.01 * sum(norm(weights) for weights, _ in parameters)


def heat(state, steps):
    for _ in range(steps):
        after = state.copy()
        after[1:-1] += 0.1 * (state[2:] - 2 * state[1:-1] + state[:-2])
        state = after
    return state
"""


def test_an_unmodified_package(make_package):
    import importlib

    package = importlib.import_module(make_package(UNAWARE))
    rng = np.random.default_rng(3)
    w1, b1, w2, b2 = (rng.normal(size=size) for size in ((3, 4), 4, (4, 2), 2))
    inputs, targets = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))

    def loss(w1, b1, w2, b2):
        return package.loss([(w1, b1), (w2, b2)], inputs, targets)

    with install([package.__name__]):
        check(loss, w1, b1, w2, b2, second=False)
        check(lambda state: package.heat(state, 5), rng.normal(size=6), second=False)


def test_a_real_package_of_python_and_numpy():
    quaternions = pytest.importorskip("pyquaternion", reason="needs pyquaternion")

    def turned(vector, quaternion):
        first = quaternions.Quaternion(quaternion).normalised
        return (first * quaternions.Quaternion(0.5, 0.5, 0.5, 0.5)).inverse.rotate(vector)

    with install(["pyquaternion"]):
        check(turned, VECTOR, np.array([0.8, 0.1, -0.4, 0.3]), second=False)


AGREED = {
    "softmax": (lambda np, x: np.sum((np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x)))) ** 2), VECTOR),
    "quadratic form": (lambda np, x: np.dot(np.dot(x, MATRIX), x) / np.sqrt(np.dot(x, x)), VECTOR),
    "network": (lambda np, x: np.mean(np.tanh(np.dot(WIDE, np.outer(x, x)) + x) ** 2), VECTOR),
    "determinant": (lambda np, x: np.linalg.det(x) + np.trace(np.linalg.inv(x)), MATRIX),
    "indices": (lambda np, x: np.sum(x[1:] * x[:-1] ** 2) + np.prod(np.concatenate([x[0], x[2, :2]])), MATRIX),
    "statistics": (lambda np, x: np.std(x, axis=0)[1] * np.var(x) + np.mean(np.where(x > 0, x, x**2)), MATRIX),
}


@pytest.mark.parametrize("name", AGREED)
def test_autograd_agrees(name):
    autograd = pytest.importorskip("autograd", reason="needs autograd")
    function, x = AGREED[name]
    (found,) = gradient(lambda x: function(np, x), x)
    expected = autograd.grad(lambda x: function(autograd.numpy, x))(x)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
