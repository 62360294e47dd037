"""`Flops`: counts of floating-point operations, beside counts by hand."""

import cmath
import functools
import itertools
import json
import math
import operator
import threading

import numpy
import pytest
from helpers.command_line import cassette

from cassette_import import overdub
from cassette_import.contexts import Flops

XS = [2.0, 3.0, 6.0]


def counted(function, *arguments):
    flops = Flops()
    overdub(flops, function, *arguments)
    assert flops.uncounted == {}
    return flops.counts


# ---- kernels of scalar code


def axpy(a, xs, ys):
    return [a * x + y for x, y in zip(xs, ys, strict=True)]


def dot(xs, ys):
    total = 0.0
    for i in range(len(xs)):
        total += xs[i] * ys[i]
    return total


def dot_of_a_generator(xs, ys):
    return sum(x * y for x, y in zip(xs, ys, strict=True))


def norm(xs):
    return math.sqrt(sum([x * x for x in xs]))


def horner(coefficients, x):
    return functools.reduce(lambda value, coefficient: value * x + coefficient, coefficients)


def matmul(a, b):
    return [[sum(map(operator.mul, row, column)) for column in zip(*b, strict=True)] for row in a]


def newton(x, steps):
    guess = x
    for _ in range(steps):
        guess = (guess + x / guess) / 2
    return guess


def heat(u, r, steps):
    for _ in range(steps):
        u = [u[0], *(u[i] + r * (u[i - 1] - 2 * u[i] + u[i + 1]) for i in range(1, len(u) - 1)), u[-1]]
    return u


def trapezoid(f, a, b, n):
    h = (b - a) / n
    return h * (0.5 * (f(a) + f(b)) + sum(f(a + k * h) for k in range(1, n)))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def triangular_solve(rows, right):
    found = []
    for i, row in enumerate(rows):
        value = right[i]
        for j in range(i):
            value -= row[j] * found[j]
        found.append(value / row[i])
    return found


def mandelbrot(c, steps):
    z = 0j
    for _ in range(steps):
        z = z * z + c
    return abs(z)


def fourier(xs):
    n = len(xs)
    return [sum(x * cmath.exp(-2j * math.pi * k * i / n) for i, x in enumerate(xs)) for k in range(n)]


def haversine(a, b):
    (lat1, lon1), (lat2, lon2) = (map(math.radians, point) for point in (a, b))
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0 * math.asin(math.sqrt(h))


def softmax(xs):
    powers = [math.exp(x) for x in xs]
    total = math.fsum(powers)
    return [power / total for power in powers]


def geometric_mean(xs):
    return math.prod(xs) ** (1 / len(xs))


def running_totals(xs):
    return list(itertools.accumulate(xs, operator.add))


def distances(points):
    return [math.dist(a, b) for a, b in itertools.combinations(points, 2)] + [math.hypot(*points[0])]


def rounding(x):
    return round(x), int(x), math.floor(x), x < 1, x == 2.5, max(x, 1.0), f"{x:.2f}", float(x), str(x), +x, -x, abs(x)


def integers(n):
    return sum(k * k for k in range(n)) // 3 + n**2 - (n << 2)


@pytest.mark.parametrize(
    ("kernel", "arguments", "counts"),
    [
        (axpy, (2.0, XS, XS), {"mul": 3, "add": 3}),
        (dot, (XS, XS), {"mul": 3, "add": 3}),
        (dot_of_a_generator, (XS, XS), {"mul": 3, "add": 2}),
        (norm, (XS,), {"mul": 3, "add": 2, "sqrt": 1}),
        (horner, ([1.0, 2.0, 3.0, 4.0], 0.5), {"mul": 3, "add": 3}),
        (matmul, ([[1.0, 2.0]] * 2, [[3.0, 4.0, 5.0]] * 2), {"mul": 12, "add": 6}),
        (newton, (2.0, 5), {"truediv": 10, "add": 5}),
        (heat, ([0.0, 1.0, 2.0, 4.0, 8.0], 0.25, 2), {"mul": 12, "add": 12, "sub": 6}),
        (trapezoid, (lambda x: x * x, 0.0, 1.0, 4), {"mul": 10, "add": 7, "sub": 1, "truediv": 1}),
        (cross, (XS, [1.0, 2.0, 4.0]), {"mul": 6, "sub": 3}),
        (triangular_solve, ([[2.0], [1.0, 2.0], [1.0, 1.0, 2.0]], XS), {"mul": 3, "sub": 3, "truediv": 3}),
        (mandelbrot, (0.1 + 0.2j, 3), {"mul": 14, "add": 10, "sub": 3, "sqrt": 1}),
        (haversine, ((52.5, 13.4), (48.1, 11.6)), {
            "mul": 8, "sub": 2, "truediv": 2, "sin": 2, "pow": 2, "cos": 2, "add": 1, "sqrt": 1, "asin": 1,
        }),
        (softmax, (XS,), {"exp": 3, "truediv": 3, "add": 2}),
        (geometric_mean, (XS,), {"mul": 2, "truediv": 1, "pow": 1}),
        (running_totals, (XS,), {"add": 2}),
        (distances, ([(0.0, 1.0), (2.0, 3.0)],), {"mul": 4, "sub": 2, "add": 2, "sqrt": 2}),
        (rounding, (2.5,), {"neg": 1, "abs": 1}),
        (integers, (10,), {}),
    ],
)  # fmt: skip
def test_the_counts_of_a_kernel_are_those_by_hand(kernel, arguments, counts):
    assert counted(kernel, *arguments) == counts


def test_a_function_of_complex_numbers_is_an_operation_of_its_own():
    assert counted(fourier, XS[:2])["complex exp"] == 4


# ---- arrays


A = numpy.arange(1.0, 13.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("kernel", "counts"),
    [
        (lambda: A * 2 + A, {"mul": 12, "add": 12}),
        (lambda: A @ A.T, {"mul": 36, "add": 27}),
        (lambda: numpy.dot(A[0], A[1]), {"mul": 4, "add": 3}),
        (lambda: A.dot(A[0]), {"mul": 12, "add": 9}),
        (lambda: numpy.sqrt(A).sum(), {"sqrt": 12, "add": 11}),
        (lambda: numpy.sum(A, axis=0), {"add": 8}),
        (lambda: A.mean(axis=1), {"add": 9, "truediv": 3}),
        (lambda: numpy.std(A), {"add": 22, "truediv": 2, "sub": 12, "mul": 12, "sqrt": 1}),
        (lambda: numpy.add.reduce(A, axis=0), {"add": 8}),
        (lambda: numpy.add.accumulate(A, axis=1), {"add": 9}),
        (lambda: numpy.add.reduce(A[:, :1], axis=(1,)), {"add": 0}),
        (lambda: numpy.dot(A[0], 2.0), {"mul": 4}),
        (lambda: numpy.cumsum(A), {"add": 11}),
        (lambda: numpy.multiply.outer(A[0], A[0]), {"mul": 16}),
        (lambda: numpy.linalg.norm(A), {"mul": 12, "add": 11, "sqrt": 1}),
        (lambda: numpy.hypot(A, A), {"mul": 24, "add": 12, "sqrt": 12}),
        (lambda: numpy.exp(A, where=A > 6, out=A.copy()), {"exp": 6}),
        (lambda: numpy.arctan2(A, A), {"atan2": 12}),
        (lambda: numpy.trace(A), {"add": 2}),
        (lambda: A * 1j, {"mul": 48, "add": 12, "sub": 12}),
        (lambda: numpy.matmul(A, A.T), {"mul": 36, "add": 27}),
        (lambda: A.sum(where=A > 6), {"add": 5}),
        (lambda: A.mean(where=A > 6), {"add": 5, "truediv": 1}),
        (lambda: numpy.diff(A[0], 2), {"sub": 5}),
        (lambda: numpy.add.at(A.copy(), ([0, 0, 1], [0, 0, 1]), 2.0), {"add": 3}),
        (lambda: numpy.where(A > 3, A, 0.0).reshape(-1).max(), {}),
        (lambda: numpy.arange(5) + 1, {}),
        (lambda: numpy.float32(1.5) * numpy.float32(2), {"mul": 1}),
    ],
)
def test_operations_on_arrays_count_by_element(kernel, counts):
    assert counted(kernel) == counts


def in_place(array):
    array += 1.0
    array *= array
    return array


def test_operations_in_place_count():
    assert counted(in_place, A.copy()) == {"add": 12, "mul": 12}


def test_a_function_of_numpy_without_a_rule_is_named():
    flops = Flops()
    overdub(flops, lambda: numpy.linalg.solve(numpy.eye(2), numpy.ones(2)))
    assert flops.counts == {}
    assert flops.uncounted == {"numpy.solve": 1}
    assert "not counted: the operations in 1 call of numpy.solve, for which no rule is known" in flops.summary()


# ---- functions


def test_a_python_function_that_is_not_overdubbed_is_named():
    import statistics

    flops = Flops()
    overdub(flops, lambda: statistics.linear_regression([1.0, 2.0], [3.0, 5.0])[0])
    assert list(flops.uncounted) == ["statistics.linear_regression"]


def outer(xs):
    return norm(xs) + norm(xs)


def test_operations_belong_to_the_function_that_does_them():
    flops = Flops()
    overdub(flops, outer, XS)
    assert flops.by_function == {
        f"{__name__}.norm": {"mul": 6, "add": 4, "sqrt": 2},
        f"{__name__}.outer": {"add": 1},
    }


class Vector:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Vector(self.x + other.x)


def test_an_operator_of_the_program_counts_what_it_does():
    assert counted(lambda: Vector(1.0) + Vector(2.0)) == {"add": 1}


def test_callbacks_of_leaves_count():
    assert counted(lambda: sorted(map(math.sqrt, XS), key=math.exp)) == {"sqrt": 3, "exp": 3}


@pytest.mark.parametrize("arguments", [(), (None,), (operator.add,)])
def test_accumulate_counts_an_addition_for_each_step(arguments):
    assert counted(lambda: list(itertools.accumulate(XS, *arguments))) == {"add": 2}
    assert counted(lambda: list(itertools.accumulate(XS, *arguments, initial=1.0))) == {"add": 3}


@pytest.mark.skipif(not hasattr(numpy, "vecdot"), reason="before NumPy 2")
def test_a_ufunc_of_vectors_counts_as_products_or_is_named():
    assert counted(lambda: numpy.vecdot(A, A)) == {"mul": 12, "add": 9}
    flops = Flops()
    overdub(flops, lambda: numpy.vecdot(A, A, axis=0))
    assert (flops.counts, flops.uncounted) == ({}, {"numpy.vecdot": 1})


def test_a_generator_that_sum_consumes_may_raise():
    def failing():
        yield 1.5
        raise LookupError("no more")

    flops = Flops()
    with pytest.raises(LookupError, match="no more"):
        overdub(flops, lambda: sum(failing()))
    assert overdub(flops, sum, iter(XS)) == 11.0


def test_threads_count_into_one_result():
    def work():
        return [x * x for x in XS]

    def start():
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert counted(start) == {"mul": 9}


def test_the_command_line_prints_and_writes_the_counts(tmp_path):
    (tmp_path / "program.py").write_text("print(sum(x * 0.5 for x in (1.0, 2.0)))\n")
    result = cassette("run", "-c", "flops", "-o", "flops.json", "program.py", folder=tmp_path)
    assert result.stdout == "1.5\n"
    assert json.loads((tmp_path / "flops.json").read_text())["counts"] == {"mul": 2, "add": 1}
    result = cassette("run", "-c", "flops", "program.py", folder=tmp_path)
    assert "flops: 3 operations in 1 function" in result.stdout + result.stderr


def test_a_limit_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="limit is a number of functions, not 'many'"):
        Flops(limit="many")
