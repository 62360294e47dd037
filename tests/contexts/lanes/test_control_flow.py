"""Lanes: every kind of decision gives each lane the result of the scalar call."""

from __future__ import annotations

import cmath
import contextlib
import dataclasses
import math
import numbers
from collections.abc import Iterable, Sized
from typing import Any, NamedTuple

import pytest
from helpers.random_lane_programs import alike

from cassette_import import CassetteWarning
from cassette_import.contexts.lanes import vectorize

np = pytest.importorskip("numpy")

NUMBERS = np.array([-7.5, -1.0, -0.0, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.0, 1e300, 5e-324, math.inf, math.nan])
INTEGERS = np.arange(-6, 26)


class Point(NamedTuple):
    x: float
    y: Any


@dataclasses.dataclass
class Sample:
    value: float
    name: str = "sample"


class Plain:
    def __init__(self, value):
        self.value = value
        self.kind = "plain"


def branches(x):
    if x < 0:
        return -1.0
    elif x > 5:
        y = math.sqrt(x)
    else:
        y = x * 2
    return y + 1


def expressions(x):
    a = 1.0 if x < 1 else 2.0
    b = x or 7.0
    c = x and a
    return a, b, c, not x, 0 < x <= 2 < a + 3


def while_loop(x):
    y, count = x, 0
    while y > 1:
        y /= 2
        count += 1
        if count > 5:
            break
        if y < 1.2:
            continue
        y += 0.125
    else:
        return y, -count
    return y, count


def for_loop(x):
    total = 0.0
    for i in range(6):
        if i == 2:
            continue
        if total > x:
            break
        total += i * 0.75
    else:
        total = -total
    return total, i


def counted(n):
    total = last = 0
    for i in range(2, n, 3):
        if i % 5 == 0:
            continue
        total += i
        last = i
    return total, last


def downwards(n):
    seen = []
    for i in range(n % 7, n % 3, -2):
        seen.append(i)
    return len(seen), sum(seen)


def nested(n):
    total = 0
    for i in range(n % 5):
        for j in range(i):
            if (i + j) % 4 == 3:
                break
            if j > n % 4:
                return total, "inner"
            total += j + 1
        else:
            total += 100
    return total, "end"


def recursive(n):
    return n * recursive(n - 1) if n > 1 else 1


def several(x):
    return sorted([x, 1.0, -x]), min(x, 1.0, 2), max(2.0, x), abs(x), sum([x, 0.1, 0.2])


def conversions(x):
    if x != x or abs(x) > 1e200:
        return None
    return int(x), round(x), round(x, 1), float(x), bool(x), math.floor(x), math.ceil(x), str(x), f"{x:.3f}", "%.2f" % x


def integers(n):
    return n // 3, n % 3, n // -3, n % -3, divmod(n, 4), n & 5, n | 3, n ^ 6, ~n, n << 3, n >> 1, -n, n**2, n**3


def big_integers(n):
    return n * 10**18, n + 2**63, (n + 30) ** 20, 2 ** (n + 6), n << 62


def special(x):
    if math.isinf(x):
        return 0.0, False, True, 0.0, 0.0
    return math.copysign(2.0, x), math.isnan(x), math.isinf(x), math.fmod(x, 0.75), math.degrees(x)


def unreachable(x):
    seen = []
    for i in range(3):
        if x > i:
            if x > 2:
                break
                seen.append(0 % 0)
            continue
            seen = 0 % 0
        elif x < -1:
            return seen
            seen.append(0 % 0)
        seen.append(i)
    return seen


def complex_numbers(x):
    if math.isfinite(x) and abs(x) < 1e100:
        return complex(x, 1.0) * complex(0.5, x), (complex(x, 2) * 1j).real, cmath.isfinite(complex(x, 1))
    return 0j, 0.0, False


def tables(n):
    table = (1.5, 2, 3.25, None, "five")
    names = {0: "zero", 1: "one", 2: "two"}
    rows = [[1, 2], [3, 4], [5, 6]]
    return table[n % 5], names[n % 3], names.get(n, "other"), rows[n % 3][1], n in (1, 2, 3), n in names


def structures(x):
    return {"tuple": (x, 1), "list": [x, "text"], "point": Point(x, None), "sample": Sample(x * 2), "none": None}


def text_by_lane(x):
    kind = "small" if x < 1 else "large"
    return kind.upper(), len(kind), kind + "!", kind == "small"


def singletons(x):
    found = None
    if x > 0:
        found = x
    if found is None:
        return -1.0
    return found * 2 if found is not None else 0.0


def types(x):
    y = 1 if x > 1 else x
    if isinstance(y, float):
        return y / 2
    return type(y).__name__, y


def abilities(x):
    kinds = isinstance(x, Iterable), isinstance(x, numbers.Real), isinstance(x, Sized)
    return kinds, hasattr(x, "__len__"), hasattr(x, "real"), getattr(x, "shape", "none"), getattr(x, "real", 0)


def unbound(x):
    if x > 1:
        late = x
    try:
        return late
    except UnboundLocalError as error:
        return str(error)


def exceptions(x):
    try:
        y = 1 / x
        z = math.sqrt(y)
    except ZeroDivisionError as error:
        return str(error)
    except ValueError:
        z = -1.0
    finally:
        w = 3
    return z + w


def matched(n):
    match n % 4:
        case 0:
            return "zero"
        case 1 | 2 as low:
            return low * 10
        case int():
            return -n
    return None


def swapped(x):
    a, b = x, 1.0
    if a > b:
        a, b = b, a
    [c, *rest] = [a, b, 3]
    return a, b, c, rest


FLOATS = [
    branches,
    expressions,
    while_loop,
    for_loop,
    several,
    conversions,
    special,
    complex_numbers,
    unreachable,
    structures,
    text_by_lane,
    singletons,
    types,
    abilities,
    unbound,
    exceptions,
    swapped,
]
WHOLE = [counted, downwards, nested, recursive, integers, big_integers, tables, matched]


def of_lane(value: Any, number: int) -> Any:
    """The part of a result that belongs to one lane."""
    if type(value) is np.ndarray:
        return value[number : number + 1].tolist()[0]
    if isinstance(value, Point):
        return Point(*[of_lane(part, number) for part in value])
    if isinstance(value, (list, tuple)):
        return type(value)(of_lane(part, number) for part in value)
    if isinstance(value, dict):
        return {key: of_lane(part, number) for key, part in value.items()}
    if isinstance(value, Sample):
        return Sample(of_lane(value.value, number), of_lane(value.name, number))
    return value


@pytest.mark.parametrize(
    ("function", "lanes"),
    [*((function, NUMBERS) for function in FLOATS), *((function, INTEGERS) for function in WHOLE)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_each_lane_has_the_result_of_the_scalar_call(function, lanes):
    result, failures = vectorize(function, errors="return", max_paths=None)(lanes)
    assert failures == {}
    for number, value in enumerate(lanes.tolist()):
        assert alike(of_lane(result, number), function(value)), value


def test_arguments_broadcast():
    result = vectorize(lambda x, y, scale: x * scale if x > y else y)(
        np.array([[1.0], [5.0]]), np.array([2.0, 3.0, 9.0]), 10
    )
    assert result.tolist() == [[2.0, 3.0, 9.0], [50.0, 50.0, 9.0]]


def test_without_arrays_the_result_is_that_of_the_function():
    assert vectorize(branches)(4.0) == branches(4.0)
    with pytest.raises(ZeroDivisionError):
        vectorize(lambda x: 1 / x)(0)


def test_it_is_a_decorator_and_keeps_the_name():
    @vectorize(errors="mask")
    def inverse(x):
        """One over x."""
        return 1 / x

    assert inverse.__name__ == "inverse"
    assert inverse.__doc__ == "One over x."
    assert alike(inverse(np.array([2.0, 0.0, 4.0])).tolist(), [0.5, math.nan, 0.25])


def test_objects_are_put_together():
    result = vectorize(lambda x: Plain(x if x > 1 else 0.0))(np.array([1.0, 2.0, 3.0]))
    assert type(result) is Plain
    assert result.value.tolist() == [0.0, 2.0, 3.0]
    assert result.kind == "plain"


def test_a_result_of_different_structure_is_an_array_of_objects():
    result = vectorize(lambda x: [x] if x > 1 else "none")(np.array([1.0, 2.0]))
    assert result.tolist() == ["none", [2.0]]


def test_chunks_give_the_same_result_and_progress_is_reported():
    reports = []
    lanes = np.linspace(-5, 20, 100)
    whole = vectorize(while_loop)(lanes)
    parts = vectorize(while_loop, chunk=7, progress=lambda done, size: reports.append((done, size)))(lanes)
    assert alike([part.tolist() for part in parts], [part.tolist() for part in whole])
    assert reports[-1] == (100, 100)
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)


def test_no_lanes_give_an_empty_array():
    assert vectorize(branches)(np.zeros((0,))).shape == (0,)


def returns_from_a_loop_within_try(x):
    seen = [x]
    try:
        while True:
            seen.append(len(seen))
            if len(seen) > 4:
                break
            if x > len(seen):
                return seen
        seen.append("after")
    except LookupError:
        seen.append("never")
    else:
        seen.append("else")
    finally:
        seen.append("finally")
    seen.append("end")
    return seen


def returns_from_a_loop_within_with(x):
    seen = [x]
    with contextlib.suppress(ZeroDivisionError):
        for i in range(5):
            seen.append(1 / (x - i))
            if x < 2:
                return seen
    seen.append("end")
    return seen


@pytest.mark.parametrize("f", [returns_from_a_loop_within_try, returns_from_a_loop_within_with])
def test_lanes_that_return_from_a_loop_within_try_or_with_run_its_clauses(f):
    xs = np.array([0.5, 2.5, 3.5, 1.0, 2.0, 7.5, 0.0, 4.0] * 3)
    found = vectorize(lambda x: tuple(map(repr, f(x))))(xs)
    assert [found[lane] for lane in range(24)] == [tuple(map(repr, f(x))) for x in xs.tolist()]


def returns_from_every_turn_within_try(x):
    try:
        while True:
            if x > 3:
                return x
            x += 1
    except LookupError:
        x = -1
    raise ValueError("no lane comes here")


def looks_up_lists(k):
    return [[1], [2]][k]


def test_each_lane_has_the_exception_of_a_key_that_a_table_of_objects_does_not_have():
    ks = np.array([5, 6, 7, 5, 6, 7])
    _, failures = vectorize(looks_up_lists, errors="return")(ks)
    assert {type(failures[lane]) for lane in range(6)} == {IndexError}
    found, failures = vectorize(lambda k: {1: [k], 2: [k]}[k][0], errors="return")(np.arange(8))
    assert found[1:3].tolist() == [1, 2]
    assert {lane: error.args for lane, error in failures.items()} == {k: (k,) for k in (0, 3, 4, 5, 6, 7)}


def test_code_after_try_does_not_run_for_no_lanes():
    xs = np.linspace(-2.0, 5.0, 15)
    assert vectorize(returns_from_every_turn_within_try)(xs).tolist() == list(
        map(returns_from_every_turn_within_try, xs.tolist())
    )


def suppressed_after_a_loop(x, n):
    a = x
    with contextlib.suppress(ZeroDivisionError):
        for _ in range(n):
            a = a + 1
        a = 2 / x
    return a, x


def suppressed_after_a_branch(x, n):
    a = b = x
    with contextlib.suppress(ZeroDivisionError):
        if n > 2:
            a = n
            b = a * 2
        a = b = 2 / x
    return a, b


@pytest.mark.parametrize("f", [suppressed_after_a_loop, suppressed_after_a_branch])
def test_a_variable_that_an_exception_leaves_as_it_was_before_keeps_the_value_of_each_lane(f):
    ns = np.array([6, 2, 5, 1, 4, 0, 3, 7])
    xs = np.zeros(8)
    found = vectorize(lambda x, n: tuple(map(repr, f(x, n))))(xs, ns)
    for place, part in enumerate(found):  # a text that all lanes share is no array
        assert np.broadcast_to(part, 8).tolist() == [repr(f(0.0, n)[place]) for n in ns.tolist()]


def reciprocal(x, y):
    return x / y


@pytest.mark.parametrize(("size", "kind"), [(3, "few"), (50, "many"), (3, "in order")])
def test_an_exception_says_which_line_raised_it_and_for_which_lane(size, kind):
    seen = []

    def recorded(x, y):
        seen.append(x)
        return reciprocal(x, y)

    options = {"effects": "split"} if kind == "in order" else {}
    denominators = np.array([1.0, 0.0, 0.0, *[2.0] * (size - 3)])
    with contextlib.ExitStack() as stack:
        if options:
            stack.enter_context(pytest.warns(CassetteWarning, match="one by one"))
        error = stack.enter_context(pytest.raises(ZeroDivisionError))
        vectorize(recorded if options else reciprocal, **options)(1.0, denominators)
    line = reciprocal.__code__.co_firstlineno + 1
    (note,) = error.value.__notes__
    assert note == (
        f"This exception was raised at {__file__}:{line} in reciprocal, for the lane 1; 2 of {size} lanes fail."
    )


def test_an_exception_without_arrays_says_which_line_raised_it():
    with pytest.raises(ZeroDivisionError) as error:
        vectorize(reciprocal)(1.0, 0.0)
    line = reciprocal.__code__.co_firstlineno + 1
    assert error.value.__notes__ == [f"This exception was raised at {__file__}:{line} in reciprocal."]


def test_a_type_error_says_that_a_list_does_not_become_lanes():
    with pytest.raises(TypeError) as error:
        vectorize(reciprocal)(np.array([1.0, 2.0]), y=[1.0, 2.0])
    assert "each lane gets the whole sequence in argument y" in error.value.__notes__[1]
    assert "numpy.array" in error.value.__notes__[1]
