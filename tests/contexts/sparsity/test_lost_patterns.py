"""A pattern that would be lost ends the run with an error, also where the program catches what other code raised."""

import contextlib
import datetime
import io
import json
import math
import statistics
from decimal import Decimal
from fractions import Fraction

import pytest

np = pytest.importorskip("numpy", reason="the patterns are arrays")
pytest.importorskip("scipy.sparse", reason="the patterns are sparse arrays of SciPy")

from cassette_import.contexts.sparsity import SparsityError, jacobian  # noqa: E402

POINT = [0.5, 0.25]


class Meters:
    def __init__(self, value):
        if value > 10:
            raise ValueError("too long")
        self.value = value

    def __float__(self):
        return self.value

    def __index__(self):
        return self.value

    def __bool__(self):
        return self.value > 0

    def __str__(self):
        return str(self.value)


CONVERSIONS = {
    "repr": lambda x: float(repr(x)),
    "str": lambda x: float(str(x)),
    "ascii": lambda x: float(ascii(x)),
    "an f-string": lambda x: float(f"{x}"),
    "a format": lambda x: float(f"{x:.3f}"),
    "a method format": lambda x: float("{:.3f}".format(x)),
    "a percent format": lambda x: float("%s" % x),
    "a list's text": lambda x: len(str([x])) * 1.0,
    "an array's text": lambda x: len(str(np.asarray([x, x]))) * 1.0,
    "a part of the text": lambda x: 1.0 if "." in str(x) else 2.0,
    "the text of an object": lambda x: float(str(Meters(x))),
    "json": lambda x: float(json.dumps([x])[1:-1]),
    "json with a default": lambda x: float(json.dumps([x], default=lambda one: 0.0)[1:-1]),
    "Fraction": lambda x: float(Fraction(x)),
    "NormalDist": lambda x: statistics.NormalDist(x, 1.0).mean,
    "fromtimestamp": lambda x: datetime.datetime.fromtimestamp(x).timestamp(),
    "Decimal": lambda x: float(Decimal(x)),
    "Decimal.from_float": lambda x: float(Decimal.from_float(x)),
    "timedelta": lambda x: datetime.timedelta(seconds=x).total_seconds(),
    "timedelta times": lambda x: (datetime.timedelta(seconds=1) * x).total_seconds(),
    "times timedelta": lambda x: (x * datetime.timedelta(seconds=1)).total_seconds(),
    "timedelta over": lambda x: (datetime.timedelta(seconds=1) / x).total_seconds(),
    "__float__": lambda x: float(Meters(x)),
    "__float__ in math": lambda x: math.sin(Meters(x)),
    "__index__": lambda x: float([1, 2, 3][Meters(x)]),
    "a comprehension": lambda x: [Decimal(one) for one in [x]][0] * 1.0,  # noqa: RUF015
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_conversion_that_would_lose_the_pattern_is_an_error_with_its_call_site(name):
    convert = CONVERSIONS[name]
    with pytest.raises(SparsityError, match=r"at .*test_lost_patterns\.py:\d+: .*\n."):
        jacobian(lambda x: convert(x[0]) * x[1], POINT)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_lost_pattern_is_an_error_although_the_program_catches_it(name):
    convert = CONVERSIONS[name]

    def guarded(x):
        try:
            return convert(x[0]) * x[1]
        except Exception:
            return 0.0

    for local in (False, True):
        if not (local and name == "__index__"):  # an exception for plain numbers too
            with pytest.raises(SparsityError):
                jacobian(guarded, POINT, local=local)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_lost_pattern_is_an_error_although_the_program_suppresses_it(name):
    convert = CONVERSIONS[name]

    def suppressed(x):
        with contextlib.suppress(Exception):
            return convert(x[0]) * x[1]
        return 0.0

    with pytest.raises(SparsityError):
        jacobian(suppressed, POINT)


def test_an_exception_of_the_program_itself_is_no_lost_pattern():
    def lengths(x):
        try:
            return Meters(x[0] * 100).value
        except ValueError:
            return x[1]

    assert jacobian(lengths, POINT, local=True).toarray().tolist() == [[False, True]]
    with pytest.raises(ValueError, match="too long"):
        jacobian(lambda x: Meters(x[0] * 100).value, POINT, local=True)


def test_a_type_error_that_plain_numbers_raise_too_is_no_lost_pattern():
    def added(x):
        try:
            return x[0] + "1"
        except TypeError:
            return x[1]

    assert jacobian(added, POINT).toarray().tolist() == [[False, True]]


def test_the_truth_of_an_object_that_decides_by_a_number_is_followed():
    assert jacobian(lambda x: x[1] if Meters(x[0]) else 0.0, POINT).toarray().tolist() == [[False, True]]
    assert jacobian(lambda x: x[1] if not Meters(x[0]) else 0.0, POINT).toarray().tolist() == [[False, True]]


def test_a_call_that_fails_for_plain_numbers_too_is_no_lost_pattern():
    def length(x):
        try:
            return len(x) * x
        except TypeError:
            return x

    def hexadecimal(x):
        try:
            return float.fromhex(x)
        except TypeError:
            return x

    def first(x):
        try:
            return next(iter(x))
        except TypeError:
            return x

    for f in (length, hexadecimal, first):
        assert jacobian(f, 0.5).toarray().tolist() == [[True]]


def test_text_that_the_program_could_read_again_is_an_error():
    def redirected(x):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            print(x)
        return float(text.getvalue())

    with pytest.raises(SparsityError, match="print makes text of a value that depends on the inputs"):
        jacobian(redirected, 0.5)


def test_a_number_is_printed_with_its_value(capsys):
    def printed(x):
        print("at", x[0], x)
        return x[0]

    assert jacobian(printed, POINT).toarray().tolist() == [[True, False]]
    assert capsys.readouterr().out == "at 0.5 [0.5, 0.25]\n"
