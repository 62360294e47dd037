"""A pattern has no false zero, however the program passes a number: by position, by name, in an iterator, bound before.

The patterns are compared with differences of the function itself. A form without a rule is an error.
"""

import functools
import itertools
import math
import operator
import statistics
import sys
from dataclasses import dataclass

import pytest

np = pytest.importorskip("numpy", reason="the patterns are arrays")
pytest.importorskip("scipy", reason="the patterns are sparse arrays of SciPy")

from cassette_import.contexts.sparsity import SparsityError, hessian, jacobian  # noqa: E402

POINT = [1.5, 2.5, 1.25]
STEP = 1e-3
ITERABLES = {
    "a list": lambda *numbers: list(numbers),
    "a tuple": lambda *numbers: tuple(numbers),
    "a generator": lambda *numbers: (one for one in numbers),
    "an iterator": lambda *numbers: iter(numbers),
    "the values of a dict": lambda *numbers: dict(enumerate(numbers)).values(),
}

# Functions of three numbers and of what makes an iterable.
OF_ITERABLES = {
    "sum(start)": lambda a, b, c, of: sum(of(b, c), a),
    "sum(start=)": lambda a, b, c, of: sum(of(b, c), start=a),
    "sum of nothing": lambda a, b, c, of: sum(of(), start=a) * b * c,
    "sum of constants": lambda a, b, c, of: sum(of(1.0, 2.0), start=a) + b * c,
    "prod": lambda a, b, c, of: math.prod(of(a, b, c)),
    "prod(start=)": lambda a, b, c, of: math.prod(of(b, c), start=a),
    "prod of nothing": lambda a, b, c, of: math.prod(of(), start=a) + b * c,
    "prod of constants": lambda a, b, c, of: math.prod(of(2.0), start=a) * b + c,
    "fsum": lambda a, b, c, of: math.fsum(of(a * b, c)),
    "max(default=)": lambda a, b, c, of: max(of(), default=a) * b + c,
    "min(default=)": lambda a, b, c, of: min(of(), default=a) * b + c,
    "max(key=)": lambda a, b, c, of: max(of(a, b, c), key=lambda one: -one),
    "min(key=)": lambda a, b, c, of: min(of(a, b), key=abs) * c,
    "reduce": lambda a, b, c, of: functools.reduce(operator.mul, of(b, c), a),
    "reduce of nothing": lambda a, b, c, of: functools.reduce(operator.mul, of(), a) * b + c,
    "reduce of a lambda": lambda a, b, c, of: functools.reduce(lambda one, other: one * other, of(a, b, c)),
    "accumulate": lambda a, b, c, of: sum(itertools.accumulate(of(b, c), initial=a)),
    "accumulate of products": lambda a, b, c, of: sum(itertools.accumulate(of(b, c), operator.mul, initial=a)),
    "sorted(key=)": lambda a, b, c, of: sorted(of(a, b), key=lambda one: -one)[0] * c,
    "sorted(reverse=)": lambda a, b, c, of: sorted(of(a, b), reverse=True)[0] * c,
    "mean": lambda a, b, c, of: statistics.mean(of(a, b)) * c,
    "fmean": lambda a, b, c, of: statistics.fmean(of(a, b)) * c,
    "fmean(weights=)": lambda a, b, c, of: statistics.fmean(of(a, b), weights=[c, 1.0]),
    "fmean of constants": lambda a, b, c, of: statistics.fmean(of(1.0, 2.0), weights=[a, b]) * c,
    "fmean by position": lambda a, b, c, of: statistics.fmean(of(a, 1.0), of(b, c)),
    "variance(xbar=)": lambda a, b, c, of: statistics.variance(of(a, b), xbar=c),
    "pvariance(mu=)": lambda a, b, c, of: statistics.pvariance(of(1.0, 2.0), mu=a) * b * c,
    "stdev by position": lambda a, b, c, of: statistics.stdev(of(a, b), c),
    "harmonic_mean(weights=)": lambda a, b, c, of: statistics.harmonic_mean(of(a, 2.0), weights=of(b, c)),
    "dist": lambda a, b, c, of: math.dist(of(a, b), of(c, 1.0)),
    "covariance": lambda a, b, c, of: statistics.covariance(of(a, b), of(c, 1.0)),
    "chain": lambda a, b, c, of: sum(itertools.chain(of(a, b), [c])),
    "map": lambda a, b, c, of: sum(map(operator.mul, of(a, b), of(b, c))),
    "map of a lambda": lambda a, b, c, of: sum(map(lambda one: one * one, of(a, b, c))),
    "starmap": lambda a, b, c, of: sum(itertools.starmap(operator.mul, [of(a, b), of(b, c)])),
    "filter": lambda a, b, c, of: sum(filter(None, of(a * b, c))),
    "zip(strict=)": lambda a, b, c, of: sum(one * other for one, other in zip(of(a, b), of(b, c), strict=True)),
    "enumerate(start=)": lambda a, b, c, of: sum(number * one for number, one in enumerate(of(a, b, c), start=1)),
    "dict(name=)": lambda a, b, c, of: math.prod(dict(one=a, other=b).values()) + sum(of(c)),
    "np.array": lambda a, b, c, of: np.prod(np.array([*of(a, b, c)])),
}  # fmt: skip
if hasattr(math, "sumprod"):
    OF_ITERABLES["sumprod"] = lambda a, b, c, of: math.sumprod(of(a, b), of(b, c))
if sys.version_info >= (3, 14):
    OF_ITERABLES["reduce(initial=)"] = lambda a, b, c, of: functools.reduce(operator.mul, of(b, c), initial=a)
    OF_ITERABLES["map(strict=)"] = lambda a, b, c, of: sum(map(operator.mul, of(a, b), of(b, c), strict=True))


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float = 1.0


class Slotted:
    __slots__ = ("x", "y")


class Base:
    __slots__ = ("x",)


class Both(Base):
    pass


def changed(kind):
    def f(a, b, c):
        made = kind()
        made.x = a
        if b > 0:
            made.x = made.x * b
        made.x += c
        return made.x

    return f


def kept(kind, before):
    shared = kind()
    if before:
        shared.x = 1.0

    def f(a, b, c):
        shared.x = a * b
        return shared.x + c

    return f


def frozen(a, b, c):
    made = Point(a, y=b) if c > 0 else Point(x=b, y=a)
    return made.x * made.y + c


def thawed(a, b, c):
    made = Point(1.0, b)
    if c > 0:
        object.__setattr__(made, "x", a)
    return made.x * made.y + c


class Thawed:
    def __init__(self, x):
        super().__init__()
        super().__setattr__("x", x)

    def __setattr__(self, name, value):
        raise AttributeError(name)


def own_setter(a, b, c):
    found = Thawed(a).x * b if c > 0 else Thawed(b).x
    return found + c


OTHERS = {
    "hypot": lambda a, b, c: math.hypot(a, b, c),
    "max": lambda a, b, c: max(a, b, c),
    "max with a key": lambda a, b, c: max(a, b, c, key=lambda one: -one),
    "log": lambda a, b, c: math.log(a, b) * c,
    "complex(real=)": lambda a, b, c: abs(complex(real=a, imag=b)) * c,
    "complex(imag=)": lambda a, b, c: abs(complex(a, imag=b)) + c,
    "round(number=)": lambda a, b, c: round(number=a, ndigits=1) + b * c,
    "pow(base=)": lambda a, b, c: pow(base=a, exp=2) * pow(b, exp=c),
    "isclose(rel_tol=)": lambda a, b, c: a if math.isclose(a, b, rel_tol=c) else b,
    "partial": lambda a, b, c: functools.partial(math.prod, start=a)([b]) * c,
    "partial of a position": lambda a, b, c: functools.partial(operator.mul, a)(b) * c,
    "operator.call": lambda a, b, c: operator.call(math.prod, [b], start=a) * c,
    "a lambda": lambda a, b, c: (lambda one, *, other: one * other)(a, other=b) * c,
    "keywords of a dict": lambda a, b, c: math.prod([b], start=a) * c,
    "frozen slots": frozen,
    "a frozen object that is set": thawed,
    "an own setter": own_setter,
    "new slots": changed(Slotted),
    "slots of a base": changed(Both),
    "slots that had no value": kept(Slotted, False),
    "slots that had a value": kept(Slotted, True),
    "slots of a base that had no value": kept(Both, False),
    "np.sum(initial=)": lambda a, b, c: np.sum(np.array([b, c]), initial=a),
    "np.prod(initial=)": lambda a, b, c: np.prod(np.array([b, c]), initial=a),
    "np.max(initial=)": lambda a, b, c: np.max(np.array([b, c]), initial=a),
    "add.reduce(initial=)": lambda a, b, c: np.add.reduce(np.array([b, c]), initial=a),
    "np.average(weights=)": lambda a, b, c: np.average(np.array([a, 1.0]), weights=np.array([b, c])),
    "np.clip(min=)": lambda a, b, c: np.sum(np.clip(np.array([a, b]), a_min=c, a_max=9.0)),
    "np.full(fill_value=)": lambda a, b, c: np.sum(np.full(2, fill_value=a)) * b * c,
    "np.full_like(fill_value=)": lambda a, b, c: np.sum(np.full_like(np.zeros(2), fill_value=a)) * b * c,
    "np.linspace": lambda a, b, c: np.sum(np.linspace(start=a, stop=b, num=3)) * c,
    "np.where": lambda a, b, c: np.sum(np.where(np.array([True, False]), a, b)) * c,
    "np.select(default=)": lambda a, b, c: np.sum(np.select([np.array([True, False])], [a], default=b)) * c,
    "np.interp(left=)": lambda a, b, c: np.interp(-1.0, [0.0, 1.0], [1.0, a], left=b) * c,
    "np.nan_to_num(nan=)": lambda a, b, c: np.nan_to_num(np.array([a, math.nan]), nan=b).sum() * c,
    "np.diff(prepend=)": lambda a, b, c: np.sum(np.diff(np.array([a, b]), prepend=c) ** 2),
    "np.trapezoid(dx=)": lambda a, b, c: getattr(np, "trapezoid", getattr(np, "trapz", None))([a, b], dx=c),
    "np.pad(constant_values=)": lambda a, b, c: np.prod(np.pad(np.array([a, b]), 1, constant_values=c)),
    "np.add(where=)": lambda a, b, c: np.sum(np.add(np.array([a, b]), c, where=[True, False], out=np.array([a, b]))),
    "np.insert(values=)": lambda a, b, c: np.prod(np.insert(np.array([a, b]), 1, values=c)),
    "np.append(values=)": lambda a, b, c: np.prod(np.append(np.array([a, b]), values=c)),
}  # fmt: skip


def is_a_program(f):
    """Whether plain Python accepts a form."""
    try:
        return bool(f(POINT) or True)
    except TypeError:
        return False


FORMS = {
    **{
        f"{name} of {kind}": functools.partial(lambda f, of, v: f(*v, of), f, of)
        for name, f in OF_ITERABLES.items()
        for kind, of in ITERABLES.items()
    },
    **{name: functools.partial(lambda f, v: f(*v), f) for name, f in OTHERS.items()},
}
FORMS = {name: f for name, f in FORMS.items() if is_a_program(f)}


def moved(f, *changes):
    point = list(POINT)
    for place, change in changes:
        point[place] += change
    return float(f(point))


def true_jacobian(f):
    return [abs(moved(f, (i, STEP)) - moved(f, (i, -STEP))) > 1e-7 for i in range(3)]


def true_hessian(f):
    def second(i, j):
        signs = itertools.product((1, -1), repeat=2)
        return sum(a * b * moved(f, (i, a * STEP), (j, b * STEP)) for a, b in signs) / (4 * STEP * STEP)

    return [[abs(second(i, j)) > 1e-5 for j in range(3)] for i in range(3)]


@pytest.mark.parametrize("name", FORMS)
def test_a_number_is_followed_however_it_is_passed(name):
    f = FORMS[name]
    slopes, curvatures = np.array([true_jacobian(f)]), np.array(true_hessian(f))
    for local in (False, True):
        try:
            first, second = jacobian(f, POINT, local=local).toarray(), hessian(f, POINT, local=local).toarray()
        except SparsityError:
            assert name in REFUSED
            continue
        assert not (slopes & ~first).any()
        assert not (curvatures & ~second).any()


REFUSED = {"isclose(rel_tol=)", *(f"filter of {kind}" for kind in ITERABLES)}
"""These have no rule: code in C decides by a number."""


def test_what_the_program_changes_in_slots_is_put_back():
    shared = Slotted()
    jacobian(lambda v: setattr(shared, "x", v[0]) or v[1], [1.0, 2.0])
    assert not hasattr(shared, "x")
    shared.x = 5.0
    jacobian(lambda v: setattr(shared, "x", v[0]) or v[1], [1.0, 2.0])
    assert shared.x == 5.0


def test_what_the_program_changes_in_a_frozen_object_is_put_back():
    shared = Point(5.0)
    jacobian(lambda v: object.__setattr__(shared, "x", v[0]) or shared.x * v[1], [1.0, 2.0])
    assert shared == Point(5.0)


def test_a_name_that_is_no_slot_is_the_error_of_plain_python():
    def f(v):
        made = Slotted()
        made.z = v[0]

    with pytest.raises(AttributeError, match="'Slotted' object has no attribute 'z'"):
        jacobian(f, [1.0])
