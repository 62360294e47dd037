"""`shadow` for NumPy: each element of an array has an exact value, or what computes it is an error."""

import copy
import functools
import itertools
import math
import operator
import pickle

import pytest

np = pytest.importorskip("numpy", reason="the tests are about arrays")
mpmath = pytest.importorskip("mpmath", reason="shadows need mpmath")

from cassette_import import NotOverdubbable  # noqa: E402
from cassette_import.contexts.precision import shadow  # noqa: E402

SMALL = 1e-20


class Box:
    def __init__(self, value):
        self.value = value


def first_of_loop(x):
    for item in x:
        return item


def unpacked(x):
    first, _ = x
    return first


def matched(x):
    match x.shape:
        case (size,):
            return x[size - 2]


FIRST = {
    "item": lambda x: x[0],
    "slice": lambda x: x[:1],
    "ellipsis": lambda x: x[..., 0],
    "new axis": lambda x: x[None, 0][0],
    "mask": lambda x: x[np.array([True, False])],
    "list of indices": lambda x: x[[0, 1]][0],
    "reversed": lambda x: x[::-1][1],
    "loop": first_of_loop,
    "unpacking": unpacked,
    "match": matched,
    "list": lambda x: (*list(x), 0.0)[0],
    "tolist": lambda x: x.tolist()[0],
    "map": lambda x: next(map(lambda item: item, x)),
    "zip": lambda x: next(zip(x, x, strict=True))[0],
    "chain": lambda x: next(itertools.chain(x)),
    "fsum": lambda x: math.fsum(x) - x[1],
    "copies": lambda x: copy.copy(x)[0] + copy.deepcopy(x)[0] - x[0],
    "pickle": lambda x: pickle.loads(pickle.dumps(x))[0],
    "bytes": lambda x: np.frombuffer(x.tobytes())[0],
    "memoryview": lambda x: memoryview(x)[0],
    "text": lambda x: float(str(x[0])),
    "flat": lambda x: x.flat[0],
    "iterators": lambda x: next(iter(np.nditer(x))),
    "float64": lambda x: np.float64(x[0]),
    "float": lambda x: float(x[0]),
    "real": lambda x: x.real[0],
    "view": lambda x: x.view()[0],
    "astype": lambda x: x.astype(float)[0],
    "attribute": lambda x: Box(x).value[0],
    "dict": lambda x: {"a": x}["a"][0],
    "closure": lambda x: (lambda: x)()[0],
    "itemgetter": lambda x: operator.itemgetter(0)(x),
    "partial": lambda x: functools.partial(operator.getitem, x)(0),
    "method": lambda x: x.__add__(0.0)[0],
    "transposed": lambda x: x.reshape(2, 1).T[0, 0],
    "joined": lambda x: np.concatenate([x, np.ones(2)])[0] + np.stack([x, x], axis=1)[0, 1] - np.hstack((x, x))[2],
    "made": lambda x: np.array([x[0], 2.0])[0] + np.array([[x[0]], [2.0]])[0, 0] - np.asarray(x)[0],
    "full": lambda x: np.full(2, x[0])[0],
    "where": lambda x: np.where(x > 0.0, x, 0.0)[0],
    "operators": lambda x: ((+x / 1) ** 1)[0] + abs(-x)[0] - (np.ones(2) * x)[0],
    "functions": lambda x: np.exp(np.log(x))[0] + np.sqrt(x * x)[0] - np.hypot(x, 0.0)[0],
    "of numbers": lambda x: np.add(x[0], 0.0),
    "sums": lambda x: x.sum() - np.sum(x[1:]) + np.mean(np.array([x, x]), axis=0)[0] - x.cumsum()[0],
    "products": lambda x: x @ np.array([1.0, 0.0]) + np.dot(x, np.array([1.0, 0.0])) - x.prod() / x[1],
    "einsum": lambda x: np.einsum("i,i", x, np.array([1.0, 0.0])),
    "extremes": lambda x: x.min() + np.min(x) - np.minimum(x, 9.0)[0],
    "not a number": lambda x: np.fmax(x, np.nan)[0],
    "remainder": lambda x: x[0] + np.remainder(x, 0.25)[0] - np.fmod(np.maximum(x, 0.5), 0.25)[0],
    "squares": lambda x: np.square(x)[0] * np.reciprocal(x)[0],
    "rounding": lambda x: np.round(x, 20)[0],
    "vectorize": lambda x: np.vectorize(lambda item: item)(x)[0],
    "single": lambda x: (x * np.ones(2, dtype=np.float32))[0],
    "integers": lambda x: (x * np.array([1, 1]))[0],
    "branch": lambda x: x[0] if (x > 0.5).all() else 0.0,
}
"""Functions that return the first element, by many ways."""
ERRORS = set(
    "tolist|pickle|bytes|memoryview|text|flat|iterators|float64|real|view|astype|"
    "method|full|where|einsum|not a number|rounding|vectorize|single".split("|")
)


@pytest.mark.parametrize("name", sorted(FIRST.keys() - ERRORS))
def test_an_element_keeps_its_exact_value(name):
    def difference(x):
        return FIRST[name](x + np.array([1.0, 2.0])) - 1.0

    exact = np.ravel(shadow(difference, np.array([SMALL, 0.0])).exact)[0]
    assert abs(exact - mpmath.mpf(SMALL)) < 1e-40


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_what_has_no_rule_is_an_error(name):
    def difference(x):
        return FIRST[name](x + np.array([1.0, 2.0])) - 1.0

    with pytest.raises(NotOverdubbable, match="there is no exact value of"):
        shadow(difference, np.array([SMALL, 0.0]))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.copysign(x, -0.0),
        lambda x: np.arctan2(np.array([-0.0]), -x),
        lambda x: np.arctan2(x - x, -x),
        lambda x: np.array([math.copysign(x[0], -0.0) + math.atan2(-0.0, -x[0])]),
    ],
)
def test_a_zero_gives_its_sign_to_the_exact_value(f):
    found = shadow(f, np.array([2.0]))
    assert found.relative_error < 1e-15


def assign(x):
    x[0] = 1.0


def assign_to_view(x):
    x[1:][0] = 1.0


def assign_to_another(x):
    other = np.zeros(3)
    other[0] = x[0]
    return other


def add_in_place(x):
    x += 1.0


def add_to_another(x):
    other = np.zeros(3)
    other += x
    return other


CHANGES = [
    assign, assign_to_view, assign_to_another, add_in_place, add_to_another,
    lambda x: np.add(x, x, out=x), lambda x: np.add(x, x, x), lambda x: np.clip(x, 0.0, 1.0, out=x), lambda x: x.sort(),
    lambda x: x.fill(1.0), lambda x: np.put(x, 0, 1.0), lambda x: setattr(x, "shape", (3, 1)),
    lambda x: np.random.default_rng(1).shuffle(x), lambda x: np.sum(x, out=np.zeros(())),
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_place_is_an_error(change):
    def program(x):
        try:
            change(x)
        except Exception:
            pass
        return x * 1.0

    with pytest.raises(NotOverdubbable):
        shadow(program, np.array([3.0, 2.0, 1.0]))


def test_the_argument_is_not_changed():
    given = np.array([1.0, 2.0])
    found = shadow(lambda x: x * 2.0, given)
    assert given.tolist() == [1.0, 2.0]
    assert found.value.tolist() == [2.0, 4.0]
    assert type(found.value) is np.ndarray


CANCELLATIONS = [
    (lambda x: (np.exp(x) - 1.0) / x, [1e-9, 1e-8], "np.exp(x) - 1.0"),
    (lambda x: np.sum(x), [1e16, 1.0, -1e16], "np.sum(x)"),
    (lambda x: x.sum(), [1e16, 1.0, -1e16], "x.sum()"),
    (lambda x: (x**2).mean() - x.mean() ** 2, [1e8, 1e8 + 1, 1e8 + 2], "(x**2).mean() - x.mean() ** 2"),
    (lambda x: x @ np.array([1.0, 1.0, 1.0]), [1e16, 1.0, -1e16], "x @ np.array([1.0, 1.0, 1.0])"),
]


@pytest.mark.parametrize(("f", "given", "expression"), CANCELLATIONS)
def test_the_expression_that_cancels_is_the_worst_culprit(f, given, expression):
    found = shadow(f, np.array(given))
    assert found.culprits[0].text == expression
    assert found.relative_error > 1e-9


def test_a_stable_formula_has_no_culprits():
    found = shadow(lambda x: np.expm1(x) / x, np.array([1e-9, 1e-8]))
    assert found.culprits == []
    assert found.relative_error < 1e-15
    assert abs(found.exact[0] - mpmath.expm1(mpmath.mpf(1e-9)) / mpmath.mpf(1e-9)) < 1e-15


def test_a_comparison_that_exact_numbers_would_decide_otherwise_is_noted():
    def above(x):
        return x * ((x + 1e16) - 1e16 > 0.5)[0]

    with pytest.raises(NotOverdubbable):  # a truth value of NumPy is no number
        shadow(above, np.array([0.75]))
    found = shadow(lambda x: x if ((x + 1e16) - 1e16 > 0.5).all() else -x, np.array([0.75]))
    assert found.value.tolist() == [-0.75]
    assert list(found.decisions.values()) == [1]


@pytest.mark.parametrize("kind", ["float32", "complex128", "int64", "object"])
def test_arguments_are_arrays_of_float64(kind):
    with pytest.raises(NotOverdubbable, match=f"there are no shadows of arrays of {kind}"):
        shadow(lambda x: x * 2.0, np.ones(2, dtype=kind))
