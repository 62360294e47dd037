"""Programs with branches and loops, recorded from a few runs: their kernel has Python's results, or asks Python.

Python runs the kernels here, so that no compiler rounds. `test_jit` and `test_jax` compile them.
"""

import math
import random

import pytest

from cassette_import.contexts.backends.jitted import Explorer
from cassette_import.contexts.backends.kernel import KERNEL, FlowKernel, leaves
from cassette_import.contexts.graph import NotRepresentable, inline
from cassette_import.contexts.graph.nodes import Node, evaluated


class Box:
    def __init__(self, value):
        self.value = value

    def push(self, x):
        self.value += x


def kepler(x, y):
    eccentricity = abs(y) / 7.0
    e = x if eccentricity < 0.8 else math.pi
    for _ in range(50):
        step = (e - eccentricity * math.sin(e) - x) / (1.0 - eccentricity * math.cos(e))
        e = e - step
        if abs(step) < 1e-14:
            break
    return e


def swapped_in_a_loop(x, y):
    a, b = x, y
    for _ in range(7):
        if a < b:
            a, b = b, a
        else:
            a -= 0.5
        if b < -3:
            break
    return a, b


def correlated(x, y):
    if x > 0:
        z = y * 2
    t = 1.0
    if x > 0:
        t += z
    return t


def returns_from_nested_loops(x, y):
    total = 0.0
    for i in range(5):
        j = 0
        while j < 5:
            if x * i > y + j:
                break
            total += i * j
            if total > 12:
                return total, -1.0
            j += 1
        if total > y + 8:
            continue
        total += 1
    return total, x


def tuples(x, y):
    pair = x, y
    while pair[0] > 0:
        pair = (pair[0] - 1.0, pair[1] + pair[0])
    return pair


def recursion(x, y):
    def f(n, v):
        if n == 0:
            return v
        return f(n - 1, v - 1.0) if v > 0 else f(n - 1, v + y)

    return f(6, x)


def scratch_list(x, y):
    c = [0.0] * 3
    k = 0
    while k < abs(y):
        c[0] = x * k
        if x > 0.5:
            c[1] = c[0] + x
        else:
            c[2] = c[1] * x
        k += 1
    return c[0] + c[1] + c[2]


def object_in_a_loop(x, y):
    box = Box(x)
    while box.value < y:
        box.push(1.0)
        if box.value > 3:
            box.push(0.25)
    return box.value


def operators(x, y):
    return x and y, x or y, (x > 0 and y > 0), (x < 1.5 <= y), not x


def types_of_the_first_turn(x, y):
    z = 1
    k = 0
    while k < 5 and x > z:
        z = x * 0.5
        x = x - 1.0
        k += 1
    return z * 1.0, x, k


def aliases(x, y):
    a = [x, y]
    b = a
    if x > y:
        b = [y, x]
    b[0] = 5.0
    return a[0] + b[1]


def objects_that_differ(x, y):
    p = q = Box(x)
    if x > 0:
        q = Box(y)
    q.value += 1.0
    if y > 0:
        p.value *= 2.0
    return p.value, q.value


def integer_or_float(x, y):
    z = 0
    if x > 0:
        z = y
    return z + 1 if y > 0 else x


def none_or_number(x, y):
    z = None
    if x > 0:
        z = y
    if y > 0:
        return -1.0 if z is None else z
    return 0.5


def none_before_a_loop(x, y):
    before = None
    while x > 0:
        if before is not None and before < y:
            break
        before = x
        x -= 1.0
    return x


def unbound_on_one_way(x, y):
    if x > 0:
        z = y
    if y > 1:
        return z
    return 0.0


def objects_made_in_a_loop(x, y):
    box = Box(x)
    for _ in range(20):
        other = Box(box.value)
        other.value -= y
        if other.value < 0:
            return box.value
        box = other
    return -box.value


def growing_list(x, y):
    xs = [x]
    while xs[-1] < y:
        xs.append(xs[-1] + 1.0)
    return len(xs)


def caught(x, y):
    try:
        if x > 1:
            raise ValueError
        return 1 / y
    except (ValueError, ZeroDivisionError):
        return -7.0


WEIGHTS = tuple(math.sin(k) for k in range(24))
DAYS = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]


def known_number_of_turns(x, y):
    total = 0.0
    for k in range(40):
        if total > y:
            total = total * 0.5 + k % 3
        else:
            total += x / (k + 1)
    return total


def nested_known_numbers_of_turns(x, y):
    total = 0.0
    for i in range(20):
        for j in range(i, 40, 2):
            total += x * i - j / (y * y + 1.0)
    return total, i, j


def known_turns_with_jumps(x, y):
    total = 0.0
    for k in range(30):
        if abs(x) < k * 0.1:
            continue
        total += y
        if total > 9.0:
            break
    return total, k


def turns_over_a_table(x, y):
    total = 0.0
    for weight in WEIGHTS:
        total = total * x + weight
        if total > 50.0:
            return y
    return total


def items_of_tables(x, y):
    month = max(1, min(12, int(abs(x) + abs(y))))
    return DAYS[month - 1], WEIGHTS[-month], DAYS[x > 0]


def search_in_a_table(x, y):
    low, high = 0, len(WEIGHTS)
    while low < high:
        middle = (low + high) // 2
        if x < WEIGHTS[middle] + middle:
            high = middle
        else:
            low = middle + 1
    return low


def known_turns_that_collect(x, y):
    found = []
    for k in range(20):
        found.append(x * k)
    return found[3] + found[-1]


def known_turns_that_pick_objects(x, y):
    boxes = [Box(x * k) for k in range(18)]
    for k in range(18):
        boxes[k].push(y)
    return boxes[5].value + boxes[17].value


def known_index_after_turns(x, y):
    count = 0
    for _ in range(20):
        count += 1
        x = x * 0.5 + y
    return {count: x}[20], WEIGHTS[count]


def large_integers_of_known_turns(x, y):
    factor, total = 1, 0.0
    for k in range(1, 26):
        factor *= k
        total += x / factor
    return total


def known_turns_over_a_list_that_changes(x, y):
    numbers = [float(k) for k in range(20)]
    total = 0.0
    for number in numbers:
        numbers[19] = x
        total += number * y
    return total


def texts_of_known_turns(x, y):
    total = 0.0
    for k in range(20):
        total += x if f"k{k}" == "k7" else y
    return total


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return x * self.scale


SCALED = Scaled(2.5)


def callable_objects(x, y):
    return SCALED(x) if y > 0 else SCALED(y)


def known_loops_with_an_else(x, y):
    found = x
    for k in (3, 5, 7):
        found += y
        if k == 5:
            break
    else:
        found = max(found, -1e9)  # seldom another number, and never run
        found += 100.0
    turns = 0
    while True:
        turns += 1
        if turns > 2:
            break
    else:
        found += 1000.0
    for k in range(2):
        found += k
    else:
        found *= 0.5
    while turns < 6:
        turns += 1
    else:
        found -= 0.25
    return found


def returns_from_a_loop_of_unknown_length(x, y):
    for k in range(int(abs(x))):
        if k * 2.0 > abs(y):
            return y
    return x


WHOLE = [
    known_loops_with_an_else, returns_from_a_loop_of_unknown_length,
    known_number_of_turns, nested_known_numbers_of_turns, known_turns_with_jumps, turns_over_a_table, items_of_tables,
    search_in_a_table, known_turns_that_collect, known_turns_that_pick_objects, known_index_after_turns,
    large_integers_of_known_turns, known_turns_over_a_list_that_changes, texts_of_known_turns, callable_objects,
    kepler, swapped_in_a_loop, correlated, returns_from_nested_loops, tuples, recursion, scratch_list, object_in_a_loop,
    operators,
]  # fmt: skip
"""Programs of which no point is left for Python."""
PARTLY = [
    types_of_the_first_turn, aliases, objects_that_differ, integer_or_float, none_or_number, none_before_a_loop,
    unbound_on_one_way, objects_made_in_a_loop, growing_list, caught,
]  # fmt: skip
"""Programs of which ways differ in more than numbers."""


def points(count):
    numbers = random.Random(3)
    return [
        (
            numbers.choice([0.0, -0.0, 1.0, numbers.uniform(-5, 5), numbers.uniform(-1, 8)]),
            numbers.choice([0.0, numbers.uniform(-5, 5), numbers.uniform(0, 6)]),
        )
        for _ in range(count)
    ]


def outcome(f, *args):
    try:
        return repr(f(*args))
    except Exception as error:
        return repr(error)


def results(f, given):
    """The result of the kernel at each point; None where Python has to compute it."""
    explorer = Explorer(inline(f, *given[0]), FlowKernel)
    explorer.explore([(point, point) for point in given])
    names = {}
    exec(explorer.kernel.source, names)
    kernel, template = explorer.kernel, explorer.kernel.traces[0].result
    for point in given:
        try:
            path, *numbers = names[KERNEL](*point)
        except ArithmeticError:
            path = -1
        if path < 0:
            yield None
            continue
        floats, integers = iter(numbers), iter(numbers[kernel.floats :])
        made = [next(floats) if kind is float else kind(next(integers)) for kind in kernel.kinds[0]]
        pairs = zip(leaves(template), made, strict=True)
        yield repr(evaluated(template, {leaf.number: number for leaf, number in pairs if isinstance(leaf, Node)}))


@pytest.mark.parametrize("f", WHOLE)
def test_a_flow_has_the_results_of_the_function(f):
    given = points(150)
    assert list(results(f, given)) == [repr(f(*point)) for point in given]


@pytest.mark.parametrize("f", PARTLY)
def test_a_flow_leaves_to_python_what_it_cannot_represent(f):
    given = points(150)
    try:
        found = list(results(f, given))
    except NotRepresentable:
        return
    for point, result in zip(given, found, strict=True):
        assert result in (None, outcome(f, *point)), point


@pytest.mark.parametrize("flag", [True, False])
def test_a_pattern_of_a_truth_value_compares_by_identity(flag):
    def signed(x, y):
        match (flag, 1):
            case (True, _):
                return x + y
            case (False, _):
                return x - y
        return x

    given = points(3)
    assert list(results(signed, given)) == [repr(signed(*point)) for point in given]


def test_few_runs_are_enough_for_many_paths():
    def bits(x):
        total = 0
        for k in range(12):
            x = x * 2.0
            if x >= 1.0:
                total += 2**k
                x -= 1.0
        return total

    numbers = random.Random(1)
    given = [(numbers.random(),) for _ in range(100)]
    explorer = Explorer(inline(bits, 0.3), FlowKernel)
    explorer.explore([(point, point) for point in given])
    names = {}
    exec(explorer.kernel.source, names)
    assert [names[KERNEL](*point)[1] for point in given] == [bits(*point) for point in given]
    assert len(explorer.flow.points) <= 13


def test_known_arguments_are_as_before_after_a_run():
    from cassette_import.contexts.graph import residual, unknown

    def count(box, x):
        while box.value < x:
            box.push(1.0)
        return box.value

    box = Box(0.5)
    explorer = Explorer(residual(count, box, unknown("x", 3.0)), FlowKernel)
    assert explorer.kernel.has_loops
    assert box.value == 0.5


@pytest.mark.parametrize("f", [known_number_of_turns, nested_known_numbers_of_turns, turns_over_a_table])
def test_long_loops_that_compute_with_the_arguments_stay_loops(f):
    explorer = Explorer(inline(f, 0.5, 1.5), FlowKernel)
    assert explorer.kernel.has_loops
    assert explorer.kernel.steps < 60


def test_an_index_beyond_a_table_is_left_to_python():
    def f(k, x):
        return WEIGHTS[k] * x

    given = [(0, 2.0), (23, 2.0), (-24, 2.0), (24, 2.0), (-25, 2.0)]
    assert list(results(f, given)) == [*(repr(f(*point)) for point in given[:3]), None, None]
