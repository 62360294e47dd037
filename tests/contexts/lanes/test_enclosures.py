"""Enclosures in a vectorized function are those of the scalar calls, for all lanes at once."""

from __future__ import annotations

import math

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("flint", reason="the extra intervals")

from cassette_import.contexts.autodiff import derivative  # noqa: E402
from cassette_import.contexts.intervals import Interval, NotEnclosed, Undecided, enclosure  # noqa: E402
from cassette_import.contexts.lanes import EffectError, vectorize  # noqa: E402

LANES = np.linspace(0.1, 2.9, 17)


def branches(x):
    s = [x, 1.0]
    for _ in range(3):
        if s[0] > 1.5:
            s[0] = s[0] / 2
        s[1] += min(s[0], x * x)
    return math.sin(x) * s[1] if x > 1 else x * x + s[1]


def folds(x):
    return sum([x, 2, x * x]) + math.prod([x, 0.5]) + max(x, 1.0, x * x) + math.fsum([x, 0.1])


def domains(x):
    return math.sqrt(x - 1) + math.log(x - 0.5) + 1 / (x - 2)


def overflows(x):
    return math.exp(x * 300)


def integers(x):
    return math.floor(x) + int(x * 2) * x + round(x, 1) + abs(-x) + x // 0.7


def zeros(x):
    return math.atan2(0.0, x) + math.copysign(x, -0.0) + math.hypot(x, 3) + float(x)


def structures(x):
    return {"a": [x, x + 1], "b": (2.0, "text", None), "c": x > 1}


def catches(x):
    try:
        return math.sqrt(x - 1)
    except Exception:
        return 0.0


FUNCTIONS = [branches, folds, domains, overflows, integers, zeros, structures, catches]


def of_lane(value, number):
    """The part of a result that belongs to one lane."""
    if isinstance(value, np.ndarray):
        return value[number].item() if value.dtype.kind != "O" else value[number]
    if isinstance(value, (list, tuple)):
        parts = [of_lane(part, number) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: of_lane(part, number) for key, part in value.items()}
    return value


def alike(one, other):
    """Whether results are equal. The radius of a ball has 30 bits, and sums begin with an exact zero."""
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-300)
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    return one == other


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("width", [0.0, 1e-9, 0.05])
def test_an_enclosure_by_lanes_is_that_of_the_scalar_call(f, width):
    def enclosed(x):
        return enclosure(f, Interval(x, x + width))

    results, failures = vectorize(enclosed, errors="return")(LANES)
    for number, x in enumerate(LANES.tolist()):
        if number in failures:
            with pytest.raises((Undecided, NotEnclosed)) as expected:
                enclosed(x)
            assert type(failures[number]) is expected.type
        else:
            assert alike(of_lane(results, number), enclosed(x))


def test_enclosures_of_derivatives_contain_the_derivatives():
    found = vectorize(lambda x: enclosure(lambda y: derivative(math.sin, y), Interval(x, x + 1e-3)))(LANES)
    assert (found.low <= np.cos(LANES)).all()
    assert (np.cos(LANES) <= found.high).all()
    assert (found.high - found.low < 1.1e-3).all()


def test_an_interval_with_its_ends_exchanged_is_the_error_of_its_lane():
    _, failures = vectorize(lambda x: enclosure(branches, Interval(x, 1.05)), errors="return")(LANES)
    assert {type(failures[number]) for number in range(6, 17)} == {ValueError}


def test_a_function_without_a_rule_is_refused():
    with pytest.raises(EffectError, match=r"no enclosure by lanes: no rule is known for .*frexp"):
        vectorize(lambda x: enclosure(lambda y: math.frexp(y)[0], Interval(x, x)))(LANES)


def test_a_number_computed_from_its_text_is_refused():
    with pytest.raises(EffectError, match="no enclosure by lanes"):
        vectorize(lambda x: enclosure(lambda y: float(f"{y}"), Interval(x, x + 1)))(LANES)
