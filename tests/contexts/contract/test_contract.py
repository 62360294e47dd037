"""`contract`: what it takes away has no solution, and what it cannot follow is refused."""

import importlib.util
import math
import random
import statistics
import sys

import pytest

pytest.importorskip("flint", reason="contract needs python-flint")

from cassette_import import NotOverdubbable
from cassette_import.contexts.contract import NotContracted, TooManyPaths, contract, solve

UNARY = ["math.sin", "math.cos", "math.exp", "math.atan", "abs", "math.tanh", "math.cbrt", "math.sqrt", "math.log", "-"]
if not hasattr(math, "cbrt"):
    UNARY.remove("math.cbrt")


def random_expression(chance, depth):
    if depth == 0 or chance.random() < 0.1:
        return chance.choice(["x", "y", "x", "y", f"{chance.uniform(-2, 2):.3f}"])
    one, other = random_expression(chance, depth - 1), random_expression(chance, depth - 1)
    kind = chance.randrange(8)
    if kind < 4:
        return f"({one} {'+-*/'[kind]} {other})"
    if kind == 4:
        return f"({one} if {other} < {chance.uniform(-1, 1):.2f} else {random_expression(chance, depth - 1)})"
    if kind == 5:
        return f"{chance.choice(['min', 'max'])}({one}, {other})"
    if kind == 6:
        return f"({one}) ** {chance.choice([2, 3, -1, 4])}"
    return f"{chance.choice(UNARY)}({one})"


SEEDS = range(120)


@pytest.fixture(scope="module")
def random_functions(tmp_path_factory):
    """A module of random functions."""
    file = tmp_path_factory.mktemp("random") / "random_functions.py"
    lines = [f"def f{seed}(x, y):\n    return {random_expression(random.Random(seed), 4)}\n" for seed in SEEDS]
    file.write_text("import math\n" + "\n".join(lines))
    spec = importlib.util.spec_from_file_location("random_functions", file)
    module = sys.modules["random_functions"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["random_functions"]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_solution_is_lost(seed, random_functions):
    f, chance = getattr(random_functions, f"f{seed}"), random.Random(seed)
    box = tuple(sorted((chance.uniform(-3, 3), chance.uniform(-3, 3))) for _ in "xy")
    points = [tuple(chance.uniform(*side) for side in box) for _ in range(5)]
    for point in points:
        try:
            value = f(*point)
        except (ArithmeticError, ValueError):
            continue
        if abs(value) > 1e6:  # the rounding error of the float is too large for the margin
            continue
        margin = 1e-9 * (1 + abs(value))
        found = contract(f, tuple(map(tuple, box)), (value - margin, value + margin), max_paths=500)
        assert found is not None
        assert all(low <= x <= high for x, (low, high) in zip(point, found, strict=True))


def test_each_contraction_is_inside_the_box():
    assert contract(lambda x, y: x + y, ((0, 1), (0, 1)), 1.5) == ((0.5, 1.0), (0.5, 1.0))
    assert contract(lambda x, y: x + y, ((0, 1), (0, 1)), 3) is None
    assert contract(lambda x, y: (x + y, x - y), ((0, 9), (0, 9)), (4, 2)) == ((3.0, 3.0), (1.0, 1.0))


def test_bounds_may_be_infinite():
    ((low, high),) = contract(lambda x: x * x, ((-math.inf, math.inf),), (0, 4))
    assert -2.000001 < low <= -2 < 2 <= high < 2.000001


def test_both_sides_of_a_branch_are_joined():
    f = lambda x: x + 10 if x < 0 else x * x
    ((low, high),) = contract(f, ((-20, 20),), (4, 9))
    assert low == -6.0
    assert 3 <= high < 3.1


def test_conditions_narrow_the_box():
    def f(x, y):
        if x > 2 and y < x - 3:
            return 1.0
        return 0.0

    (x, y) = contract(f, ((0, 5), (0, 9)), 1)
    assert x[0] >= 2.99
    assert y[1] <= 2.01


def test_a_value_may_be_that_of_an_exception_handler():
    def f(x):
        try:
            return math.sqrt(x)
        except ValueError:
            return -1.0

    ((low, high),) = contract(f, ((-4, 4),), -1)
    assert (low, high) == (-4.0, 0.0)


def test_where_the_function_raises_it_has_no_value():
    def f(x):
        if x < 1:
            raise ValueError("too small")
        return x

    assert contract(f, ((0, 3),), (0, 3)) == ((1.0, 3.0),)
    assert contract(f, ((0, 0.5),), (0, 3)) is None
    assert contract(lambda x: 1 / x, ((0, 0),), (0, 3)) is None


def test_a_mistake_in_the_function_is_raised():
    with pytest.raises(NameError):
        contract(lambda x: x + missing, ((0, 3),), 1)  # noqa: F821
    with pytest.raises(TypeError):
        contract(lambda x: x + "1", ((0, 3),), 1)
    with pytest.raises(TypeError, match="must return a number"):
        contract(lambda x: None, ((0, 3),), 1)


def test_functions_of_the_standard_library_are_followed():
    found = contract(lambda x, y: statistics.fmean([x, y, 3.0]), ((0, 9), (0, 9)), 2)
    assert all(low == 0 and 3 <= high < 3.001 for low, high in found)
    (x, y) = contract(lambda x, y: max(sum([x, y]), math.hypot(x, y)), ((-9, 9), (4, 9)), 4)
    assert -4 <= x[0] <= x[1] < 0.1
    assert y[0] == 4


INTEGERS = [math.floor, math.ceil, math.trunc, int, round]


@pytest.mark.parametrize("function", INTEGERS, ids=lambda function: function.__name__)
def test_roundings_are_decided_by_paths(function):
    for n in (-2, -1, 0, 1, 2):
        ((low, high),) = contract(lambda x: function(x), ((-4, 4),), n)
        inside = [k / 16 for k in range(-64, 65) if function(k / 16) == n]
        assert low <= inside[0] <= inside[-1] <= high
        assert high - low <= 2


TWO = {
    "mod": lambda x, y: x % (abs(y) + 0.5), "fmod": lambda x, y: math.fmod(x, y - 4),
    "floordiv": lambda x, y: x // (abs(y) + 0.5),
    "remainder": lambda x, y: math.remainder(x, y + 4), "atan2": lambda x, y: math.atan2(x, y),
    "copysign": lambda x, y: math.copysign(x, y), "pow": lambda x, y: (x + 4) ** y,
    "log": lambda x, y: math.log(x + 4, y + 7),
    "degrees": lambda x, y: math.degrees(x) + math.radians(y), "sorted": lambda x, y: sorted([x, y, 0.5])[1],
    "median": lambda x, y: statistics.median([x, y, 0.5]), "divmod": lambda x, y: divmod(x, 2)[1] + y,
    "isclose": lambda x, y: 1.0 if math.isclose(x, y) else x + y, "ldexp": lambda x, y: math.ldexp(x, 3) + y,
    "equal": lambda x, y: x if x == y else y, "not": lambda x, y: x if not y else y,
}  # fmt: skip


@pytest.mark.parametrize("name", TWO)
def test_the_solutions_of_a_function_of_two_numbers_are_kept(name):
    f, chance = TWO[name], random.Random(name)
    for _ in range(40):
        point = chance.choice([-2.0, 0.5, chance.uniform(-3, 3)]), chance.choice([0.75, chance.uniform(-3, 3)])
        box = tuple((x - chance.random(), x + chance.random()) for x in point)
        try:
            value = f(*point)
        except (ArithmeticError, ValueError):
            continue
        found = contract(f, box, (value - 1e-9, value + 1e-9), max_paths=500)
        assert all(low <= x <= high for x, (low, high) in zip(point, found, strict=True))


def test_an_overflow_that_the_program_catches_is_a_path():
    def f(x):
        try:
            return math.exp(x)
        except OverflowError:
            return -1.0

    ((low, high),) = contract(f, ((0, 5000),), -1)
    assert low <= 709.79 < high == 5000


# ---- what is refused


REFUSED = {
    "without a rule": lambda x: math.ulp(x),
    "text": lambda x: float(str(x)),
    "complex power": lambda x: x**0.5,
    "digits": lambda x: round(x, 2),
    "negative gamma": lambda x: math.gamma(x),
    "a floor of large numbers": lambda x: math.floor(x * 1e300),
    "infinity": lambda x: x + math.inf,
    "an element of a set": lambda x: 1.0 if x in {1.0, 2.0} else 0.0,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused_with_its_call_site(name):
    with pytest.raises(NotOverdubbable) as caught:
        contract(REFUSED[name], ((-1, 1),), 0.5)
    assert "test_contract.py" in str(caught.value)


def test_a_refusal_that_the_program_catches_is_raised_again():
    def f(x):
        try:
            return math.ulp(x)
        except Exception:
            return 0.0

    with pytest.raises(NotContracted, match=r"math\.ulp"):
        contract(f, ((-1, 1),), 0.5)


def test_too_many_paths_are_an_error():
    def f(*xs):
        return sum(1 if x > 0 else 0 for x in xs)

    with pytest.raises(TooManyPaths, match="more than 64 paths"):
        contract(f, ((-1, 1),) * 7, 3)
    assert contract(f, ((-1, 1),) * 7, 7, max_paths=128) == ((0.0, 1.0),) * 7


@pytest.mark.parametrize(
    ("box", "value", "error"),
    [
        ((0, 1), 1, "a box is a tuple of"),
        ((), 1, "a box is a tuple of"),
        (((1, 0),), 1, "from the lower one to the higher"),
        (((0, 1),), (1, 2, 3), "the value must be"),
        (((0, 1),), "1", "the value must be"),
        (((0, 1),), (2, 1), "from the lower one"),
    ],
)
def test_a_box_or_value_of_another_form_is_an_error(box, value, error):
    with pytest.raises((TypeError, ValueError), match=error):
        contract(lambda x: x, box, value)


def test_a_tuple_needs_as_many_values():
    with pytest.raises(TypeError, match="a tuple of 2 numbers"):
        solve(lambda x: (x, x), ((0, 1),), (1, 2, 3), width=1)


def test_no_python_source_is_an_error():
    with pytest.raises(NotOverdubbable):
        contract(math.ulp, ((0, 1),), 1)
    with pytest.raises(TypeError):
        contract(3, ((0, 1),), 1)
