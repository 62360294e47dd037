"""`jit` with JAX on arrays: each function of the tables gives NumPy's result."""

import pytest

from cassette_import.contexts import autodiff
from cassette_import.contexts.backends import jit
from cassette_import.contexts.graph import NotRepresentable
from cassette_import.contexts.graph.arrays import METHODS, functions

jax = pytest.importorskip("jax", reason="jax is not installed")
np = pytest.importorskip("numpy")

NUMBERS = np.random.default_rng(5)
X = NUMBERS.uniform(0.1, 0.9, (3, 4))
Y = NUMBERS.uniform(0.1, 0.9, (3, 4))
SQUARE = NUMBERS.uniform(0.1, 0.9, (3, 3)) + 2.0 * np.eye(3)
ROW = NUMBERS.uniform(0.1, 0.9, 6)
WHOLE = NUMBERS.integers(-9, 9, (3, 4))
MORE_THAN_ONE = frozenset({"arccosh", "acosh"})
OF_INTEGERS = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor", "invert"})

WITH_ONE_ARRAY = (
    *("negative", "positive", "absolute", "abs", "fabs", "sign", "sqrt", "cbrt", "square", "reciprocal", "exp", "exp2"),
    *("expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh"),
    *("tanh", "arcsinh", "arccosh", "arctanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "deg2rad", "rad2deg"),
    *("degrees", "radians", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite", "signbit", "sinc"),
    *("conj", "conjugate", "logical_not", "invert", "nan_to_num", "real", "imag", "angle", "round", "around", "modf"),
    *("sum", "prod", "mean", "std", "var", "min", "max", "amin", "amax", "ptp", "argmin", "argmax", "all", "any"),
    *("cumsum", "cumprod", "count_nonzero", "nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanstd", "nanvar"),
    *("median", "average", "trapezoid", "trace", "cov", "corrcoef", "linalg.norm", "fft.fft", "fft.ifft", "fft.rfft"),
    *("fft.irfft", "ravel", "transpose", "squeeze", "flip", "fliplr", "flipud", "rot90", "atleast_1d", "atleast_2d"),
    *("atleast_3d", "array", "asarray", "asanyarray", "ascontiguousarray", "copy", "zeros_like", "ones_like", "diff"),
    *("ediff1d", "gradient", "diag", "diagonal", "tril", "triu", "sort", "argsort", "unwrap"),
)
WITH_TWO_ARRAYS = (
    *(
        "add",
        "subtract",
        "multiply",
        "divide",
        "true_divide",
        "floor_divide",
        "remainder",
        "mod",
        "fmod",
        "power",
        "pow",
    ),
    *("float_power", "logaddexp", "logaddexp2", "arctan2", "atan2", "hypot", "maximum", "minimum", "fmax", "fmin"),
    *("copysign", "heaviside", "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "isclose", "allclose", "array_equal"),
    *("divmod", "inner", "outer", "kron", "vdot", "append", "broadcast_arrays"),
)
CALLS = {
    "where": (lambda x, y: np.where(x > y, x, -y), X, Y),
    "clip": (lambda x, low: np.clip(x, low, 0.6), X, 0.3),
    "select": (lambda x, y: np.select([x > 0.6, x > 0.3], [x, y], default=2.0), X, Y),
    "matmul": (lambda x, y: np.matmul(x, y.T), X, Y),
    "interp": (lambda x, y: np.interp(x, np.linspace(0.0, 1.0, 6), y), X, ROW),
    "quantile": (lambda x: np.quantile(x, [0.25, 0.5], axis=1), X),
    "percentile": (lambda x: np.percentile(x, 30.0), X),
    "dot": (lambda x, y: np.dot(x, y.T), X, Y),
    "tensordot": (lambda x, y: np.tensordot(x, y, axes=([1], [1])), X, Y),
    "einsum": (lambda x, y: np.einsum("ij,ij->i", x, y), X, Y),
    "cross": (lambda x, y: np.cross(x, y), SQUARE, SQUARE.T),
    "convolve": (lambda x: np.convolve(x, np.array([1.0, -2.0, 0.5]), mode="same"), ROW),
    "correlate": (lambda x: np.correlate(x, np.array([1.0, -2.0, 0.5]), mode="full"), ROW),
    "polyval": (lambda x, y: np.polyval(x, y), ROW, X),
    "linalg.det": (lambda x: np.linalg.det(x), SQUARE),
    "linalg.inv": (lambda x: np.linalg.inv(x), SQUARE),
    "linalg.solve": (lambda x, y: np.linalg.solve(x, y), SQUARE, X),
    "linalg.cholesky": (lambda x: np.linalg.cholesky(x @ x.T), SQUARE),
    "linalg.matrix_power": (lambda x: np.linalg.matrix_power(x, 3), SQUARE),
    "linalg.slogdet": (lambda x: np.linalg.slogdet(x), SQUARE),
    "linalg.eigvalsh": (lambda x: np.linalg.eigvalsh(x + x.T), SQUARE),
    "reshape": (lambda x: np.reshape(x, (2, -1)), X),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 1), X),
    "moveaxis": (lambda x: np.moveaxis(x, 0, -1), X),
    "expand_dims": (lambda x: np.expand_dims(x, 1), X),
    "broadcast_to": (lambda x: np.broadcast_to(x, (2, 6)), ROW),
    "concatenate": (lambda x, y: np.concatenate([x, y], axis=1), X, Y),
    "stack": (lambda x, y: np.stack([x, y, x]), X, Y),
    "vstack": (lambda x, y: np.vstack((x, y)), X, Y),
    "hstack": (lambda x, y: np.hstack((x, y)), X, Y),
    "dstack": (lambda x, y: np.dstack((x, y)), X, Y),
    "column_stack": (lambda x, y: np.column_stack((x, y)), ROW, ROW),
    "tile": (lambda x: np.tile(x, (2, 1)), X),
    "repeat": (lambda x: np.repeat(x, 2, axis=1), X),
    "roll": (lambda x: np.roll(x, 1, axis=0), X),
    "split": (lambda x: np.split(x, 3)[1], ROW),
    "array_split": (lambda x: np.array_split(x, 4)[0], ROW),
    "hsplit": (lambda x: np.hsplit(x, 2)[1], X),
    "vsplit": (lambda x: np.vsplit(x, 3)[1], X),
    "full_like": (lambda x, y: np.full_like(x, y), X, 2.5),
    "full": (lambda y: np.full((2, 3), y), 2.5),
    "searchsorted": (lambda x, y: np.searchsorted(np.sort(x), y, side="right"), ROW, X),
    "digitize": (lambda x: np.digitize(x, np.array([0.2, 0.5, 0.8])), X),
    "linspace": (lambda x, y: np.linspace(x, y, 7), 1.0, 2.5),
    "float64": (lambda x: np.float64(x) * 2.0, 1.5),
    "float32": (lambda x: np.float32(x), 1.5),
    "int64": (lambda x: np.int64(x), 2.75),
    "int32": (lambda x: np.int32(x), 2.75),
    "bool_": (lambda x: np.bool_(x), 2.75),
    "meshgrid": (lambda x, y: np.meshgrid(x, y, indexing="ij"), ROW, ROW[:2]),
    "vander": (lambda x: np.vander(x, 3), ROW),
}  # fmt: skip
OF_METHODS = {
    "dot": (lambda x, y: x.dot(y.T), X, Y),
    "reshape": (lambda x: x.reshape(2, -1) + x.reshape((2, 6)), X),
    "swapaxes": (lambda x: x.swapaxes(0, 1), X),
    "clip": (lambda x: x.clip(0.2, 0.6), X),
    "round": (lambda x: x.round(2), X),
    "astype": (lambda x: (x * 10.0).astype(int), X),
    "repeat": (lambda x: x.repeat(3), X),
    "searchsorted": (lambda x: x.cumsum().searchsorted(1.0), ROW),
}  # fmt: skip


def with_one(f):
    return lambda x: f(x)


def with_two(f):
    return lambda x, y: f(x, y)


def found_in_numpy(name):
    found = np
    for part in name.split("."):
        found = getattr(found, part)
    return found


def case(name):
    """A function that calls a function of NumPy, and arguments for it."""
    if name in CALLS:
        return CALLS[name]
    arrays = (WHOLE, WHOLE.T.reshape(3, 4)) if name in OF_INTEGERS else (X + 1.0 if name in MORE_THAN_ONE else X, Y)
    if name in WITH_ONE_ARRAY:
        return with_one(found_in_numpy(name)), arrays[0]
    return with_two(found_in_numpy(name)), *arrays


def assert_same(found, expected):
    if isinstance(expected, dict):
        found, expected = [*found.items()], [*expected.items()]
    if type(expected) is str:
        assert found == expected
        return
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
        return
    assert type(found) is type(expected)
    if isinstance(expected, (np.ndarray, np.generic)):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


NAMES = sorted({*WITH_ONE_ARRAY, *WITH_TWO_ARRAYS, *CALLS})


def test_each_function_of_the_table_has_a_case():
    tested = {found_in_numpy(name) for name in NAMES if hasattr(np, name.split(".")[0])}
    assert {one for one in functions() if one not in tested} == set()
    assert METHODS.keys() <= {*OF_METHODS, *WITH_ONE_ARRAY, "flatten"}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_of_arrays_gives_the_result_of_numpy(name):
    function, *arguments = case(name)
    compiled = jit(function, *arguments, backend="jax")
    assert_same(compiled(*arguments), function(*arguments))
    others = [argument[::-1].copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    assert_same(compiled(*others), function(*others))
    assert compiled.in_python == 0


@pytest.mark.parametrize("name", sorted({*METHODS} - {*OF_METHODS}))
def test_a_method_of_arrays_gives_the_result_of_numpy(name):
    def function(x):
        return getattr(x, name)()

    assert_same(jit(function, SQUARE, backend="jax")(SQUARE.T), function(SQUARE.T))


@pytest.mark.parametrize("name", sorted(OF_METHODS))
def test_a_method_with_arguments_gives_the_result_of_numpy(name):
    function, *arguments = OF_METHODS[name]
    assert_same(jit(function, *arguments, backend="jax")(*arguments), function(*arguments))


# ---- control flow


def largest_and_rounds(x, limit):
    rounds = 0
    while True:
        y = np.cos(x)
        if np.linalg.norm(y - x) < 1e-10:
            break
        x = y
        rounds += 1
        if rounds >= limit:
            return x, -1
    return y, rounds


def above(rows):
    total, best = np.float64(0.0), rows[0, 0]
    for row in rows:
        if row.sum() > 1.5:
            total = total + row.max()
        elif row[0] > best:
            best = row[0]
    return total, best


def powers(x):
    total = np.zeros(3)
    for number in range(40):
        total = total + x * 0.9**number
        if total[0] > 5.0:
            return total, float(number)
    return total, -1.0


def test_a_while_loop_on_arrays_stays_a_loop():
    compiled = jit(largest_and_rounds, ROW, 500, backend="jax")
    assert_same(compiled(ROW * 2.0, 500), largest_and_rounds(ROW * 2.0, 500))
    assert "while True:" in compiled.source
    assert len(compiled.source.splitlines()) < 300
    assert compiled.in_python == 0


@pytest.mark.parametrize(("function", "shape"), [(above, (5, 4)), (above, (30, 4)), (powers, (3,))])
def test_branches_and_loops_on_numbers_of_arrays_have_the_results_of_python(function, shape):
    numbers = np.random.default_rng(1)
    compiled = jit(function, numbers.uniform(-1.0, 1.0, shape), backend="jax")
    points = [numbers.uniform(-1.0, 1.0, shape) * numbers.choice([0.5, 2.0]) for _ in range(40)]
    for x in points[:20]:
        assert_same(compiled(x), function(x))
    assert compiled.function is not None  # the newest flow is compiled
    before = compiled.in_python
    for x in points[20:]:
        assert_same(compiled(x), function(x))
    assert compiled.in_python - before < 5


def average_of_some(x):
    total, count = 0.0, 0
    for one in x:
        if one > 0.0:
            total = total + one
            count += 1
    return total / count


def test_a_number_of_python_and_one_of_numpy_come_together_as_one_of_numpy():
    numbers = np.random.default_rng(3)
    compiled = jit(average_of_some, np.ones(4), backend="jax")
    points = numbers.uniform(-1.0, 1.0, (40, 4)) + 0.2
    for x in points:
        assert_same(compiled(x), average_of_some(x))
    assert compiled.paths > 1
    with pytest.raises(ZeroDivisionError):
        compiled(-np.ones(4))


def test_a_loop_over_the_rows_of_a_long_array_stays_a_loop():
    compiled = jit(above, np.ones((500, 4)), backend="jax")
    assert len(compiled.source.splitlines()) < 300


# ---- arrays


def item(x, place):
    return x[place], x[-1], x[1:, ::2], x[..., None], x[np.array([2, 0])]


def layers(weights, x):
    for weight in weights:
        x = np.maximum(weight @ x, 0.0)
    return {"values": x, "norm": np.linalg.norm(x), "count": len(weights)}


def swapped(x):
    one, other = x[:2], x[2:4]
    if one.sum() > other.sum():
        one, other = other, one
    return one, other


def oscillation(x):
    return np.abs(np.exp(1j * x)) + (x * (2.0 + 1.0j)).real


def numbers_of_python(x):
    return (
        float(x.max()),
        int(x.argmax()),
        bool(x.any()),
        sum(x),
        max(x),
        min(*x),
        [one * 2.0 for one in x],
        x[0].item(),
    )


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (item, (X, 1)),
        (layers, ([SQUARE, SQUARE.T], ROW[:3])),
        (swapped, (ROW,)),
        (oscillation, (ROW,)),
        (numbers_of_python, (ROW,)),
        (lambda x: x.astype(np.float32) * 2.0, (X,)),
        (lambda x: x * 2.0 + x.sum(), (X.astype(np.float32),)),
        (lambda x, n: (x // n, x % n, x**2, x.sum() // n), (WHOLE, 4)),
        (lambda x: x.reshape(len(x), -1).T.shape[0] * x.mean(axis=0), (X,)),
    ],
)
def test_arrays_have_the_results_of_numpy(function, arguments):
    compiled = jit(function, *arguments, backend="jax")
    assert_same(compiled(*arguments), function(*arguments))
    assert compiled.in_python == 0


def test_a_result_can_be_changed_like_one_of_numpy():
    found = jit(lambda x: x * 2.0, ROW, backend="jax")(ROW)
    found[0] = 7.0
    assert found[0] == 7.0


def test_arrays_of_other_shapes_and_types_are_compiled_too():
    compiled = jit(lambda x: (x / 3).sum(axis=0), X, backend="jax")
    for x in (np.ones((7, 2)), np.ones((2, 2, 2)), np.ones((2, 3), "float32"), np.ones((2, 3), int)):
        assert_same(compiled(x), (x / 3).sum(axis=0))
    assert compiled.in_python == 0


# ---- where NumPy raises an exception


@pytest.mark.parametrize(
    ("function", "example", "argument", "error"),
    [
        (lambda x, place: x[place], (ROW, 2), (ROW, 6), IndexError),
        (lambda x, y: np.linalg.solve(x, y), (SQUARE, X), (np.zeros((3, 3)), X), np.linalg.LinAlgError),
        (lambda x: np.linalg.cholesky(x), (np.eye(3),), (-np.eye(3),), np.linalg.LinAlgError),
        (lambda x: np.average(x, weights=x), (ROW,), (ROW * 0.0,), ZeroDivisionError),
        (lambda x, y: x**y, (abs(WHOLE), abs(WHOLE)), (abs(WHOLE), -abs(WHOLE)), ValueError),
    ],
)
def test_an_exception_of_numpy_is_raised(function, example, argument, error):
    compiled = jit(function, *example, backend="jax")
    compiled(*example)
    with pytest.raises(error):
        compiled(*argument)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_python_computes_where_integers_are_divided_by_zero_or_floats_have_no_integer():
    divided = jit(lambda x, y: x // y, WHOLE, 2, backend="jax")
    assert_same(divided(WHOLE, 0), WHOLE // 0)
    rounded = jit(lambda x: x.astype(int), X, backend="jax")
    assert_same(rounded(X * np.nan), (X * np.nan).astype(int))
    assert (divided.in_python, rounded.in_python) == (1, 1)


def test_python_computes_where_an_argument_is_below_the_normal_numbers():
    compiled = jit(lambda x: x * 1e300, ROW, backend="jax")
    assert_same(compiled(ROW * 1e-310), ROW * 1e-310 * 1e300)
    assert compiled.in_python == 1


# ---- what is refused


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: x[x > 0.5].sum(), "the items that are chosen, and their number"),
        (lambda x: np.nonzero(x > 0.5), "nonzero gets an unknown number"),
        (lambda x: np.unique(x), "unique gets an unknown number"),
        (lambda x: np.mean(x, where=x > 0.5), "the keyword where"),
        (lambda x: f"{x.sum():.3f}", "the text of an unknown number"),
        (lambda x: x.tobytes(), "the attribute tobytes of an unknown array"),
        (lambda x: x[: int(x.sum())], "the number of items that a slice chooses"),
    ],
)
def test_what_jax_cannot_do_is_refused_with_its_line(function, what):
    with pytest.raises(NotRepresentable, match=f"(?s){what}.*test_arrays.py:"):
        jit(function, X, backend="jax")


def in_place(x):
    result = np.zeros(3)
    flat = result.ravel()
    result[0] = x[0]
    return result, flat


def test_a_change_in_place_is_refused_with_its_line():
    with pytest.raises(NotRepresentable, match=r"(?s)changed in place.*test_arrays.py:\d+ in in_place"):
        jit(in_place, ROW, backend="jax")


# ---- derivatives


def loss(weights, x):
    hidden = np.tanh(weights @ x)
    total = 0.0
    for one in hidden:
        if one > 0.2:
            total = total + one * one
        else:
            total = total - np.exp(one)
    return total / len(hidden)


def fixed_point(x):
    rounds = 0
    y = x
    while np.abs(np.cos(y) * x - y).max() > 1e-13 and rounds < 100:
        y = np.cos(y) * x
        rounds += 1
    return (y * y).sum()


@pytest.mark.parametrize(
    ("function", "arguments"), [(loss, (SQUARE - 2.0, ROW[:3])), (loss, (WHOLE * 0.1, ROW[:4])), (fixed_point, (ROW,))]
)
def test_the_gradient_of_arrays_is_that_of_autodiff(function, arguments):
    compiled = jit(function, *arguments, backend="jax")
    expected = autodiff.gradient(function, *arguments)
    with jax.enable_x64(True):
        found = jax.jit(jax.grad(compiled.function, argnums=tuple(range(len(arguments)))))(*arguments)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-11)


def test_a_function_of_jax_checks_the_shapes():
    compiled = jit(loss, SQUARE, ROW[:3], backend="jax")
    with jax.enable_x64(True), pytest.raises(TypeError, match=r"an argument is float64\[4\], and its example"):
        compiled.function(SQUARE, ROW[:4])
