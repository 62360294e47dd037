"""`jit` with JAX: sums and products are rounded as in Python, and `jax.grad` gives the derivatives."""

import math
import random
import sys

import pytest

from cassette_import import install
from cassette_import.contexts import autodiff
from cassette_import.contexts.backends import jit
from cassette_import.contexts.graph import NotRepresentable, unknown
from cassette_import.errors import CassetteError

jax = pytest.importorskip("jax", reason="jax is not installed")
np = pytest.importorskip("numpy")


def wave(x, y):
    total = 0.0
    for number in range(1, 4):
        total += math.sin(number * x) / number
    if total > y:
        return total * y + math.exp(-x)
    return total - x % y


def rounding(x, y):
    return x * x - y * y, (x + y) * x - y, x / y + x, x // y, x % y, math.log10(10.0 ** round(x)), abs(x) < y


def points(count):
    numbers = random.Random(7)
    return [(numbers.uniform(-3.0, 3.0), numbers.uniform(0.1, 2.0)) for _ in range(count)]


def test_sums_products_and_quotients_have_the_bits_of_python():
    compiled = jit(rounding, 1.5, 0.5, backend="jax")
    xs, ys = np.array(points(2000)).T
    found = compiled.map(xs, ys)
    expected = [rounding(x, y) for x, y in points(2000)]
    assert [repr(one) for one in zip(*(column.tolist() for column in found), strict=True)] == list(map(repr, expected))
    assert compiled.in_python == 0


def quotients(x, y):
    return x / 3.1, x / 3.1 / y, 0.7 / (x / 1.3), x / (0.7 / y), (x / y) / (x + 5.0), x / ((x + 4.0) / (y + 5.0))


def test_quotients_of_quotients_are_rounded_as_in_python():
    compiled = jit(quotients, 1.5, 0.5, backend="jax")
    found = compiled.map(*np.array(points(1000)).T)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == [quotients(x, y) for x, y in points(1000)]


def test_the_gradient_is_that_of_autodiff():
    compiled = jit(wave, 1.0, 0.5, backend="jax")
    compiled(-1.0, 0.5)
    assert compiled.paths == 2
    with jax.enable_x64(True):
        gradient = jax.jit(jax.grad(compiled.function, argnums=(0, 1)))
        for x, y in [*points(40), (2.0, 0.5), (-2.0, 0.5)]:
            found = [float(one) for one in gradient(x, y)]
            assert found == pytest.approx(list(autodiff.gradient(wave, x, y)), rel=1e-12)
        many = jax.vmap(jax.grad(compiled.function))(*np.array(points(5)).T)
        assert many.tolist() == pytest.approx([autodiff.gradient(wave, x, y)[0] for x, y in points(5)], rel=1e-12)


def kepler(mean, eccentricity):
    e = mean if eccentricity < 0.8 else math.pi
    while True:
        step = (e - eccentricity * math.sin(e) - mean) / (1.0 - eccentricity * math.cos(e))
        e -= step
        if abs(step) < 1e-13:
            return e


def test_a_loop_that_depends_on_the_arguments_is_a_loop_of_xla_and_has_derivatives():
    compiled = jit(kepler, 1.0, 0.3, backend="jax")
    numbers = random.Random(2)
    given = [(numbers.uniform(0.1, 6.0), numbers.uniform(0.0, 0.9)) for _ in range(200)]
    found = compiled.map(*np.array(given).T)
    assert compiled.in_python == 0
    assert found.tolist() == pytest.approx([kepler(*point) for point in given], rel=1e-12)
    with jax.enable_x64(True):
        assert "while" in str(jax.make_jaxpr(compiled.function)(1.0, 0.3))
        for point in given[:10]:
            expected = list(autodiff.gradient(kepler, *point))
            assert [float(one) for one in jax.grad(compiled.function, (0, 1))(*point)] == pytest.approx(expected)
            assert [float(one) for one in jax.jacfwd(compiled.function, (0, 1))(*point)] == pytest.approx(expected)


WEIGHTS = [1.0 / (k + 1) for k in range(30)]


def series(x, y):
    total = 0.0
    for k in range(30):
        if total > y:
            total = total * 0.5 + math.sin(x * k)
        else:
            total += x * y * WEIGHTS[k]
    return total


def test_a_loop_with_a_known_number_of_turns_is_a_fori_loop_with_derivatives_of_both_modes():
    compiled = jit(series, 1.0, 0.5, backend="jax")
    given = [(1.0, 2.0), (0.3, 0.4), (1.7, -2.0)]
    assert [compiled(*point) for point in given] == pytest.approx([series(*point) for point in given], rel=1e-12)
    with jax.enable_x64(True):
        text = str(jax.make_jaxpr(compiled.function)(1.0, 2.0))
        assert "scan" in text
        assert "while" not in text
        for point in given:
            expected = list(autodiff.gradient(series, *point))
            assert [float(one) for one in jax.grad(compiled.function, (0, 1))(*point)] == pytest.approx(expected)
            assert [float(one) for one in jax.jacfwd(compiled.function, (0, 1))(*point)] == pytest.approx(expected)


def test_a_function_of_jax_is_nan_where_python_has_to_compute():
    compiled = jit(lambda x: math.sqrt(x) if x < 4.0 else 1.0 / x, 1.0, backend="jax")
    with jax.enable_x64(True):
        assert [float(compiled.function(x)) for x in (2.25, -1.0)] == pytest.approx([1.5, math.nan], nan_ok=True)
        assert math.isnan(compiled.function(5.0))
        assert math.isnan(jax.grad(compiled.function)(5.0))
        assert compiled(5.0) == 0.2
        assert float(compiled.function(5.0)) == 0.2


def test_a_function_of_jax_has_64_bits_and_floats():
    compiled = jit(wave, 1.0, 0.5, backend="jax")
    with pytest.raises(CassetteError, match="64-bit numbers of JAX are off"):
        compiled.function(1.0, 0.5)
    with jax.enable_x64(True), pytest.raises(TypeError, match="64-bit floats, not float64, int64"):
        compiled.function(1.0, 2)
    with pytest.raises(ValueError, match="floats as arguments and results"):
        _ = jit(lambda x: x > 1.0, 1.0, backend="jax").function
    with pytest.raises(ValueError, match='only backend="jax"'):
        _ = jit(wave, 1.0, 0.5, backend="python").function
    assert not jax.config.jax_enable_x64


def test_numbers_that_xla_takes_for_zero_are_computed_by_python():
    compiled = jit(lambda x, y: (x * y > 0.0, x / y, x - y), 1.0, 2.0, backend="jax")
    for x, y in ((1e-200, 1e-120), (5e-324, 1.0), (3e-308, 2.9e-308), (1e-300, 1e300), (0.0, 2.0)):
        assert repr(compiled(x, y)) == repr((x * y > 0.0, x / y, x - y))
    assert compiled.in_python == 4


def test_map_takes_arrays_of_every_length():
    compiled = jit(wave, 1.0, 0.5, backend="jax")
    for length in (0, 1, 63, 64, 65, 1000):
        xs = np.linspace(-3.0, 3.0, length)
        assert compiled.map(xs, 0.5).tolist() == pytest.approx([wave(x, 0.5) for x in xs.tolist()], rel=1e-13)


def test_what_jax_cannot_represent_is_refused_with_its_line():
    with pytest.raises(NotRepresentable, match=r"the call of math\.fsum, at .*test_jax\.py:\d+"):
        jit(lambda x: math.fsum([x, x]), 1.0, backend="jax")


def test_a_missing_jax_is_one_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(CassetteError, match=r"needs jax: install cassette_import\[jax\]"):
        jit(wave, 1.0, 0.5, backend="jax")


def test_the_positions_of_a_satellite_have_the_bits_of_python():
    pytest.importorskip("sgp4", reason="sgp4 is in no extra")
    from sgp4.earth_gravity import wgs72
    from sgp4.io import twoline2rv
    from sgp4.propagation import sgp4

    satellite = twoline2rv(
        "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991",
        "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482",
        wgs72,
    )
    numbers = random.Random(4)
    times = [numbers.uniform(0.0, 1440.0) for _ in range(300)]
    with install(["sgp4"]):
        found = jit(sgp4, satellite, unknown("t", 100.0), wgs72, backend="jax").map(np.array(times))
        expected = [sgp4(satellite, time, wgs72) for time in times]
    for place, vector in enumerate(found):
        for axis, column in enumerate(vector):
            assert column.tolist() == [one[place][axis] for one in expected]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (1.0 - x) * -0.5 + 0.0,
        lambda x: 0 + (1.0 - x) * -0.5,
        lambda x: (1.0 - x) * -0.5 - (-0.0),
        lambda x: (1.0 - x) * -0.5 + (-0.0),
        lambda x: sum([(1.0 - x) * -0.5]),
        lambda x: (1.0 - x) * -0.5 + (0.0 if x > 2.0 else 0),
    ],
)
def test_a_zero_that_is_added_gives_the_sign_of_python(function):
    compiled = jit(function, 3.0, backend="jax")
    compiled(1.0)
    assert [repr(compiled(x)) for x in (1.0, 3.0, 0.5)] == [repr(function(x)) for x in (1.0, 3.0, 0.5)]
    assert repr(compiled.map(np.array([1.0]))[0].item()) == repr(function(1.0))
    with jax.enable_x64(True):
        assert float(jax.grad(compiled.function)(1.0)) == 0.5
