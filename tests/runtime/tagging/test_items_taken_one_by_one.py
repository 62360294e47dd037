"""Functions in C take the items of an iterator one after the other while values are tagged, too: an error or an early
end leaves the rest in the iterator, and exceptions are those of plain Python.
"""

import contextlib
import functools

import pytest

from cassette_import import Context, metadata, overdub, tag

TAKEN = []


class Marking(Context, tagging=True):
    pass


class Unhashable:
    __hash__ = None


def items(*given):
    for item in given:
        TAKEN.append(type(item).__name__)
        yield item
    TAKEN.append("end")


def plain(value):
    return value


FUNCTIONS = {
    "max": lambda mark: max(items(1, mark("a"), 2)),
    "min with a key": lambda mark: min(items(1, mark("a"), 2), key=lambda item: item + 1),
    "set": lambda mark: set(items(1, mark([]), 2)),
    "dict.fromkeys": lambda mark: dict.fromkeys(items(mark([]), 2)),
    "set.update": lambda mark: {0}.update(items(1, mark(Unhashable()), 2)),
    "set.union of two": lambda mark: {0}.union(items(mark(1), []), items(2)),
    "set.intersection": lambda mark: {1}.intersection(items(mark(1), 2, 3)),
    "set.difference": lambda mark: {1}.difference(items(mark(1), [], 3)),
    "dict": lambda mark: dict(items(mark("ab"), "c", 1)),
    "dict.update": lambda mark: {}.update(items(mark((1, 2)), (1, 2, 3), 1)),
    "reduce of nothing": lambda mark: functools.reduce(max, mark([])),
    "reduce of no iterable": lambda mark: functools.reduce(max, mark(None)),
    "reduce of no iterable from a value": lambda mark: functools.reduce(max, 1, mark(2)),
}


def observe(run):
    TAKEN.clear()
    try:
        return run(), list(TAKEN)
    except (TypeError, ValueError) as error:
        return str(error), type(error.__context__), list(TAKEN)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_many_items_are_taken_and_the_error_is_the_same_while_values_are_tagged(name):
    function, ctx = FUNCTIONS[name], Marking()
    expected = observe(lambda: function(plain))
    assert observe(lambda: overdub(ctx, function, lambda value: tag(value, ctx, "m"))) == expected


def updated(elements, source):
    with contextlib.suppress(TypeError):
        elements.update(source)
    return elements


def test_elements_before_an_error_are_added_with_their_metadata():
    ctx, one = Marking(), 1234567

    def run():
        found = updated({0}, [0.5, tag(one, ctx, "m"), [], 7])
        return [metadata(element, ctx) for element in found if element == one]

    assert overdub(ctx, run) == ["m"]
