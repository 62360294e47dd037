"""Enclosures of the results of unmodified functions."""

import bisect
import colorsys
import heapq
import itertools
import math
import os
import random
import statistics
import subprocess
import sys
from fractions import Fraction

import pytest

pytest.importorskip("flint")

from cassette_import import NotOverdubbable, Tagged, install
from cassette_import.contexts.intervals import Interval, NotEnclosed, Undecided, enclosure
from cassette_import.contexts.intervals.rules import RULES

POINTS = {math.acosh: (1.7,), math.ldexp: (0.7, 3), math.log: (0.7, 1.3), math.fmod: (0.7, 1.3)}


def arguments_of(function):
    name = function.__name__
    if function in POINTS:
        return POINTS[function]
    if name == "fma":
        return (0.7, 1.3, -0.4)
    if name in ("neg", "pos", "abs", "fabs") or not (
        name.lstrip("i") in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
        or name in ("atan2", "remainder", "copysign", "hypot")
    ):
        return (0.7,)
    return (0.7, 1.3)


@pytest.mark.parametrize("function", list(RULES), ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_the_enclosure_of_a_function_holds_its_values(function):
    point = arguments_of(function)
    boxes = [Interval(x - 0.01, x + 0.01) if isinstance(x, float) else x for x in point]
    program = lambda *values: function(*values)
    found = enclosure(program, *boxes)
    chance = random.Random(1)
    for _ in range(100):
        values = [chance.uniform(*box) if isinstance(box, Interval) else box for box in boxes]
        assert program(*values) in found
    assert found.width < 60 * 0.02


def test_a_point_has_a_narrow_enclosure():
    found = enclosure(lambda x: math.sin(x) ** 2 + math.cos(x) ** 2, Interval(0.7, 0.7))
    assert found.low <= 1 <= found.high
    assert found.width < 1e-15


def test_rounding_errors_are_within():
    def harmonic(x):
        total = 0.0
        for n in range(1, 200):
            total += x / n
        return total

    exact = sum(Fraction(1, n) for n in range(1, 200)) * Fraction(0.1)
    found = enclosure(harmonic, Interval(0.1, 0.1))
    assert Fraction(found.low) <= exact <= Fraction(found.high)
    assert found.width < 1e-14


BOX = Interval(40.0, 40.01), Interval(-73.01, -73.0), Interval(51.0, 51.05), Interval(5e6, 5.001e6)


def test_enclosures_of_geographiclib_hold_ten_thousand_samples():
    geodesic = pytest.importorskip("geographiclib.geodesic").Geodesic.WGS84
    with install(["geographiclib"]):
        found = enclosure(geodesic.Direct, *BOX)
    chance = random.Random(1)
    for _ in range(10_000):
        result = geodesic.Direct(*(chance.uniform(*box) for box in BOX))
        assert [name for name, value in result.items() if value not in found[name]] == []
    assert found["lat2"].width < 0.2


def test_enclosures_of_colorsys_hold_ten_thousand_samples():
    boxes = Interval(0.58, 0.6), Interval(0.36, 0.38), Interval(0.2, 0.22)
    with install(["colorsys"]):
        found = enclosure(colorsys.rgb_to_hls, *boxes)
    chance = random.Random(1)
    for _ in range(10_000):
        result = colorsys.rgb_to_hls(*(chance.uniform(*box) for box in boxes))
        assert all(value in box for value, box in zip(result, found, strict=True))


# ---- what is undecided


def test_an_undecided_branch_is_an_error_that_shows_where():
    def program(x):
        return 1.0 if x < 0.5 else x

    with pytest.raises(Undecided, match=r"(?s)lt of \[0.4.*program: x < 0.5\n") as caught:
        enclosure(program, Interval(0.4, 0.6))
    assert (caught.value.site.filename, caught.value.site.source) == (__file__, "x < 0.5")


def test_what_is_decided_is_no_error():
    assert enclosure(lambda x: "yes" if x < 0.7 and not x < 0.3 and x != 0 and x else "no", Interval(0.4, 0.6)) == "yes"


def test_undecided_comparisons_are_split_on_request():
    def program(x):
        return x if x < 0.5 else 2 * x

    found = enclosure(program, Interval(0.25, 0.75), splits=1)
    assert (found.low, found.high) == (pytest.approx(0.25), pytest.approx(1.5))
    assert all(program(0.25 + n / 100) in found for n in range(51))


def test_no_more_comparisons_are_split_than_requested():
    def program(x):
        return sum(1.0 for bound in (0.3, 0.5, 0.7) if x < bound)

    assert enclosure(program, Interval(0.2, 0.8), splits=7) == Interval(0.0, 3.0)
    with pytest.raises(Undecided):
        enclosure(program, Interval(0.2, 0.8), splits=2)


@pytest.mark.parametrize("function", [math.floor, math.ceil, math.trunc, int, round])
def test_a_whole_number_is_decided_or_an_error(function):
    program = lambda x: function(x)
    assert enclosure(program, Interval(2.6, 2.9)) == function(2.7)
    with pytest.raises(Undecided):
        enclosure(program, Interval(0.4, 3.1))


@pytest.mark.parametrize(
    "program",
    [lambda x: x == 0.5, lambda x: bool(x - 0.5), lambda x: 1 if x - 0.5 else 2, lambda x: not (x - 0.5)],
)
def test_each_comparison_uses_the_enclosure(program):
    with pytest.raises(Undecided):
        enclosure(program, Interval(0.4, 0.6))


def test_a_number_equals_itself():
    assert enclosure(lambda x: (x == x, x != x, math.isnan(x)), Interval(0.4, 0.6)) == (True, False, False)


def test_order_is_decided_or_an_error():
    assert enclosure(lambda x: [*map(float, sorted([x, 0.7, 0.1]))][::2], Interval(0.4, 0.6)) == [0.1, 0.7]
    with pytest.raises(Undecided):
        enclosure(lambda x: sorted([x, 0.5]), Interval(0.4, 0.6))


def test_the_smallest_and_the_largest_need_no_decision():
    smallest, largest = enclosure(lambda x: (min(x, 0.5), max([x, 0.5])), Interval(0.4, 0.6))
    assert (smallest.low, smallest.high) == (pytest.approx(0.4), pytest.approx(0.5))
    assert (largest.low, largest.high) == (pytest.approx(0.5), pytest.approx(0.6))


# ---- what would not be guaranteed


def _matched(x):
    match [x]:
        case [value]:
            pass
    match value:
        case 0.5:
            return 1
    return 2


@pytest.mark.parametrize(
    "program",
    [
        lambda x: math.frexp(x)[0],
        lambda x: float(str(x)),
        lambda x: float(f"{x}"),
        lambda x: [x].index(0.5),
        lambda x: x in [0.5],
        lambda x: (x, 1) < (0.5, 2),
        lambda x: x.hex() < "0",
        lambda x: x.as_integer_ratio()[0],
        lambda x: math.ulp(x),
        lambda x: Fraction(x).limit_denominator(10) + 1,
        lambda x: math.sqrt(x - 0.5),
        lambda x: 1 / (x - 0.5),
        lambda x: random.Random(1).uniform(0, x),
    ],
)
def test_what_has_no_rule_is_an_error_that_shows_where(program):
    with pytest.raises((NotEnclosed, Undecided), match=r"at .*test_intervals.py:\d+ in <lambda>: "):
        enclosure(program, Interval(0.4, 0.6))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: statistics.mode([x, 0.5]),
        lambda x: len(list(itertools.groupby([x, 0.5]))),
        lambda x: len({x, 0.5}),
        lambda x: {x: 1}.get(0.5),
        lambda x: _matched(x),
    ],
)
def test_a_leaf_that_would_hash_midpoints_is_an_error(program):
    with pytest.raises(NotEnclosed, match="there is no rule for such operands of"):
        enclosure(program, Interval(0.0, 1.0))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: heapq.heappushpop([x], 0.5),
        lambda x: heapq.nlargest(1, [x, 0.5])[0],
        lambda x: next(heapq.merge([(x, 1)], [(0.5, 2)]))[0],
        lambda x: bisect.insort([0.5], x),
        lambda x: [x, 0.5].index(0.5),
        lambda x: sorted([x, 0.5], key=abs),
        lambda x: (x, 1) < (0.5, 2),
    ],
)
def test_comparisons_that_a_leaf_makes_are_decided_by_the_bounds(program):
    with pytest.raises(Undecided):
        enclosure(program, Interval(0.0, 1.0))
    enclosure(lambda x: program(x) and 0.0, Interval(0.75, 1.0))


def test_calls_that_do_not_compute_with_a_number_are_no_error():
    def program(x):
        assert isinstance(x, float)
        assert type(x) is float
        assert x is not None
        assert x != "text"
        assert len([x, x]) == 2
        assert [x]
        return f"{x:.1f}", x

    text, found = enclosure(program, Interval(0.4, 0.6))
    assert text == "0.5"
    assert found.low <= 0.4 < 0.6 <= found.high


def test_intervals_may_be_in_structures():
    found = enclosure(lambda p: {"sum": p["x"] + p["y"][0]}, {"x": Interval(1, 2), "y": [Interval(3, 4)]})
    assert (found["sum"].low, found["sum"].high) == (pytest.approx(4), pytest.approx(6))


def test_no_wrapper_is_left_in_the_programs_objects():
    kept = []
    enclosure(lambda x: kept.append({"a": [x, x * 2], "b": (x,)}), Interval(0.4, 0.6))
    assert not any(type(value) is Tagged for value in (*kept[0]["a"], *kept[0]["b"]))


def test_wrong_arguments_are_reported_in_one_sentence():
    with pytest.raises(ValueError, match="from the lower bound to the higher one"):
        enclosure(lambda x: x, Interval(2, 1))
    with pytest.raises(NotOverdubbable, match="no rule is known"):
        enclosure(math.ulp, Interval(1, 2))
    with pytest.raises(TypeError, match="must be callable"):
        enclosure(3)
    with pytest.raises(ValueError, match="precision is a number of bits"):
        enclosure(lambda x: x, Interval(1, 2), precision=-1)


def test_branches_with_results_that_no_interval_contains_are_an_error():
    with pytest.raises(ValueError, match="the branches return"):
        enclosure(lambda x: "small" if x < 0.5 else "large", Interval(0.4, 0.6), splits=1)


def test_without_flint_the_command_line_names_the_missing_package(tmp_path):
    elsewhere = tmp_path / "elsewhere"  # what lies beside the program is the program's
    elsewhere.mkdir()
    (elsewhere / "flint.py").write_text("raise ModuleNotFoundError('no', name='flint')\n")
    (tmp_path / "program.py").write_text("print(1)\n")
    path = os.pathsep.join([str(elsewhere), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "cassette_import", "run", "-c", "intervals", "program.py"]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "python-flint" in done.stderr
    assert len(done.stderr.splitlines()) == 1


# ---- results of several branches


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (math.floor, (0, 2)),
        (math.ceil, (1, 3)),
        (round, (0, 2)),
        (int, (0, 2)),
        (lambda x: math.floor(x), (0, 2)),
        (lambda x: round(x) * 10, (0, 20)),
        (lambda x: [1, 2, 3][int(x)], (1, 3)),
        (lambda x: 1 if x < 1 else 2.5, (1, 2.5)),
    ],
)
def test_integers_that_branches_return_make_an_interval(function, expected):
    assert enclosure(function, Interval(0.5, 2.5), splits=5) == expected


def test_the_interval_contains_numbers_that_no_float_is():
    big, third = 2**70 + 1, Fraction(1, 3)
    found = enclosure(lambda x: (big, third) if x < 1 else (big + 1, third * 2), Interval(0.5, 2.5), splits=1)
    assert all(big + n in found[0] for n in (0, 1))
    assert all(third * n in found[1] for n in (1, 2))


@pytest.mark.parametrize("values", [(True, False), ("a", "b"), (None, 1), (1, True)])
def test_other_values_that_branches_return_make_no_interval(values):
    with pytest.raises(ValueError, match=r"which no interval contains|and some "):
        enclosure(lambda x: values[0] if x < 1 else values[1], Interval(0.5, 2.5), splits=1)


@pytest.mark.parametrize("value", [-1, 0, 1, 10**30, 1.5, "128", None, True])
def test_an_invalid_precision_is_refused_with_its_bounds(value):
    with pytest.raises(ValueError, match=f"^precision is a number of bits from 2 to 1000000, not {value!r}$"):
        enclosure(lambda x: x, Interval(1, 2), precision=value)


@pytest.mark.parametrize("value", [-1, 1.5, "x", None, True])
def test_an_invalid_number_of_splits_is_refused(value):
    with pytest.raises(ValueError, match=f"^splits is a number of splits from 0 on, not {value!r}$"):
        enclosure(lambda x: x, Interval(1, 2), splits=value)
