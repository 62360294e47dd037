"""What generator expressions yield while nothing is tagged, and what they compute it from, lives as long as in plain
Python.
"""

import gc
import importlib

import pytest

from cassette_import import Context, install, overdub

SOURCE = """
import weakref

ALIVE = weakref.WeakSet()


class Thing:
    def __init__(self, value):
        self.value = value
        ALIVE.add(self)

    def __add__(self, other):
        return Thing(self.value + getattr(other, "value", other))

    @property
    def twice(self):
        return Thing(self.value * 2)

    def thrice(self):
        return Thing(self.value * 3)


def made(value):
    return Thing(value)


def sums(values):
    return (Thing(value) + Thing(value) + 1 for value in values)


def attributes(values):
    return (Thing(value).twice.twice for value in values)


def calls(values):
    return (made(made(value).value + 1) for value in values)


def methods(values):
    return (made(value).thrice().thrice() for value in values)


def pairs(values):
    return ((made(value), [made(value + 1)]) for value in values)


def tested(values):
    return (made(value) + 1 for value in values if made(value).value % 2 and made(value))


def nested(values):
    return (inner + outer for outer in values for inner in (made(outer),))
"""


class Tagging(Context, tagging=True):
    pass


def alive_at_each_item(module, function):
    """How many objects are alive while each item is, and when it is gone."""
    found = []
    iterator = function([1, 2, 3])
    for _ in range(4):
        item = next(iterator, None)
        found.append(len(module.ALIVE))
        item = None
        found.append((len(module.ALIVE), item))
    return found


@pytest.fixture
def module(make_package):
    name = make_package(SOURCE)
    install(name)
    return importlib.import_module(name)


@pytest.mark.parametrize("name", ["sums", "attributes", "calls", "methods", "pairs", "tested", "nested"])
def test_no_part_of_an_item_outlives_it_while_the_expression_is_suspended(name, module):
    function = getattr(module, name)
    gc.collect()
    expected = alive_at_each_item(module, function)
    assert overdub(Tagging(), lambda: alive_at_each_item(module, function)) == expected
