"""An operation whose result nothing uses still raises what it raises in Python, however the function is run."""

import math
import operator

import pytest

from cassette_import.contexts.backends import jit
from cassette_import.contexts.graph import NotRepresentable, graph, inline, residual, unknown

np = pytest.importorskip("numpy")

ONE = {
    "acos": (math.acos, 1.0, 2.0),
    "ceil": (math.ceil, 0.5, math.inf),
    "cosh": (math.cosh, 0.5, 1e4),
    "exp": (math.exp, 0.5, 1e4),
    "floor": (math.floor, 0.5, math.nan),
    "int of float": (int, 0.5, math.nan),
    "log": (math.log, 0.5, 0.0),
    "round": (round, 0.5, math.inf),
    "sin": (math.sin, 0.5, math.inf),
    "sqrt": (math.sqrt, 0.5, -1.0),
    "tan": (math.tan, 0.5, math.inf),
    "trunc": (math.trunc, 0.5, math.nan),
    "float of int": (float, 3, 10**400),
    "factorial": (math.factorial, 3, -1),
    "isqrt": (math.isqrt, 3, -1),
    "str of int": (str, 3, 10**5000),
    "item": ([1.5, 2.5, 3.5].__getitem__, 1, 7),
    "chr": (chr, 65, -1),
    "float of str": (float, "1.5", "one"),
    "int of str": (int, "15", "one"),
    "ord": (ord, "a", "ab"),
    "encode": (str.encode, "a", "\ud800"),
}
TWO = {
    "truediv": (operator.truediv, (1.0, 2.0), (1.0, 0.0)),
    "floordiv": (operator.floordiv, (1.0, 2.0), (1.0, 0.0)),
    "mod": (operator.mod, (1.0, 2.0), (1.0, 0.0)),
    "pow": (operator.pow, (2.0, 2.0), (0.0, -1.0)),
    "math.fmod": (math.fmod, (1.0, 2.0), (1.0, 0.0)),
    "math.pow": (math.pow, (2.0, 2.0), (1e200, 2.0)),
    "math.remainder": (math.remainder, (1.0, 2.0), (1.0, 0.0)),
    "divmod": (divmod, (1.0, 2.0), (1.0, 0.0)),
    "integer floordiv": (operator.floordiv, (1, 2), (1, 0)),
    "integer mod": (operator.mod, (1, 2), (1, 0)),
    "lshift": (operator.lshift, (1, 2), (1, -1)),
    "rshift": (operator.rshift, (1, 2), (1, -1)),
    "float and integer": (operator.add, (1.0, 2), (1.0, 10**400)),
    "math.comb": (math.comb, (4, 2), (4, -1)),
    "math.ldexp": (math.ldexp, (1.0, 2), (1.0, 10**4)),
    "str.index": (str.index, ("abc", "b"), ("abc", "d")),
    "str.split": (str.split, ("abc", "b"), ("abc", "")),
}
ROWS = [
    *(pytest.param(f, (one, one), (other, one), 1, id=name) for name, (f, one, other) in ONE.items()),
    *(pytest.param(f, one, other, 2, id=name) for name, (f, one, other) in TWO.items()),
]
WAYS = {
    "run": lambda f, one: graph(f, *one).run,
    "inline": lambda f, one: inline(f, *one),
    "residual": lambda f, one: residual(f, unknown("x", one[0]), unknown("y", one[1])),
    **{
        backend: lambda f, one, backend=backend: jit(f, unknown("x", one[0]), unknown("y", one[1]), backend=backend)
        for backend in ("python", "numba", "jax")
    },
}


def outcome(f, arguments):
    try:
        return f(*arguments)
    except Exception as error:
        return type(error), str(error)


def discards(operation, count):
    def alone(x, y):
        operation(*(x, y)[:count])
        return y

    def before_a_branch(x, y):
        operation(*(x, y)[:count])
        return y if x == y else x

    def read_by_unused(x, y):
        read = operation(*(x, y)[:count])
        return [y, read == 1][0]

    def chosen(one, x, y):
        return one if x == y else y

    def used_on_one_way(x, y):
        return chosen(operation(*(x, y)[:count]), x, y)

    return [alone, before_a_branch, read_by_unused, used_on_one_way]


def made(way, f, example):
    """The function as this way runs it. `jit` may refuse: it takes numbers only."""
    if way in ("numba", "jax"):
        pytest.importorskip(way)
    return WAYS[way](f, example)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("operation", "example", "arguments", "count"), ROWS)
def test_an_unused_operation_raises_as_in_python(operation, example, arguments, count, way):
    functions = discards(operation, count)
    for f in functions[::3] if way in ("numba", "jax") else functions:
        expected = outcome(f, arguments)
        assert isinstance(expected[0], type), "the row must raise"
        try:
            found = made(way, f, example)
        except NotRepresentable:
            continue
        assert outcome(found, example) == f(*example)
        assert outcome(found, arguments) == expected, f.__name__


def loop(x, y):
    total, count = 0.0, 0
    while count < 20:
        math.fmod(x + count, y)
        total += y
        count += 1
    return total


@pytest.mark.parametrize("way", WAYS)
def test_an_unused_operation_of_a_loop_raises_as_in_python(way):
    found = made(way, loop, (1.0, 2.0))
    assert found(1.0, 2.0) == 40.0
    assert outcome(found, (1.0, 0.0)) == outcome(loop, (1.0, 0.0))


def test_an_unused_operation_that_never_raises_is_left_out():
    def f(x, y):
        unused = math.fabs(x * 3 - y)
        math.copysign(unused, y) > -unused
        return x

    assert "fabs" not in inline(f, 1.0, 2.0).source
    assert "3" not in inline(f, 1.0, 2.0).source


def test_what_only_an_unused_operation_reads_is_left_out_once():
    def f(x, y):
        for _ in range(60):
            y = y * y + y
        return x

    assert len(inline(f, 1.0, 2.0).source) < 400


def test_arrays_of_other_shapes_raise_as_in_python():
    def f(x, y):
        x + y
        return x

    one, other = np.zeros(3), np.zeros(4)
    for found in (inline(f, one, one), WAYS["python"](f, (one, one))):
        assert found(other, other) is other
        assert outcome(found, (one, other)) == outcome(f, (one, other))
