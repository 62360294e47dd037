"""Each public method of fractions, decimals and complex numbers has the right derivative, or is an error."""

import numbers
import operator
import warnings
from decimal import Decimal
from fractions import Fraction

import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import derivative, gradient
from tests.helpers.counted_results import share_of_results

X, STEP = 1.3, 1e-6
MAKERS = {
    "Fraction": (Fraction, Fraction(1, 2)),
    "Decimal": (Decimal, Decimal("0.5")),
    "complex": (lambda x: complex(x, 0.5), complex(2, 1)),
    "float": (lambda x: x * 1.0, 2.0),
}
NO_NUMBERS = frozenset(dir(object)) | {"__hash__"}
ARGUMENTS = {"": lambda _: (), "2": lambda _: (2,), "0.5": lambda _: (0.5,), "same": lambda other: (other,)}
FUNCTIONS = (abs, round, divmod, pow, int, float, complex, sum, min, max)
OPERATORS = tuple(getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"))


def as_float(value):
    if isinstance(value, (tuple, list)):
        return sum(map(as_float, value))
    return value.real + 2 * value.imag if isinstance(value, complex) else float(value)


def programs():
    """Programs of one number, by name."""
    found = {}
    for name, (make, other) in MAKERS.items():
        kind = type(make(X))
        methods = [method for method in dir(kind) if callable(getattr(kind, method)) and method not in NO_NUMBERS]
        for given, arguments in ARGUMENTS.items():
            extra = arguments(other)
            for method in methods:
                found[f"{name}.{method}({given})"] = _method(make, method, extra)
                found[f"{name}.{method}(self, {given})"] = _function(make, getattr(kind, method), extra)
            for function in FUNCTIONS:
                found[f"{function.__name__}({name}, {given})"] = _function(make, function, extra)
        for function in OPERATORS:
            for operand in (other, 3, 0.5, Fraction(1, 3)):
                found[f"{function.__name__}({name}, {operand})"] = _function(make, function, (operand,))
                found[f"{function.__name__}({operand}, {name})"] = _swapped(make, function, operand)
        for attribute in ("numerator", "denominator", "real", "imag"):
            found[f"{name}.{attribute}"] = _attribute(make, attribute)
        for base in (numbers.Complex, numbers.Real):
            for method in sorted(set(dir(base)) - NO_NUMBERS):
                if callable(getattr(base, method)):
                    found[f"{base.__name__}.{method}({name})"] = _function(make, getattr(base, method), ())
    return {name: program for name, program in found.items() if _succeeds(program)}


def _method(make, name, extra):
    return lambda x: as_float(getattr(make(x), name)(*extra))


def _function(make, function, extra):
    return lambda x: as_float(function(make(x), *extra))


def _swapped(make, function, operand):
    return lambda x: as_float(function(operand, make(x)))


def _attribute(make, name):
    return lambda x: as_float(getattr(make(x), name))


def _succeeds(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return all(isinstance(program(X + offset), float) for offset in (0.0, STEP, -STEP))
        except Exception:
            return False


PROGRAMS = programs()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_method_has_the_right_derivative_or_is_an_error(name):
    program = PROGRAMS[name]
    expected = (program(X + STEP) - program(X - STEP)) / (2 * STEP)
    for differentiate in (derivative, lambda f, x: gradient(f, x)[0]):
        try:
            assert differentiate(program, X) == pytest.approx(expected, rel=1e-4, abs=1e-4)
        except NotOverdubbable:
            continue


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("differentiate", [derivative, gradient], ids=["forward", "reverse"])
def test_nearly_half_of_the_methods_have_a_derivative(differentiate):
    assert share_of_results(lambda program: differentiate(program, X), PROGRAMS.values()) >= 0.45
