"""Arrays that a function makes, and changes in place: each run has what plain Python has, or the change is refused."""

import pytest

from cassette_import.contexts.graph import NotRepresentable, graph, inline, residual, unknown

np = pytest.importorskip("numpy")


class Holder:
    def __init__(self, array):
        self.array = array

    def put(self, place, value):
        self.array[place] = value
        return self.array


def shown(value):
    if isinstance(value, (list, tuple)):
        return [shown(one) for one in value]
    return (str(value.dtype), value.tolist()) if isinstance(value, (np.ndarray, np.generic)) else value


def fills(x, n):
    made = np.zeros(4)
    made[0] = x
    for place in range(1, 4):
        made[place] = made[place - 1] * 2 + n
    return made


def changes_by_operators(x, n):
    made = x * np.ones(3)
    other = made
    made += n
    made[1:] *= x
    return made, other


def fills_without_numbers(x, n):
    made = np.empty((2, 3))
    made[:, 0] = x
    made[0, 1:] = [n, x + n]
    made[1][1:] = made[0][:2]
    return made.sum(), made


def in_containers(x, n):
    made = np.zeros(2)
    held = [made, {"made": made}]
    Holder(made).put(0, x)
    held[1]["made"][1] = n
    return held[0] + 1.0, made


def through_views(x, n):
    made = np.zeros(6).reshape(2, 3)
    first, column, turned = made[0], made[:, 1], made.T
    first[2] = x
    column += n
    turned[0] = [x, n]
    return made, first, column, turned, np.asarray(made)[::-1]


def items_while_it_changes(x, n):
    made = np.zeros(4)
    made[0] = x
    for place, one in enumerate(made[:-1]):
        made[place + 1] = one * n
    total = 0.0
    for row in np.array([made, made]):
        row[0] = n
        total += row.sum()
    return made, total


def overlapping(x, n):
    made = np.arange(4.0) * x
    made[1:] = made[:-1]
    made += made[::-1]
    return made


def at_unknown_places(x, n):
    made = np.zeros(3)
    made[n % 3] = x
    made[made > 1.0] = -1.0
    return made


def results_of_functions(x, n):
    crossed = np.cross(np.array([x, 1.0, 2.0]), np.ones(3))
    crossed /= np.linalg.norm(crossed)
    product = np.einsum("ij,j->i", np.ones((2, 3)) * n, crossed)
    product *= 2.0
    chosen = crossed[crossed > 0.0]
    chosen += x
    crossed[~(crossed > 0.0)] *= 2.0
    return crossed, product, chosen


PROGRAMS = [
    *(fills, changes_by_operators, fills_without_numbers, in_containers, through_views, items_while_it_changes),
    *(overlapping, at_unknown_places, results_of_functions),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_graph_and_a_program_have_the_arrays_of_the_function(program):
    found, compiled = graph(program, 2.0, 3), inline(program, 2.0, 3)
    for values in ((2.0, 3), (-0.5, 7), (1.5, 2)):
        expected = shown(program(*values))
        assert shown(compiled(*values)) == expected
        assert shown(found.run(*values)) == expected


def test_each_result_is_a_new_array():
    compiled = inline(fills, 2.0, 3)
    compiled(1.0, 1)[0] = 9.0
    assert compiled(1.0, 1).tolist() == fills(1.0, 1).tolist()


def test_views_in_a_result_share_the_memory_of_their_array():
    whole, first, *_ = inline(through_views, 2.0, 3)(1.0, 1)
    first[0] = 77.0
    assert whole[0, 0] == 77.0


def test_a_loop_that_fills_an_array_stays_a_loop():
    def program(x):
        made = np.zeros(30)
        made[0] = x
        for place in range(1, 30):
            made[place] = made[place - 1] * 0.5
        return made

    compiled = inline(program, 2.0)
    assert "for " in compiled.source
    assert compiled(3.0).tolist() == program(3.0).tolist()


def test_an_array_that_gets_known_numbers_stays_known():
    def program(x):
        table = np.zeros(3)
        table[1] = 5.0
        return x * table[1]

    assert [node.label for node in graph(program, 2.0).nodes] == ["x", "mul"]


def reads_before_it_is_filled(x):
    made = np.empty(3)
    made[0] = x
    return made[0] + made[1]


def returns_what_is_not_filled(x):
    made = np.empty(2)
    made[0] = x
    return made


def changes_what_may_be_a_view(x):
    made = np.zeros(3)
    other = np.ascontiguousarray(made)
    made[0] = x
    return other


def changes_an_argument(x, row):
    other = np.asarray(row)
    other += x
    return other


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (reads_before_it_is_filled, "numbers in the result of numpy.empty are left over"),
        (returns_what_is_not_filled, "numbers in the result of numpy.empty are left over"),
        (
            changes_what_may_be_a_view,
            r"changed in place, and numpy.ascontiguousarray may refer to it, at .*\nMake a copy",
        ),
    ],
)
def test_what_is_not_certain_is_refused_with_its_line(program, message):
    with pytest.raises(NotRepresentable, match=message) as caught:
        graph(program, 2.0)
    assert f"in {program.__name__}" in str(caught.value) or program is returns_what_is_not_filled


def test_an_argument_is_not_changed():
    row = np.ones(3)
    with pytest.raises(NotRepresentable, match="changed in place"):
        residual(changes_an_argument, unknown("x", 2.0), unknown("row", row))
    assert row.tolist() == [1.0, 1.0, 1.0]


def test_arrays_with_more_axes_take_another_path():
    def program(rows):
        made = rows * 2.0
        first = made[0]
        made[0] = 7.0
        return first + 0.0

    compiled = inline(program, np.ones(3))
    for rows in (np.ones(3), np.ones((2, 3)), np.ones(3, "float32")):
        assert shown(compiled(rows)) == shown(program(rows))
