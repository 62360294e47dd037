"""Arrays and other objects that a function changes: what is refused, and what the result has."""

import pytest

from cassette_import.contexts.graph import NotRepresentable, graph, unknown

np = pytest.importorskip("numpy")


class Holder:
    def __init__(self, x):
        self.x = x
        self.y = None


ARRAY_OF_THE_MODULE = np.zeros(3)


def adds_to_an_argument(x):
    made = x * 2.0
    np.add(made, 1.0, made)
    return made


def sums_into_an_array(x):
    sums = np.zeros(3)
    x.cumsum(0, None, sums)
    return sums


def replaces_nan_in_place(x):
    np.nan_to_num(x, False)
    return x


def overwrites_an_argument(x):
    return np.median(x, None, None, True)


def fills_in_place(x):
    made = x * 2.0
    made.fill(1.0)
    return made


def without_numbers(x):
    return np.empty(3) * x


def adds_to_a_global_array(x):
    np.add(ARRAY_OF_THE_MODULE, 1.0, ARRAY_OF_THE_MODULE)
    return ARRAY_OF_THE_MODULE * x


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (adds_to_an_argument, "an array is changed in place by numpy.add, at .*\nUse the result"),
        (sums_into_an_array, "an array is changed in place by ndarray.cumsum"),
        (replaces_nan_in_place, "an array is changed in place by numpy.nan_to_num"),
        (overwrites_an_argument, "an array is changed in place by numpy.median"),
        (fills_in_place, r"an array is changed in place by ndarray.fill, at .*\nMake a new array, as `numpy.full_like"),
        (without_numbers, r"left over from elsewhere, at .*\nUse `numpy.zeros\(shape\)`"),
        (adds_to_a_global_array, r"an object that exists outside of the call is changed \(ndarray\)"),
    ],
)
def test_a_function_of_numpy_that_changes_an_array_is_refused(program, message):
    with pytest.raises(NotRepresentable, match=message):
        graph(program, np.ones(3))
    assert ARRAY_OF_THE_MODULE.tolist() == [0.0, 0.0, 0.0]


def test_known_arrays_of_the_call_may_be_changed_by_functions_of_numpy():
    def program(x):
        table = np.arange(3.0)
        product = table * x
        np.add(table, 1.0, table)
        return product, table

    found = graph(program, np.ones(3)).run(np.full(3, 2.0))
    assert [part.tolist() for part in found] == [[0.0, 2.0, 4.0], [1.0, 2.0, 3.0]]


def test_each_run_makes_what_the_function_makes():
    def program(x):
        holder = Holder([1.0, np.zeros(2)])
        holder.y = {2, 3}
        return holder, x

    found = graph(program, 1.0)
    one, _ = found.run(2.0)
    one.y.add(4)
    one.x[1][0] = 9.0
    other, _ = found.run(2.0)
    assert (other.y, other.x[0], other.x[1].tolist()) == ({2, 3}, 1.0, [0.0, 0.0])


def test_known_objects_in_a_result_are_the_objects_themselves():
    holder = Holder(1.0)
    assert graph(lambda holder, x: (holder, x), holder, unknown("x", 1.0)).run(2.0)[0] is holder


def test_a_known_argument_that_is_changed_and_returned_has_its_changes_in_the_result_alone():
    def program(holder, table, x):
        holder.y = 5.0
        table[0] = 7.0
        return holder, table, x

    holder, table = Holder(1.0), np.zeros(2)
    found, changed, _ = graph(program, holder, table, unknown("x", 1.0)).run(2.0)
    assert (found.y, changed.tolist()) == (5.0, [7.0, 0.0])
    assert (holder.y, table.tolist()) == (None, [0.0, 0.0])
