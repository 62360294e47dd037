"""Loops whose bounds are unknown stay loops in a residual program, and compute what the function computes."""

import ast
import math
import sys

import pytest

from cassette_import.contexts.graph import GuardFailed, inline, residual, unknown


def newton(x):
    rounds, root = 0, x if x > 1.0 else 1.0
    while abs(root * root - x) > 1e-12 * x:
        root = (root + x / root) / 2.0
        rounds += 1
        if rounds > 60:
            return -1.0, rounds
    return root, rounds


def squares(n):
    total = 0
    for number in range(n):
        total += number * number
    return total


def downwards(start, stop):
    total = 1
    for number in range(start, stop, -2):
        total = total * 3 + number
    return total


def is_prime(n):
    if n < 2:
        return False
    for divisor in range(2, n):
        if divisor * divisor > n:
            return True
        if n % divisor == 0:
            return False
    return True


def divisor_of(a, b):
    while b:
        a, b = b, a % b
    return a


def collatz(n):
    steps = 0
    while n != 1 and steps < 200:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return {"steps": steps, "last": [n]}


def clipped(value):
    if value > 5.0:
        return 5.0
    return value if value > -5.0 else -5.0


def rows(n, x):
    total = 0.0
    for row in range(n):
        for column in range(row):
            if (row + column) % 3 == 0:
                continue
            total = total + clipped(x * column)
        if total > 100.0:
            break
    return total


def with_call_in_a_loop(x, limit):
    count = 0
    while clipped(x / limit) > 1.0:
        x = x - clipped(x * 0.5)
        count += 1
    return x, count


def kepler(mean, e):
    anomaly = mean
    for _ in range(50):
        step = (anomaly - e * math.sin(anomaly) - mean) / (1.0 - e * math.cos(anomaly))
        anomaly -= step
        if abs(step) < 1e-12:
            break
    return anomaly


def last_index(n):
    for number in range(n):
        double = number * 2
    return number, double


def leaves_two_loops(n, limit):
    found = -1
    for one in range(n):
        for other in range(n):
            if one * other > limit:
                return one, other
        found = one
    return found, 0


def exception_in_a_loop(n, x):
    total = 0.0
    for number in range(n):
        total += 1.0 / (x - number)
    return total


def unused_division(n, x):
    total = 0.0
    for number in range(n):
        1.0 / (x - number)
        total += x
    return total


def root_in_a_loop(n, x):
    total = x
    for number in range(n):
        total = (total - number) ** 0.5
    return total


class Accumulator:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, x):
        self.total += x
        self.count += 1


def of_an_object(n, x):
    found = Accumulator()
    for _ in range(n):
        found.add(x / (found.count + 1))
    return found.total, found.count


def from_a_table(n):
    table = [0.5, -1.25, 2.0]
    total = 0.0
    for number in range(n):
        total += table[number % 3]
    return total


def swapped(n, a, b):
    for _ in range(n):
        a, b = b, a + b
    return a, b


def several_conditions(x, n):
    steps = 0
    while (x > 1.0 and steps < n) or x < -4.0:
        x = x / 2.0 if steps % 2 else x - 1.0
        steps += 1
    return x, steps


POINTS = {
    newton: [(7.0,), (2.0,), (0.3,), (1e6,), (0.0,), (math.nan,), (-1.0,), (math.inf,)],
    squares: [(5,), (0,), (-3,), (100,), (1,)],
    downwards: [(9, 0), (0, 9), (2**70, 2**70 - 7), (4, -5)],
    is_prime: [(7,), (9,), (97,), (1,), (2,), (91,)],
    divisor_of: [(12, 18), (7, 0), (100, 75), (2**90, 2**80 + 2**20), (0, 0)],
    collatz: [(6,), (1,), (27,), (-3,)],
    rows: [(4, 1.5), (0, 1.0), (9, 2.0), (30, 8.0), (30, -8.0)],
    with_call_in_a_loop: [(50.0, 0.5), (0.0, 3.0), (9.0, 2.0), (1.0, 0.0)],
    kepler: [(1.0, 0.3), (3.0, 0.0), (2.0, 1.0), (0.0, 1.0), (0.1, 3.0)],
    last_index: [(4,), (1,), (0,), (20,)],
    leaves_two_loops: [(5, 7), (3, 100), (0, 0), (12, 50)],
    exception_in_a_loop: [(3, 0.5), (3, 2.0), (5, 0.25), (0, 0.0)],
    unused_division: [(3, 0.5), (3, 2.0), (5, 0.25), (0, 0.0)],
    root_in_a_loop: [(3, 100.0), (1, 4.0), (4, 100.0), (8, 3.0)],
    of_an_object: [(3, 2.0), (0, 2.0), (10, -0.0)],
    from_a_table: [(4,), (0,), (31,)],
    swapped: [(3, 0, 1), (0, 5, 6), (90, 0, 1)],
    several_conditions: [(9.0, 5), (0.5, 5), (-9.0, 3), (100.0, 0)],
}


def outcome(f, *arguments):
    try:
        return repr(f(*arguments))
    except Exception as error:
        return repr(error)


def kinds(program):
    return [type(node) for node in ast.walk(ast.parse(program.source)) if isinstance(node, (ast.For, ast.While))]


@pytest.mark.parametrize("f", POINTS)
def test_a_loop_with_an_unknown_bound_stays_a_loop_and_has_the_results_of_the_function(f):
    program = inline(f, *POINTS[f][0])
    assert kinds(program)
    expected = [outcome(f, *point) for point in POINTS[f]]
    assert [outcome(program, *point) for point in POINTS[f]] == expected
    assert [outcome(program, *point) for point in POINTS[f]] == expected
    assert program.paths <= len(POINTS[f])


@pytest.mark.parametrize("f", POINTS)
def test_a_program_with_loops_needs_nothing_but_the_standard_library(f):
    program = inline(f, *POINTS[f][0])
    for point in POINTS[f]:
        outcome(program, *point)
    names = {}
    exec(program.source, names)
    computed = 0
    for point in POINTS[f]:
        expected = outcome(f, *point)
        if not expected.endswith((")", "'>")) or expected.startswith("("):
            found = outcome(names[f.__name__], *point)
            assert found == expected or found.startswith("LookupError")
            computed += found == expected
    assert computed
    assert "cassette" not in program.source


def test_a_loop_reads_like_the_function():
    program = inline(newton, 7.0)
    program(0.5)
    program(math.nan)
    assert (
        program.source
        == """\
def newton(x):
    if not (type(x) is float):
        raise LookupError('the type of x')
    root, rounds = (x if x > 1.0 else 1.0), 0
    while abs(((root * root) - x)) > (1e-12 * x):
        # MODULE.newton
        root = (root + (x / root)) / 2.0
        rounds = rounds + 1
        if rounds > 60:
            raise LookupError('the truth of gt')
    return (root, rounds)
""".replace("MODULE", __name__)
    )


def test_a_loop_with_a_limit_that_no_run_has_reached_is_a_for_with_another_path_at_its_end():
    program = inline(kepler, 1.0, 0.3)
    assert [line.strip() for line in program.source.splitlines()[7:]] == [
        "anomaly = mean",
        "for _ in range(50):",
        f"# {__name__}.kepler",
        "step = ((anomaly - (e * math.sin(anomaly))) - mean) / (1.0 - (e * math.cos(anomaly)))",
        "anomaly = anomaly - step",
        "if abs(step) < 1e-12:",
        "break",
        "else:",
        "raise LookupError('the truth of lt')",
        "return anomaly",
    ]


def test_one_run_is_enough_for_all_counts_of_iterations():
    program = residual(squares, unknown("n", 3), on_guard="raise")
    assert [program(n) for n in (0, 1, 50)] == [squares(n) for n in (0, 1, 50)]
    assert program.paths == 1
    assert "for number in range(n):" in program.source


def test_a_side_of_a_branch_in_a_loop_that_no_run_has_taken_is_another_path():
    strict = residual(is_prime, unknown("n", 7), on_guard="raise")
    assert strict(5) is True
    with pytest.raises(GuardFailed, match="the truth of eq"):
        strict(9)
    called = residual(is_prime, unknown("n", 7), on_guard="call")
    assert (called(9), called.paths) == (False, 1)


def test_known_arguments_are_folded_away_in_a_loop():
    def value(coefficients, n, x):
        total = 0.0
        for number in range(n):
            for coefficient in coefficients:
                total = total * x + coefficient * number
        return total

    program = residual(value, [1.0, -3.0], unknown("n", 3), unknown("x", 0.5))
    assert [program(n, 0.25) for n in range(6)] == [value([1.0, -3.0], n, 0.25) for n in range(6)]
    assert kinds(program) == [ast.For]
    assert "coefficients" not in program.source


def test_a_function_whose_loop_is_seen_in_a_later_run_gets_a_loop_then():
    def steps(x):
        if x < 0.0:
            return 0
        count = 0
        while x > 1.0:
            x = x / 3.0
            count += 1
        return count

    program = inline(steps, -1.0)
    assert not kinds(program)
    assert [program(x) for x in (5.0, 100.0, 0.5, -2.0)] == [steps(x) for x in (5.0, 100.0, 0.5, -2.0)]
    assert kinds(program) == [ast.While]
    assert program.paths == 2


def test_a_way_with_another_kind_of_result_has_the_result_of_the_function():
    def halved(x):
        count = 0
        while x > 1.0:
            x = x / 2.0
            count += 1
            if count > 9:
                return None
        return x

    program = inline(halved, 5.0)
    points = (5.0, 0.5, 3.0, 1e9, 1e8, 70.0)
    assert [program(x) for x in points] == [halved(x) for x in points]


def test_loops_that_cannot_stay_are_paths():
    def collected(n, x):
        found = []
        for number in range(n):
            found.append(x * number)
        return found

    program = inline(collected, 3, 2.0)
    assert [program(n, 0.5) for n in (3, 0, 5)] == [collected(n, 0.5) for n in (3, 0, 5)]
    assert (kinds(program), program.paths) == ([], 3)


def test_loops_with_known_and_with_unknown_bounds_are_both_loops():
    def both(n, x):
        total = x
        for number in range(20):
            total = total * 0.5 + number
        for number in range(n):
            total = total * x + number
        return total

    program = inline(both, 3, 2.0)
    assert [program(n, 0.5) for n in (3, 0, 50)] == [both(n, 0.5) for n in (3, 0, 50)]
    assert kinds(program) == [ast.For, ast.For]


@pytest.mark.parametrize(("most", "kept"), [(0, []), (10_000, [ast.While])])
def test_loops_are_paths_if_too_much_would_have_to_be_recorded(monkeypatch, most, kept):
    monkeypatch.setattr(sys.modules[residual.__module__], "_MOST_OPERATIONS", most)
    program = residual(collatz, unknown("n", 8))
    assert [program(n) for n in (8, 6, 27)] == [collatz(n) for n in (8, 6, 27)]
    assert kinds(program) == kept


@pytest.mark.parametrize("most", range(100, 240, 10))
def test_results_are_the_same_wherever_recording_ends(monkeypatch, most):
    monkeypatch.setattr(sys.modules[residual.__module__], "_MOST_OPERATIONS", most)
    program = residual(collatz, unknown("n", 8))
    assert [program(n) for n in (8, 6, 27, 8)] == [collatz(n) for n in (8, 6, 27, 8)]


def test_a_program_with_loops_compiles_with_numba():
    numba = pytest.importorskip("numba", reason="numba is in the extra `backends`")
    points = [0.5, 2.0, 3.0, 1e6]
    program = inline(newton, 2.0)
    expected = [program(x) for x in points]  # the ways of all points are in the program then
    module = ast.parse(program.source)
    function = module.body[-1]
    function.body = [line for line in function.body if "type(" not in ast.unparse(line)]  # numba knows the types
    namespace = {}
    exec(ast.unparse(module), namespace)
    compiled = numba.njit(namespace[function.name])
    assert [compiled(x) for x in points] == expected == [newton(x) for x in points]
