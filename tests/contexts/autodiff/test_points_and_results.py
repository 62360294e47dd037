"""Points without a derivative, and results without a number: an error, never a derivative of zero."""

import numpy
import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import derivative, gradient, jvp, vjp

INTEGERS = numpy.array([3, 4])
ONES = numpy.ones(2)


def square(v):
    return numpy.sum(v * v * 1.0)


@pytest.mark.parametrize("kind", [int, numpy.int8, numpy.uint16])
@pytest.mark.parametrize(
    "differentiate",
    [
        lambda point: gradient(square, point),
        lambda point: vjp(square, (point,)),
        lambda point: jvp(square, (point,), (ONES,)),
        lambda point: derivative(square, point),
        lambda point: gradient(lambda points: square(points[0]), [point]),
        lambda point: jvp(lambda v, x: square(v) * x, (point, 2.0), (ONES, 1.0)),
    ],
    ids=["gradient", "vjp", "jvp", "derivative", "in a list", "beside a number"],
)
def test_integers_that_an_array_function_makes_of_an_array_of_integers_are_an_error(differentiate, kind):
    with pytest.raises(NotOverdubbable, match="convert them to floats"):
        differentiate(INTEGERS.astype(kind))


def test_integers_that_an_array_function_makes_of_an_integer_are_an_error():
    with pytest.raises(NotOverdubbable):
        derivative(lambda x: float(numpy.array([x, x]).sum()), 3)
    assert derivative(lambda x: float(numpy.array([x, x]).sum()), 3.0) == 2.0


def test_integers_that_are_used_with_floats_have_a_derivative():
    assert gradient(lambda v: numpy.sum(v * 2.5), INTEGERS)[0].tolist() == [2.5, 2.5]


def test_arrays_of_integers_may_be_indices():
    found, nothing = gradient(lambda v, where: numpy.sum(v[where]), ONES, numpy.array([0, 0]))
    assert found.tolist() == [2.0, 0.0]
    assert nothing.tolist() == [0.0, 0.0]
    assert jvp(lambda v, where: numpy.sum(v[where]), (ONES, numpy.array([0, 0])), (ONES, None))[1] == 2.0


@pytest.mark.parametrize("x", [3, numpy.int64(3)])
def test_an_integer_counts_as_the_number_that_it_is(x):
    assert derivative(lambda x: x * x * 1.0, x) == 6.0
    assert gradient(lambda x: x * x * 1.0, x) == (6.0,)


@pytest.mark.parametrize("result", [None, "text", b"text", object(), print, [None], {"a": None}, ("a", ["b"])])
@pytest.mark.parametrize(
    "differentiate",
    [
        lambda f: derivative(f, 3.0),
        lambda f: gradient(f, 3.0),
        lambda f: jvp(f, (3.0,), (1.0,)),
        lambda f: vjp(f, (3.0,)),
    ],
    ids=["derivative", "gradient", "jvp", "vjp"],
)
def test_a_result_without_a_number_is_an_error(differentiate, result):
    with pytest.raises(TypeError, match="no number to differentiate"):
        differentiate(lambda x: result)


def test_the_text_of_a_number_has_no_derivative():
    with pytest.raises(TypeError, match="no number to differentiate"):
        derivative(lambda x: str(x), 3.0)


@pytest.mark.parametrize("result", [True, 1, [1.0, None], [], {}, numpy.ones(2) > 0])
def test_a_result_that_does_not_depend_on_the_point_has_derivative_zero(result):
    found = derivative(lambda x: result, 3.0)
    assert not numpy.any(numpy.asarray(found["a"] if found and isinstance(found, dict) else found))


@pytest.mark.parametrize("point", [None, "text", True, object()])
def test_a_point_that_is_no_number_is_an_error(point):
    with pytest.raises(TypeError, match="is no number"):
        derivative(lambda x: 1.0, point)


def test_vectorize_to_integers_cuts_the_derivative_off():
    assert derivative(lambda x: numpy.vectorize(lambda v: v * 2, otypes=[int])(numpy.array([x]))[0] * 1.0, 3.0) == 0.0
    assert derivative(lambda x: numpy.vectorize(lambda v: v * 2, otypes=[float])(numpy.array([x]))[0], 3.0) == 2.0


def test_apply_over_axes_refuses_results_of_another_shape():
    def program(x):
        return numpy.apply_over_axes(lambda a, axis: numpy.zeros(()) + a.sum(), numpy.ones((2, 2, 2)) * x, [0])

    with pytest.raises(ValueError, match="correct shape"):
        program(1.0)
    with pytest.raises(ValueError, match="correct shape"):
        derivative(program, 1.0)
