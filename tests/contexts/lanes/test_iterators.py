"""Lanes: an iterator that some lanes advance is where the scalar call leaves it, in every lane."""

from __future__ import annotations

import itertools

import pytest

from cassette_import.contexts.lanes import vectorize

np = pytest.importorskip("numpy")

NUMBERS = np.linspace(-2.0, 7.0, 40)


def after_break(x):
    rest, total = iter(range(8)), 0
    for item in rest:
        if item > x:
            break
        total += item
    return total, next(rest, None)


def after_break_by_enumerate(x):
    rest, total = iter(range(8)), 0
    for number, item in enumerate(rest):
        if item > x:
            break
        total += item * number
    return total, sum(rest)


def after_break_by_pairs(x):
    rest = iter(range(8))
    for one, other in zip(rest, rest, strict=True):
        if one * other > x:
            break
    return sum(rest)


def after_break_by_a_generator(x):
    squares = (item * item for item in range(8))
    for item in squares:
        if item > x:
            break
    return sum(squares)


def after_break_by_a_generator_function(x):
    def doubled(items):
        for item in items:
            yield 2 * item

    rest = iter(range(8))
    for item in doubled(rest):
        if item > x:
            break
    return sum(rest)


def after_break_by_a_slice(x):
    rest = reversed(range(8))
    for item in itertools.islice(map(abs, rest), 5):
        if item < x:
            break
    return sum(rest)


def after_break_from_a_dict(x):
    tables = {"rest": iter({"a": 1, "b": 2, "c": 3}.items())}
    for _, item in tables["rest"]:
        if item > x:
            break
    return len(list(tables["rest"]))


def after_an_exception(x):
    rest = iter(range(8))
    try:
        for item in rest:
            if item > x:
                raise KeyError(item)
    except KeyError:
        pass
    return sum(rest)


def within_itself(x):
    rest = iter(range(8))
    for one in rest:
        for other in rest:
            if other > x:
                break
        else:
            return one, other
    return one, -1


def by_unpacking(x):
    rest = iter(range(3))
    if x > 0:
        one, two, three = rest
        return one + two + three, sum(rest)
    return 0, sum(rest)


def by_arguments(x):
    rest, most = iter(range(3)), -1
    if x > 0:
        most = max(*rest)
    return most, sum(rest)


def by_a_display(x):
    rest, size = iter(range(3)), -1
    if x > 0:
        size = len([7, *rest])
    return size, sum(rest)


def by_a_comprehension(x):
    rest, size = iter(range(3)), -1
    if x > 0:
        size = len([item for item in rest])
    return size, sum(rest)


def by_a_generator_expression(x):
    rest, total = iter(range(3)), -1
    if x > 0:
        total = sum(item for item in rest)
    return total, sum(rest)


def by_a_test(x):
    rest, found = iter(range(5)), False
    if x > 0:
        found = 2 in rest
    return found, sum(rest)


def by_text(x):
    rest, text = iter("abc"), ""
    if x > 0:
        text = "".join(rest)
    return len(text), len(list(rest))


def by_a_constructor_in_c(x):
    rest, size = iter(range(5)), 0
    if x > 0:
        size = len(bytes(rest))
    return size, sum(rest)


def by_an_operand(x):
    rest = iter(range(5))
    return x > 0 and next(rest), sum(rest)


FUNCTIONS = [f for name, f in vars().items() if name.startswith(("after_", "by_", "within_"))]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_an_iterator_that_some_lanes_advance_is_where_the_scalar_call_leaves_it(f):
    found = vectorize(f)(NUMBERS)
    columns = found if isinstance(found, tuple) else (found,)
    expected = [f(number) for number in NUMBERS.tolist()]
    rows = [one if isinstance(one, tuple) else (one,) for one in expected]
    assert [tuple(row) for row in zip(*[column.tolist() for column in columns], strict=True)] == rows


def test_loops_over_iterators_that_nothing_else_refers_to_run_once_for_all_lanes():
    def total(x):
        found = 0.0
        for number, (item, other) in enumerate(zip([5.0, 6.0, 7.0], range(3), strict=True)):
            if item - 5 > x:
                break
            found += number * item + other
        return found

    assert vectorize(total, max_paths=1)(NUMBERS).tolist() == [total(number) for number in NUMBERS.tolist()]
