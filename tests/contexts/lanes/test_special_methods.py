"""Lanes: special methods of the program's classes, asked for by the program and by code in C."""

from __future__ import annotations

import logging
import math
import operator
import sys
import types

import pytest
from helpers.random_lane_programs import alike

from cassette_import import install
from cassette_import.contexts.lanes import EffectError, vectorize

np = pytest.importorskip("numpy")

NUMBERS = np.array([-7.5, -1.0, -0.0, 0.0, 0.25, 1.0, 2.0, 3.0, 10.0, math.nan])


class Angle:
    def __init__(self, degrees):
        self.degrees = degrees

    def __float__(self):
        if self.degrees < 0:
            return self.degrees + 360.0
        return float(self.degrees)

    def __int__(self):
        return int(self.degrees)

    def __bool__(self):
        return self.degrees > 1

    def __abs__(self):
        return Angle(abs(self.degrees))

    def __round__(self, digits=0):
        return round(self.degrees, digits)

    def __floor__(self):
        return math.floor(self.degrees)

    def __str__(self):
        return f"{self.degrees:.1f} degrees"

    def __format__(self, spec):
        return format(self.degrees, spec) if spec else "plain"

    def __complex__(self):
        return complex(self.degrees, 1)


class Sized:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return 2 if self.x > 0 else 0

    def __index__(self):
        return 1 if self.x > 0 else 0

    def __repr__(self):
        return f"Sized({self.x})"


class Wrong:
    def __init__(self, x):
        self.x = x

    def __float__(self):
        return 1 if self.x > 0 else 2.0

    def __bool__(self):
        return self.x


def converted(x):
    return float(Angle(x))


def absolute(x):
    return abs(Angle(x)).degrees


def rounded(x):
    return round(Angle(x), 1), round(Angle(x))


def floored(x):
    return math.floor(Angle(x)) if x == x else None


def whole(x):
    return int(Angle(x)) if x == x else None


def as_complex(x):
    return complex(Angle(x))


def branch(x):
    return 1 if Angle(x) else 2


def negated(x):
    return not Angle(x)


def either(x):
    return (Angle(x) or Angle(5.0)).degrees


def looping(x):
    angle, turns = Angle(x), 0
    while angle:
        angle.degrees -= 2
        turns += 1
    return turns


def sine(x):
    return math.sin(Angle(x)), math.atan2(Angle(x), 2.0)


def texts(x):
    return str(Angle(x)), f"{Angle(x)}", f"{Angle(x)!s}", f"{Angle(x):.2f}", format(Angle(x), ".1f"), repr(Sized(x))


def length(x):
    return len(Sized(x)), bool(Sized(x)), [4.0, 5.0][operator.index(Sized(x))]


def method_calls(x):
    return Angle(x).__float__(), Angle(x).__str__()


def any_of_them(x):
    return any([Angle(x), Angle(x - 1)])


def filtered(x):
    return len(list(filter(None, [Angle(x), Angle(3.0)])))


def index_by_c(x):
    return [4.0, 5.0][Sized(x)]


def not_a_float(x):
    return float(Wrong(x))


def not_a_truth(x):
    return 1 if Wrong(x) else 2


def of_lane(result, number):
    if isinstance(result, tuple):
        return tuple(of_lane(part, number) for part in result)
    part = result[number] if isinstance(result, np.ndarray) else result
    return part.item() if isinstance(part, np.generic) else part


def outcome(f, x):
    try:
        return f(x), None
    except TypeError as error:
        return None, error


ALL = [
    converted, absolute, rounded, floored, whole, as_complex, branch, negated, either, looping, sine, texts, length,
    method_calls, any_of_them, filtered, index_by_c, not_a_float, not_a_truth,
]  # fmt: skip


@pytest.mark.parametrize("f", ALL)
def test_a_special_method_gives_each_lane_what_the_scalar_call_gives(f):
    results, failures = vectorize(f, errors="return")(NUMBERS)
    for number, x in enumerate(NUMBERS.tolist()):
        expected, error = outcome(f, x)
        assert repr(failures.get(number)) == repr(error)
        if error is None:
            found = of_lane(results, number)
            assert alike(found, expected) or str(found) == str(expected), (x, found, expected)


def test_float_of_objects_is_computed_for_all_lanes_at_once():
    many = np.linspace(-300, 300, 1000)
    assert vectorize(converted, max_paths=1)(many).tolist() == [converted(x) for x in many.tolist()]


def test_too_many_texts_for_c_code_are_one_error():
    def joined(x):
        return ",".join(map(str, [Angle(x)]))

    with pytest.raises(EffectError, match="is the result of __str__ for C code"):
        vectorize(joined)(np.linspace(0, 300, 1000))


def test_a_module_that_the_function_imports_is_executed_outside_of_the_context(tmp_path, monkeypatch):
    (tmp_path / "late_constants.py").write_text(
        "class Table:\n    def __init__(self):\n        self.values = []\n"
        "TABLE = Table()\nfor number in range(3):\n    TABLE.values.append(number)\n"
        "def scaled(x):\n    return x * TABLE.values[2] if x > 0 else x\n"
    )
    (tmp_path / "late_package").mkdir()
    (tmp_path / "late_package" / "__init__.py").write_text("")
    (tmp_path / "late_package" / "part.py").write_text("STORE = {}\nSTORE['factor'] = 3.0\n")
    monkeypatch.syspath_prepend(tmp_path)

    def f(x):
        import late_constants
        from late_package import part

        return late_constants.scaled(x) * part.STORE["factor"]

    try:
        with install(["late_constants", "late_package"]):
            found = vectorize(f)(NUMBERS[:6])
        assert found.tolist() == [f(x) for x in NUMBERS[:6].tolist()]
    finally:
        for name in ("late_constants", "late_package", "late_package.part"):
            sys.modules.pop(name, None)


def test_an_import_that_fails_raises_its_error():
    def f(x):
        from math import no_such_name

        return no_such_name(x)

    _, failures = vectorize(f, errors="return")(NUMBERS[:3])
    assert {type(error) for error in failures.values()} == {ImportError}
    assert len(failures) == 3


def test_a_logger_that_ignores_a_level_writes_nothing():
    def f(x):
        logger = logging.getLogger("lanes.silent")
        logger.debug("value %s", x)
        if x > 1:
            logger.info("large")
        return x * 2

    assert vectorize(f)(NUMBERS[:5]).tolist() == [f(x) for x in NUMBERS[:5].tolist()]


def test_a_record_of_a_logger_is_an_effect():
    def f(x):
        logging.getLogger("lanes.loud").error("value %s", x)
        return x

    with pytest.raises(EffectError):
        vectorize(f)(NUMBERS)


def test_functions_of_the_standard_library_without_effects_are_called_lane_by_lane():
    import calendar

    def f(year):
        return calendar.isleap(year), calendar.monthrange(year, 2)[1]

    years = np.array([1900, 1996, 2000, 2023, 2024])
    leap, days = vectorize(f)(years)
    assert leap.tolist() == [calendar.isleap(year) for year in years.tolist()]
    assert days.tolist() == [28, 29, 29, 28, 29]


def attribute_by_name(x):
    tree = types.SimpleNamespace(left=1.0, right=2.0)
    side = "left" if x < 0 else "right"
    setattr(tree, side, getattr(tree, side) + x)
    if hasattr(tree, "left" if x > 1 else "middle"):
        delattr(tree, "right" if x > 2 else "left")
    return getattr(tree, "left", 5.0) - getattr(tree, "right", 7.0)


def test_names_of_attributes_differ_between_lanes():
    numbers = np.linspace(-3.0, 4.0, 100)
    assert vectorize(attribute_by_name)(numbers).tolist() == list(map(attribute_by_name, numbers.tolist()))
