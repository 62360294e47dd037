"""Derivatives through callbacks of NumPy, statistics, polynomials and random numbers, in both modes and twice."""

import pytest

from cassette_import.contexts.autodiff import derivative, gradient

np = pytest.importorskip("numpy")

from tests.contexts.autodiff.test_array_derivatives import CUBE, MATRIX, NUMBER, OTHER, VECTOR, WIDE, check  # noqa: E402


def product(a):
    return a * a


CALLBACKS = {
    "vectorize": lambda x, y: np.vectorize(lambda a, b: a * b + a)(x, y),
    "vectorize over a closure": lambda x, y: np.vectorize(lambda a: a * a * y)(x),
    "vectorize with types": lambda x, y: np.vectorize(product, otypes=[float])(x * y),
    "vectorize with a cache": lambda x, y: np.vectorize(product, cache=True)(np.outer(x, x) * y),
    "apply_along_axis": lambda x, y: np.apply_along_axis(lambda row: row * row[0] * y, 0, np.outer(x, x)),
    "apply_along_axis to numbers": lambda x, y: np.apply_along_axis(np.prod, 1, np.outer(x, x) + y),
    "apply_along_axis with arguments": lambda x, y: np.apply_along_axis(lambda row, k: row**k, 0, x, y),
    "apply_over_axes": lambda x, y: np.apply_over_axes(lambda a, axis: np.sum(a, axis) * y, np.outer(x, x), [0, -1]),
    "piecewise": lambda x, y: np.piecewise(x, [VECTOR < 0.4, VECTOR > 0.5], [product, lambda a: a * y, y]),
    "piecewise with arguments": lambda x, y: np.piecewise(x, [VECTOR < 0.4], [lambda a, k: a * k, 3.0], y),
    "fromfunction": lambda x, y: np.fromfunction(lambda i, j: i * y + x[0] * j, (2, 3)),
    "fromiter": lambda x, y: np.fromiter((a * y for a in x), float),
    "fromiter of a list": lambda x, y: np.fromiter([x[0], y, x[1] * y], float),
}


@pytest.mark.parametrize("name", CALLBACKS)
def test_functions_that_call_the_program_back(name):
    check(CALLBACKS[name], VECTOR, NUMBER)


def test_a_callback_is_called_as_often_as_without_a_context():
    calls = []

    def counted(a):
        calls.append(float(a))
        return a * a

    def program(x):
        return np.vectorize(counted)(x * VECTOR).sum()

    expected = program(2.0), [*calls]
    calls.clear()
    assert derivative(program, 2.0) == pytest.approx(2 * 2.0 * np.sum(VECTOR**2))
    assert calls == expected[1]


STATISTICS = {
    "quantile": lambda x: np.quantile(x, 0.3, axis=1),
    "quantiles": lambda x: np.quantile(x, [0.1, 0.5, 1.0], axis=(0, 2), keepdims=True),
    "percentile": lambda x: np.percentile(x, 35.0),
    "order of the quantile": lambda x: np.quantile(CUBE, abs(x[0, 0, 0]) / 5.0),
    "nansum": lambda x: np.nansum(np.where(CUBE > 1.0, np.nan, x), axis=1) + np.nanmean(x * x, axis=1),
    "nanstd": lambda x: np.nanstd(np.where(CUBE > 2.0, np.nan, x), axis=0) + np.nanvar(x, axis=0),
    "nanmax": lambda x: np.nanmax(x, axis=2) - np.nanmin(x, axis=2, keepdims=True)[..., 0] + np.nanprod(x, axis=2),
    "nancumsum": lambda x: np.nancumsum(np.where(CUBE > 1.0, np.nan, x), axis=1),
    "sum of some": lambda x: (
        np.sum(x, axis=1, where=CUBE > 0.3) + x.max(initial=0.7) + np.prod(x[0, 0], initial=x[1, 1, 1])
    ),
    "cov": lambda x: np.cov(x[0]) + np.corrcoef(x[1] ** 2),
    "correlate": lambda x: np.correlate(x[0, 0], x[1, 1, :2], "full"),
    "bincount": lambda x: np.bincount([0, 2, 2, 1], weights=x[0, 0], minlength=6),
    "ediff1d": lambda x: np.ediff1d(x[0] ** 2, to_begin=x[1, 1, 1]),
    "unwrap": lambda x: np.unwrap(x[1] * 9.0),
    "unique": lambda x: np.unique(x[0]),
    "diff": lambda x: np.diff(x, axis=1, prepend=x[0, 0, 0]),
    "polyval": lambda x: np.polyval(x[0, 0], x[1]) + np.polynomial.polynomial.polyval(x[0], x[1, 1]),
    "polymul": lambda x: np.polymul(x[0, 0], x[1, 0, :2]) + np.polyder(x[0].ravel()[:6])[0],
    "vander": lambda x: np.vander(x[0, 0], 3) + np.vander(x[1, 0, :4], 3, increasing=True),
    "spaces": lambda x: np.geomspace(x[1, 1, 1], x[1, 2, 1], 4) * np.logspace(x[0, 0, 0], x[0, 1, 1], 4),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x[0], 2, axis=1),
    "r_": lambda x: np.r_[x[0, 0], x[1, 1, 1], 2.0],
    "c_": lambda x: np.c_[x[0, 0], x[1, 1] * 2.0],
    "multi_dot": lambda x: np.linalg.multi_dot([x[0], MATRIX[0, 0] * x[1].T, x[0, :, 0]]),
    "pinv": lambda x: np.linalg.pinv(x[0, :, [0, 2]]),
    "modf": lambda x: np.modf(x * 3.3)[0] * divmod(x, 0.7)[1] + np.divmod(1.3, x[..., :1] + 5.05)[1],
    "pad": lambda x: np.pad(x[0], 1, constant_values=x[0, 0, 0]),
    "nan_to_num": lambda x: np.nan_to_num(np.where(CUBE > 1.0, np.nan, x), nan=x[0, 0, 0]),
    "heaviside": lambda x: np.heaviside([0.0, 1.0], x[0, 0, 0]),
    "matvec": lambda x: np.matvec(x, x[:, 0]) + np.vecdot(x, x[:1, :1]),
    "vector norm": lambda x: np.linalg.vector_norm(x, axis=1) + np.linalg.diagonal(x)[0, 0],
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_polynomials_and_joins(name):
    if name == "matvec" and not hasattr(np, "matvec"):
        pytest.skip("this NumPy has no matvec")
    check(STATISTICS[name], CUBE)


def masked_sine(x):
    y = x * x
    np.sin(x, out=y, where=VECTOR > 0.4)
    np.multiply(y, 2.0, y, where=[True, False, True])
    return y


def test_elements_that_are_written_where_a_mask_is_true():
    check(masked_sine, VECTOR)


def filled_by_name(x):
    y = np.zeros((3, 3))
    first = np.lib.stride_tricks.as_strided(y[0], (2,), (8,))
    np.copyto(dst=y, src=x, where=MATRIX > 0.0)
    np.place(arr=y, mask=y == 0.0, vals=x)
    np.put(a=y, ind=[0], v=x[1])
    np.fill_diagonal(y, val=x[0])
    first[1] = x[2] ** 2
    return y


def test_arrays_that_are_filled_by_functions_with_named_arguments():
    check(filled_by_name, VECTOR)


SAMPLES = {
    "normal": lambda rng, x, y: rng.normal(x, y),
    "normal by name": lambda rng, x, y: rng.normal(scale=y, size=(2, 3), loc=x),
    "uniform": lambda rng, x, y: rng.uniform(x, x + y),
    "exponential": lambda rng, x, y: rng.exponential(y) * rng.rayleigh(y, 3),
    "lognormal": lambda rng, x, y: rng.lognormal(x, y),
    "others": lambda rng, x, y: rng.laplace(x, y) + rng.logistic(x, y) + rng.gumbel(x, y),
}


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("name", SAMPLES)
def test_random_numbers_depend_on_the_parameters_of_their_distribution(name, make):
    check(lambda x, y: SAMPLES[name](make(3), x, y), VECTOR, NUMBER)


def test_random_numbers_of_the_module_depend_on_their_parameters():
    def program(x):
        np.random.seed(4)
        return np.random.normal(x, 2.0) + np.random.uniform(high=x)

    np.random.seed(4)
    np.random.normal()
    expected = 1.0 + np.random.uniform()
    assert gradient(program, 3.0)[0] == pytest.approx(expected)


def test_matrices_of_several_shapes_are_multiplied():
    check(lambda x, y: np.linalg.multi_dot([x, y, x.T, OTHER[:2]]), WIDE, MATRIX)
