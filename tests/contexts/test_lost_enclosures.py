"""An enclosure is right or an error: the midpoint of an interval is never taken for its number."""

import math
import re
import statistics
from fractions import Fraction

import pytest

pytest.importorskip("flint")

from cassette_import import CassetteError, NotOverdubbable
from cassette_import.contexts.intervals import Interval, NotEnclosed, enclosure
from tests.contexts.autodiff.test_lost_derivatives import PROGRAMS
from tests.contexts.autodiff.test_number_rules import OF_NUMBERS
from tests.helpers.counted_results import share_of_results
from tests.programs import binding_numbers, deciding_numbers

BOX = Interval(3.0 - 1 / 16, 3.0 + 1 / 16)
POINTS = [BOX.low + BOX.width * n / 20 for n in range(21)]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_enclosure_of_a_program_is_right_or_an_error(name):
    program = PROGRAMS[name]
    try:
        found = enclosure(program, BOX)
    except CassetteError:
        return
    values = [program(x) for x in POINTS]
    assert [x for x in values if not (x in found if isinstance(found, Interval) else x == found)] == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_two_thirds_of_the_programs_have_an_enclosure():
    assert share_of_results(lambda program: enclosure(program, BOX), PROGRAMS.values()) >= 0.66


@pytest.mark.parametrize("name", deciding_numbers.PROGRAMS)
def test_a_function_decides_by_enclosures_or_the_decision_is_an_error(name):
    program, box = deciding_numbers.PROGRAMS[name], Interval(1.25, 1.75)
    values = [program(box.low + box.width * n / 20) for n in range(21)]
    try:
        found = enclosure(program, box)
    except CassetteError as error:
        message = str(error)
    else:
        assert [x for x in values if not (x in found if isinstance(found, Interval) else x == found)] == []
        return
    assert name not in deciding_numbers.DECIDED
    assert re.search(r"at .*:\d+", message)


@pytest.mark.parametrize("name", binding_numbers.PROGRAMS)
def test_every_target_keeps_the_enclosure(name):
    program = binding_numbers.PROGRAMS[name]
    found = enclosure(program, BOX)
    assert [x for x in map(program, POINTS) if x not in found] == []


class Value:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Value(self.value + other.value)

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None


def test_special_methods_of_the_program_are_followed():
    assert enclosure(lambda x: (Value(x) + Value(x)).value, Interval(0.0, 1.0)) == pytest.approx((0.0, 2.0), abs=1e-8)
    assert enclosure(lambda x: Value(x) == Value(5.0), Interval(0.0, 1.0)) is False


def overflows(x):
    try:
        return math.exp(x)
    except OverflowError:
        return 0.0


def catches(x):
    try:
        return statistics.fmean([x, x]) ** 0.123
    except Exception:
        return 1.0


def catches_the_undecided(x):
    try:
        return 1.0 if x < 0.5 else 2.0
    except Exception:
        return 3.0


@pytest.mark.parametrize(
    ("program", "box"),
    [
        (overflows, Interval(700.0, 720.0)),
        (overflows, Interval(710.0, 730.0)),
        (catches_the_undecided, Interval(0.0, 1.0)),
        (lambda x: 1.0 if f"{x:.1f}" == "0.5" else 2.0, Interval(0.0, 1.0)),
        (lambda x: max([x, 0.6], key=lambda v: -v), Interval(0.0, 1.0)),
        (lambda x: float(str(x)), Interval(0.0, 1.0)),
        (lambda x: int(str(int(x + 0.1)) + f"{x}"[:0]), Interval(0.0, 0.5)),
        (lambda x: 1.0 if (x + 0.5).is_integer() else 2.0, Interval(0.0, 1.0)),
    ],
    ids=["overflow", "all overflow", "undecided", "text", "key", "text and back", "a part of a text", "is_integer"],
)
def test_a_midpoint_that_is_used_for_anything_is_an_error(program, box):
    with pytest.raises(CassetteError, match=rf"at .*{__file__}:\d+"):
        enclosure(program, box)


def test_an_error_that_the_program_catches_is_raised_again():
    with pytest.raises(NotEnclosed):
        enclosure(lambda x: overflows(x), Interval(700.0, 720.0))


def test_the_error_is_one_of_a_leaf_without_a_rule():
    assert issubclass(NotEnclosed, NotOverdubbable)


@pytest.mark.parametrize("sign", [-0.0, 0.0, -1.0, 1.0])
@pytest.mark.parametrize("function", [math.copysign, lambda x, y: math.atan2(y, x)], ids=["copysign", "atan2"])
def test_the_sign_of_a_constant_zero_is_known(function, sign):
    program = lambda x: function(x, sign)
    for box in (Interval(1.0, 2.0), Interval(-2.0, -1.0)):
        found = enclosure(program, box)
        assert program(box.low) in found
        assert program(box.high) in found
        assert found.width < 1.001


@pytest.mark.parametrize("constant", [None, "text", b"text"])
def test_comparisons_with_what_is_no_number_do_not_depend_on_the_bounds(constant):
    assert enclosure(lambda x: (x == constant, x != constant), Interval(0.0, 1.0)) == (False, True)


WITHOUT_ENCLOSURE = {
    "NormalDist", "frexp", "nextafter", "complex", "complex parts", "complex conjugate", "phase", "rect",
    "Decimal functions",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in OF_NUMBERS if name not in WITHOUT_ENCLOSURE])
@pytest.mark.parametrize("x", [0.35, 1.2, 2.75])
def test_the_enclosure_of_a_function_of_numbers_holds_its_values(name, x):
    program, box = OF_NUMBERS[name], Interval(x - 1e-3, x + 1e-3)
    found = enclosure(program, box)
    values = [program(box.low + box.width * n / 20) for n in range(21)]
    assert [value for value in values if value not in found] == []
    assert found.width < 50 * (max(values) - min(values)) + 0.2


@pytest.mark.parametrize("name", sorted(WITHOUT_ENCLOSURE))
def test_a_function_without_an_enclosure_is_an_error(name):
    with pytest.raises(NotEnclosed):
        enclosure(OF_NUMBERS[name], Interval(1.0, 1.01))


EXACT = {
    "mean": lambda x: statistics.fmean([0.1, 0.2, x, 0.3]),
    "weights": lambda x: statistics.fmean([0.1, 0.2, x], weights=[0.3, 0.7, 0.1]),
    "variance": lambda x: statistics.variance([0.1, 0.2, x, 0.3]),
    "regression": lambda x: statistics.linear_regression([0.1, 0.2, 0.4], [0.7, 0.1, x]).slope,
    "divmod": lambda x: divmod(x, 0.03)[1],
    "Fraction": lambda x: x * Fraction(1, 3) + Fraction(2, 7),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_exact_result_lies_in_the_enclosure_of_a_point(name):
    found = enclosure(EXACT[name], Interval(0.1, 0.1))
    with_fractions = {
        "mean": lambda x: sum(map(Fraction, [0.1, 0.2, x, 0.3])) / 4,
        "weights": lambda x: (
            sum(Fraction(v) * Fraction(w) for v, w in zip([0.1, 0.2, x], [0.3, 0.7, 0.1], strict=True))
            / sum(map(Fraction, [0.3, 0.7, 0.1]))
        ),
        "variance": lambda x: statistics.variance(list(map(Fraction, [0.1, 0.2, x, 0.3]))),
        "regression": lambda x: _slope([*map(Fraction, [0.1, 0.2, 0.4])], [*map(Fraction, [0.7, 0.1, x])]),
        "divmod": lambda x: Fraction(x) % Fraction(0.03),
        "Fraction": lambda x: Fraction(x) * Fraction(1, 3) + Fraction(2, 7),
    }
    exact = with_fractions[name](0.1)
    assert Fraction(found.low) <= exact <= Fraction(found.high)
    assert found.width < 1e-14


def _slope(xs, ys):
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


@pytest.mark.parametrize(
    "program",
    [lambda x: {0.5: 1.0}[x], lambda x: {x: 1.0, 0.5: 2.0}[0.5], lambda x: 1.0 if x in {0.5: 1} else 2.0],
    ids=["subscript", "display", "in"],
)
def test_a_midpoint_that_is_a_key_is_an_error(program):
    with pytest.raises(NotOverdubbable):
        enclosure(program, Interval(0.0, 1.0))
