"""Quick forms: they compute the same derivatives as the overload, and leave all unusual calls to it."""

import cmath
import concurrent.futures
import itertools
import math
import operator
import threading

import numpy
import pytest

from cassette_import import Context, fallback, overdub
from cassette_import.contexts.autodiff import derivative, derivatives, gradient, jvp, quick_forms
from cassette_import.contexts.autodiff.modes import Differentiating, Forward, Reverse
from cassette_import.kits.numbers.row import formula_of, formulas
from cassette_import.kits.numbers.table import NUMBERS
from cassette_import.runtime.dispatch import direct_events

FUNCTIONS = {f"{row.name} by {f.__name__}": (row, f) for row in NUMBERS for f in row.functions}
WITHOUT_QUICK_FORMS = {mode.__name__: type(mode.__name__, (mode,), {}, tagging=True) for mode in (Forward, Reverse)}
"""The same modes: each context type has direct events of its own, which are made when they are needed."""
VALUES = [0.75, -1.25, 3, -0.0]


SYNTAX = {
    operator.add: lambda x, y: x + y,
    operator.sub: lambda x, y: x - y,
    operator.mul: lambda x, y: x * y,
    operator.truediv: lambda x, y: x / y,
    operator.mod: lambda x, y: x % y,
    operator.pow: lambda x, y: x**y,
    operator.neg: lambda x: -x,
    operator.pos: lambda x: +x,
}


def called(f, count):
    """The function as the program calls it, and as syntax where there is any."""
    calls = {1: lambda x: f(x), 2: lambda x, y: f(x, y), 3: lambda x, y, z: f(x, y, z)}
    return [calls[count], *([SYNTAX[f]] if f in SYNTAX else ())]


def outcome(work):
    """What a call returns with the signs of zeros, or the exception that it raises."""
    try:
        return repr(work())
    except (ArithmeticError, ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


def of_all(f, count):
    """The value and all derivatives of a function, in both modes, by each choice of tagged arguments."""
    found = []
    for chosen in itertools.product([True, False], repeat=count):
        if any(chosen):
            constants = [0.0] * count

            def partly(*given, chosen=chosen, constants=constants):
                rest = iter(given)
                return f(*[next(rest) if one else value for one, value in zip(chosen, constants, strict=True)])

            for values in itertools.product(VALUES, repeat=count):
                constants[:] = values
                point = [value for one, value in zip(chosen, values, strict=True) if one]
                directions = [0.5 + n for n in range(len(point))]
                found.append((values, chosen, outcome(lambda g=partly, p=point: gradient(g, *p))))
                found.append((values, chosen, outcome(lambda g=partly, p=point, d=directions: jvp(g, p, d))))
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_derivatives_are_those_of_the_overload(name, monkeypatch):
    row, f = FUNCTIONS[name]
    count = len(row.partials) if type(row.partials) is tuple else 2
    count = 1 if f is math.log else count
    for call in called(f, count):
        quick = of_all(call, count)
        with monkeypatch.context() as patch:
            patch.setattr(direct_events, "_QUICK_FORMS", {})
            for mode, made in WITHOUT_QUICK_FORMS.items():
                patch.setattr(derivatives, mode, made)
            patch.setattr(derivatives, "_arrays", lambda: None)
            assert of_all(call, count) == quick


def test_the_logarithm_to_a_base_has_both_derivatives():
    assert gradient(lambda x, base: math.log(x, base), 8.0, 2.0) == pytest.approx(
        (1 / (8 * math.log(2)), -3 / (2 * math.log(2)))
    )


def test_a_complex_power_of_real_numbers_is_left_to_the_overload():
    value = complex(-2.0) ** 0.5
    slope = 0.5 * complex(-2.0) ** -0.5
    found = jvp(lambda x: ((x**0.5).real, (x**0.5).imag), (-2.0,), (1.0,))
    assert found[0] == (value.real, value.imag)
    assert found[1] == pytest.approx((slope.real, slope.imag))
    assert derivative(lambda x: abs(cmath.exp(1j * x)), 0.5) == pytest.approx(0.0)


def test_numbers_of_other_types_are_left_to_the_overload():
    assert derivative(lambda x: numpy.float64(3.0) * x, 2.0) == 3.0
    assert derivative(lambda x: True * x + x * True, 2.0) == 2.0


def test_nested_derivatives_are_not_confused():
    assert derivative(lambda x: x * derivative(lambda y: x + y, 1.0), 1.0) == 1.0
    assert derivative(lambda x: derivative(lambda y: x * x * y * y, 3.0), 2.0) == 24.0
    assert gradient(lambda x: gradient(lambda y: x * y + y * y * x, x)[0], 2.0) == (9.0,)


@pytest.mark.parametrize("arguments", [(), (1.0, 2.0)])
def test_a_call_with_a_wrong_number_of_arguments_raises_the_error_of_the_function(arguments):
    def wrong(x):
        return x + math.sin(*arguments)

    def wrong_after(x):
        return x if x > 100 else math.sin(x, *arguments, 2.0)

    for f, plain in ((wrong, lambda: math.sin(*arguments)), (wrong_after, lambda: math.sin(1.0, *arguments, 2.0))):
        with pytest.raises(TypeError) as raised:
            plain()
        with pytest.raises(TypeError) as found:
            derivative(f, 1.0)
        assert str(found.value) == str(raised.value)


def test_an_overload_that_a_subclass_registers_is_called():
    class Counted(Forward, tagging=True):
        pass

    seen = []

    @Counted.overdub.register(operator.mul)
    def _(ctx, f, x, y):
        seen.append((x, y))
        return fallback(ctx, f, x, y)

    assert overdub(Counted(), lambda: 2.0 * 3.0 + 1.0) == 7.0
    assert seen == [(2.0, 3.0)]


def test_hooks_around_an_operator_see_it():
    class Seen(Context):
        def __init__(self):
            self.names = []

        def prehook(self, f, *arguments):
            self.names.append(f.__name__)

    seen = Seen()
    assert overdub(seen, lambda: jvp(lambda x: x * x + x, (3.0,), (1.0,))) == (12.0, 7.0)
    assert [name for name in seen.names if name in ("mul", "add")] == ["mul", "add"]


def test_a_formula_is_a_function_and_its_text():
    by_x, by_y = formulas("v / x", "2.0 * y")
    assert (by_x(None, 6.0, 3.0, 1.0), by_y(None, 6.0, 3.0, 1.0)) == (2.0, 2.0)
    assert (formula_of(by_x), formula_of(by_y), formula_of(len)) == ("v / x", "2.0 * y", None)


@pytest.mark.parametrize("mode", [Forward, Reverse])
def test_the_usual_operators_have_quick_forms(mode):
    assert issubclass(mode, Differentiating)
    for row, f in FUNCTIONS.values():
        if type(row.partials) is tuple and len(row.partials) <= 2:
            site = direct_events.QuickSite(f, 0, mode, False, None, None)
            handler = next(one for one in Differentiating.overdub.handlers if f in one.targets)
            _, maker = direct_events._QUICK_FORMS[id(handler.function)]
            assert maker(site) is not None


def test_threads_make_quick_forms_at_the_same_time(monkeypatch):
    barrier = threading.Barrier(2)

    def execute_and_let_the_other_do_so(*arguments):
        exec(*arguments)
        barrier.wait(10)

    monkeypatch.setattr(quick_forms, "exec", execute_and_let_the_other_do_so, raising=False)
    compiled = quick_forms._compiled.__wrapped__
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(compiled, quick_forms._FORWARD, "neg", ("-1.0",), False) for _ in range(2)]
        first, second = [job.result()[0] for job in jobs]
    assert first is not second
