"""Arrays that a function makes and changes in place, compiled by JAX: the results and derivatives of plain Python."""

import pytest

from cassette_import.contexts import autodiff
from cassette_import.contexts.backends import jit
from cassette_import.contexts.graph import NotRepresentable

jax = pytest.importorskip("jax")
np = pytest.importorskip("numpy")

ROW = np.array([0.5, -1.25, 2.0])


def fills(x):
    made = np.zeros(4)
    made[0] = x[0]
    for place in range(1, 4):
        made[place] = made[place - 1] * 0.5 + x[place - 1]
    return (made * made).sum()


def long_loop(x):
    made = np.zeros(40)
    made[0] = x[0]
    for place in range(1, 40):
        made[place] = np.sin(made[place - 1]) + x[1]
        if made[place] < -1.0:
            made[place] *= 0.5
    return made.sum()


def through_other_names(x):
    made = x * 2.0
    other, held = made, [made]
    other += x[0]
    held[0][1:] *= x[1]
    return (made * np.arange(3.0)).sum()


def rows_and_columns(x):
    made = np.empty((2, 3))
    first, column = made[0], made.T[1]
    first[:] = x
    made[1] = made[0][::-1] * x[0]
    column += x[2]
    made[0][2] = made[1, 0] * made[0, 1]
    return (made * made).sum() + first.sum()


def on_branches(x):
    made = np.zeros(3)
    made[:] = x
    if made.sum() > 1.0:
        made[0] = x[1] * x[2]
    else:
        made -= x[0]
        made = made * 2.0
    return (made**2).sum()


def until_it_is_small(x):
    made = x + 1.0
    rounds = 0
    while np.abs(made).sum() > 0.5 and rounds < 50:
        made[rounds % 3] *= 0.4
        rounds += 1
    return (made * x).sum()


PROGRAMS = [fills, long_loop, through_other_names, rows_and_columns, on_branches, until_it_is_small]
POINTS = [ROW, ROW[::-1].copy(), np.array([-0.5, -0.25, 0.125]), np.array([3.0, 1.0, 0.5])]


@pytest.mark.parametrize("program", PROGRAMS)
def test_compiled_arrays_have_the_numbers_of_the_function(program):
    compiled = jit(program, ROW, backend="jax")
    for point in POINTS:
        assert abs(compiled(point) - program(point)) < 1e-12 * max(1.0, abs(program(point)))


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_gradient_of_changed_arrays_is_that_of_autodiff(program):
    compiled = jit(program, ROW, backend="jax")
    for point in POINTS:
        compiled(point)
        expected = autodiff.gradient(program, point)
        with jax.enable_x64(True):
            found = jax.grad(compiled.function)(point)
        np.testing.assert_allclose(found, np.asarray(expected).reshape(3), rtol=1e-11, atol=1e-13)


def test_an_index_that_has_no_item_raises_the_exception_of_numpy():
    def program(x, place):
        made = np.zeros(3)
        made[place] = x
        return made

    compiled = jit(program, 1.0, 2, backend="jax")
    assert compiled(2.0, -1).tolist() == [0.0, 0.0, 2.0]
    with pytest.raises(IndexError):
        compiled(2.0, 3)


def one_or_the_other(x):
    made, other = np.zeros(3), np.ones(3)
    made[:], other[:] = x, -x
    chosen = made if x[0] > 0 else other
    chosen[0] = 5.0
    return made + other


def integers(x):
    made = np.zeros(3, int)
    made[0] = x[0]
    return made


@pytest.mark.parametrize(
    ("program", "message"),
    [(integers, "changed in place, and gets numbers of another type"), (lambda x: argument(x), "changed in place")],
)
def test_what_jax_cannot_do_with_a_changed_array_is_refused(program, message):
    with pytest.raises(NotRepresentable, match=message):
        jit(program, ROW, backend="jax")


def argument(x):
    x[0] = 1.0
    return x


def test_an_array_that_is_another_one_on_another_way_is_not_changed_by_compiled_code():
    compiled = jit(one_or_the_other, ROW, backend="jax")
    for point in POINTS:
        assert compiled(point).tolist() == one_or_the_other(point).tolist()


def test_a_changed_array_in_an_object_is_joined_after_a_branch():
    class Holder:
        def __init__(self, array):
            self.array = array

    def program(x):
        holder = Holder(np.zeros(2))
        if x > 0.0:
            holder.array[0] = x
        else:
            holder.array[1] = -x
        return holder.array * 2.0

    compiled = jit(program, 1.0, backend="jax")
    for x in (1.0, -2.0, 3.0):
        assert compiled(x).tolist() == program(x).tolist()
