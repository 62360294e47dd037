"""`jit`: compiled functions have the results and exceptions of the unmodified ones, for every kind of number."""

import itertools
import math
import random
import sys

import pytest

from cassette_import import install
from cassette_import.contexts.backends import jit
from cassette_import.contexts.graph import NotRepresentable, unknown
from cassette_import.errors import CassetteError

np = pytest.importorskip("numpy")

COMPILERS = ["numba", "jax"]
BACKENDS = ["python", *COMPILERS]
ODD = [0.0, -0.0, 1.0, -3.75, 1e300, 5e-324, math.inf, -math.inf, math.nan, -7.3, 1 / 3]
ODD_INTEGERS = [0, 1, -7, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**70]


def always_left_from_within(x, y):
    """On the way with the first loop, nothing comes to its end."""
    total = y
    if x > y:
        for k in range(20):
            if x + k > 5.0:
                return x, total, -1.0
        total = 1.0
    rounds = 0.0
    while rounds < 3.0:
        rounds += 1.0
        if y > 100.0:
            return y, total, rounds
    return x, total, rounds


class Gas:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def pressure(self, volume, temperature):
        if volume <= self.b:
            raise ValueError("too dense")
        return 8.314 * temperature / (volume - self.b) - self.a / volume**2


def state(volume, temperature):
    pressure = Gas(0.364, 4.3e-5).pressure(volume, temperature)
    if temperature < 300.0:
        pressure += 1.5
    return {"pressure": pressure, "z": (pressure * volume / (8.314 * temperature), temperature > 350.0)}


def arithmetic(x, y, n):
    if x > y:
        return x % y, x // y, n * 3 - 1, x > n
    return x**y, n // 2 + n % 5, min(x, y), -n


def halvings(x):
    count = 0
    while x > 1.0:
        x /= 2.0
        count += 1
    return count, x


def functions(x, y):
    large = math.exp(x) + math.sqrt(y), math.atan2(x, y), math.hypot(x, y), math.fmod(x, y), math.remainder(x, y)
    return large, math.floor(x), int(y), math.sin(x) * math.cosh(y), math.log(x), math.erf(y), round(y)


def outcome(f, *args):
    try:
        return repr(f(*args))
    except Exception as error:
        return repr(error)


def compiler(backend):
    if backend != "python":
        pytest.importorskip(backend, reason=f"{backend} is not installed")
    return backend


@pytest.mark.parametrize("backend", BACKENDS)
def test_classes_branches_and_containers_are_compiled(backend):
    compiled = jit(state, 1e-3, 310.0, backend=compiler(backend))
    for arguments in ((1e-3, 310.0), (2e-3, 290.0), (5e-4, 400.0)):
        assert compiled(*arguments) == state(*arguments)
    assert compiled.paths == 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_exceptions_are_those_of_the_function(backend):
    compiled = jit(state, 1e-3, 310.0, backend=compiler(backend))
    for arguments in ((1e-6, 310.0), (1e-3, 0.0), (1e-3, "warm"), (1e-3,)):
        expected = outcome(state, *arguments) if len(arguments) == 2 else None
        assert expected in (None, outcome(compiled, *arguments))
    with pytest.raises(TypeError):
        compiled(1e-3)


@pytest.mark.parametrize("backend", COMPILERS)
def test_odd_numbers_have_the_results_of_python(backend):
    compiled = jit(arithmetic, 2.5, 1.5, 7, backend=compiler(backend))
    for x in ODD:
        for y, n in zip(ODD, [*ODD_INTEGERS, 3, -1, 2**61], strict=True):
            assert outcome(compiled, x, y, n) == outcome(arithmetic, x, y, n)
    assert compiled.paths == 2


@pytest.mark.parametrize("backend", COMPILERS)
def test_other_types_than_those_of_the_examples_are_computed_by_python(backend):
    compiled = jit(halvings, 5.0, backend=compiler(backend))
    assert repr(compiled(8)) == repr(halvings(8))
    assert repr(compiled(True)) == repr(halvings(True))
    assert compiled.in_python == 2


@pytest.mark.parametrize("backend", COMPILERS)
def test_mathematical_functions_are_near_those_of_python(backend):
    compiled = jit(functions, 2.5, 1.5, backend=compiler(backend))
    numbers = random.Random(1)
    points = [(numbers.uniform(0.01, 9.0), numbers.uniform(0.01, 9.0)) for _ in range(300)]
    for point in points:
        first, *rest = compiled(*point)
        expected, *others = functions(*point)
        assert [*first, *rest] == pytest.approx([*expected, *others], rel=1e-12, abs=1e-300)
    for point in ((-1.0, 2.0), (1.0, -2.0), (1000.0, 1.0), (math.nan, 1.0), (math.inf, 1.0), (1.0, 0.0), (1e30, 1.0)):
        assert outcome(compiled, *point) == outcome(functions, *point)


@pytest.mark.parametrize("backend", BACKENDS)
def test_map_gives_arrays_with_the_result_of_each_point(backend):
    compiled = jit(halvings, 5.0, backend=compiler(backend))
    xs = np.array([5.0, 0.5, 100.0, 2.0, -1.0, math.nan] * 20)
    count, left = compiled.map(xs)
    assert (count.dtype, left.dtype) == (np.dtype("int64"), np.dtype("float64"))
    assert repr(list(zip(count.tolist(), left.tolist(), strict=True))) == repr([halvings(x) for x in xs.tolist()])
    before = compiled.in_python
    compiled.map(xs)
    assert compiled.in_python == before


@pytest.mark.parametrize("backend", COMPILERS)
def test_a_side_that_few_points_take_is_not_compiled_before_it_pays(backend):
    compiled = jit(lambda x: 1.0 / x if x < 1000.0 else x * 2.0, 5.0, backend=compiler(backend))
    assert compiled(4.0) == 0.25
    before = compiled.compile_time
    assert [compiled(2000.0 + x) for x in range(20)] == [4000.0 + 2 * x for x in range(20)]
    assert (compiled.paths, compiled.in_python, compiled.compile_time) == (2, 20, before)
    compiled._seconds_in_python = before
    assert (compiled(3000.0), compiled.in_python) == (6000.0, 20)
    assert compiled.compile_time > before


@pytest.mark.parametrize("backend", COMPILERS)
def test_map_compiles_again_once_python_takes_as_long_as_the_compiler(backend):
    def f(x):
        return 1.0 / x if x < 1000.0 else x * 2.0

    xs = np.arange(1.0, 3001.0)
    xs[np.arange(0, 3000, 6)] = 7.0  # what is looked at before the first compilation
    rare = int((xs >= 1000.0).sum())
    compiled = jit(f, 5.0, backend=compiler(backend))
    assert compiled.map(xs).tolist() == list(map(f, xs.tolist()))
    assert (compiled.paths, compiled.in_python) == (1, rare)
    compiled._seconds_in_python = math.inf
    assert compiled.map(xs).tolist() == list(map(f, xs.tolist()))
    assert (compiled.paths, compiled.in_python) == (2, rare)


@pytest.mark.parametrize("backend", COMPILERS)
def test_a_loop_that_every_recorded_way_leaves_by_a_return_is_compiled(backend):
    xs, ys = np.array([3.0, 1.0, 7.0, 2.0]), np.array([2.0, 2.0, 2.0, 101.0])
    found = jit(always_left_from_within, 3.0, 2.0, backend=compiler(backend)).map(xs, ys)
    rows = zip(*(column.tolist() for column in found), strict=True)
    assert list(rows) == [always_left_from_within(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]


@pytest.mark.parametrize("backend", COMPILERS)
def test_an_object_that_the_only_recorded_side_has_made_is_used_after_the_branch(backend):
    def made_on_one_side(x, y):
        pair = [x, y]
        if x <= y:
            pair = [y, x * 2.0]
        return pair[0] + pair[1]

    compiled = jit(made_on_one_side, 1.0, 2.0, backend=compiler(backend))
    for point in ((1.0, 2.0), (0.5, 90.0), (2.0, 1.0), (7.0, 200.0)):
        assert compiled(*point) == made_on_one_side(*point)


def test_what_numba_cannot_compile_is_one_clear_error(monkeypatch):
    numba = pytest.importorskip("numba", reason="numba is not installed")
    compiled = jit(lambda x: x * 2.0, 1.0)

    def njit(*arguments, **options):
        def fails(f):
            raise numba.core.errors.UnsupportedError("no")

        return fails

    monkeypatch.setattr(numba, "njit", njit)
    with pytest.raises(NotRepresentable, match='numba cannot compile this program; use backend="python"'):
        compiled(1.0)


def test_map_refuses_results_of_different_structure():
    compiled = jit(lambda x: (x, 1) if x > 0 else x, 1.0, backend="python")
    with pytest.raises(ValueError, match="differ in more than their numbers"):
        compiled.map(np.array([1.0, -1.0]))
    with pytest.raises(TypeError, match="of the type float, as the example"):
        compiled.map(np.array([1, 2]))


@pytest.mark.parametrize("backend", COMPILERS)
def test_known_arguments_are_compiled_away(backend):
    compiled = jit(lambda gas, v, t: gas.pressure(v, t), Gas(0.3, 4e-5), unknown("v", 1e-3), unknown("t", 300.0),
                   backend=compiler(backend))  # fmt: skip
    assert compiled(2e-3, 280.0) == Gas(0.3, 4e-5).pressure(2e-3, 280.0)


def test_numbers_of_numpy_are_refused_with_their_line():
    pytest.importorskip("numba", reason="numba is not installed")
    with pytest.raises(NotRepresentable, match=r"(?s)sin is an array, or a number, of NumPy, at .*np\.sin\(x\)"):
        jit(lambda x: float(np.sin(x)), 1.0)


def test_what_has_no_machine_code_is_refused_with_its_line():
    compiler("numba")
    with pytest.raises(NotRepresentable, match=r"the call of math\.fsum, at .*test_jit\.py:\d+"):
        jit(lambda x: math.fsum([x, x]), 1.0)
    with pytest.raises(NotRepresentable, match=r"the argument name, of the type str"):
        jit(lambda name: name + "!", "tea")
    with pytest.raises(NotRepresentable, match=r"pow of int, .*test_jit\.py:\d+"):
        jit(lambda n: n**3, 2)


@pytest.mark.parametrize("backend", COMPILERS)
def test_sums_of_floats_have_the_bits_of_python(backend):
    def sums(x, y):
        return sum([x, y, 1.0, x * y]), sum(one * x for one in (1e16, 1.0, -1e16, y)), sum([x, -x, y])

    compiled = jit(sums, 1.0, 2.0, backend=compiler(backend))
    numbers = random.Random(1)
    given = [tuple(numbers.uniform(-1, 1) * 10 ** numbers.randint(-10, 16) for _ in "xy") for _ in range(200)]
    for point in [*given, (0.0, -0.0), (-0.0, -0.0), (math.inf, 1.0), (math.inf, -math.inf), (math.nan, 1.0)]:
        assert repr(compiled(*point)) == repr(sums(*point))
    assert compiled.in_python == 0


def test_a_program_of_too_many_operations_is_refused_with_the_line_that_has_most():
    compiler("numba")

    def grid(x):
        total = 0.0
        for row in [[float(i * j) for j in range(70)] for i in range(70)]:
            for item in row:
                total += x * item if type(item) is float else 0.0
        return [total, *(x + k for k in range(3000))][0]

    with pytest.raises(NotRepresentable, match=r"of them at .*test_jit\.py:\d+ in .*grid: (x|total)"):
        jit(grid, 1.0)


def test_the_backend_has_to_be_known():
    with pytest.raises(ValueError, match="backend is one of numba, jax, python, not 'fortran'"):
        jit(halvings, 1.0, backend="fortran")


def test_functions_of_installed_packages_are_compiled():
    compiler("numba")
    pytest.importorskip("geographiclib", reason="geographiclib is in the extra test")
    with install(["geographiclib"]):
        from geographiclib.geomath import Math

        def turn(first, second):
            sine, cosine = Math.sincosd(first)
            return Math.AngDiff(first, second), Math.atan2d(sine, cosine), Math.norm(sine + 2.0, cosine)

        compiled = jit(turn, 40.0, 30.0)
        for point in ((40.0, 30.0), (12.5, 10.25), (-7.0, 3.5)):
            assert repr(compiled(*point)) == repr(turn(*point))


def test_a_missing_numba_is_one_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(CassetteError, match=r"needs numba: install cassette_import\[backends\]"):
        jit(halvings, 1.0)


@pytest.mark.parametrize("backend", COMPILERS)
def test_booleans_and_integers_mix_as_in_python(backend):
    def mixed(truth, n, x):
        if not truth:
            n += True
        if x:
            n -= 4
        return n == 3, truth == (n > 2), abs(n), max(x, 1.5), bool(x), -truth, round(x), math.ceil(x), n / 3

    compiled = jit(mixed, True, 3, 1.0, backend=compiler(backend))
    for truth in (True, False):
        for n, x in itertools.product((0, 3, -9, 2**53 + 1), (0.0, -0.0, 2.5, -0.5, 0.49999999999999994, 1e17)):
            assert repr(compiled(truth, n, x)) == repr(mixed(truth, n, x))
