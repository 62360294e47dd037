"""C methods see the same number of references to their receiver: NumPy's `resize` counts them, and may refuse."""

import importlib
import sys

import pytest
from helpers.contexts import Counting, entered_without_source

from cassette_import import Context, install
from cassette_import.contexts import CallGraph, CallTypes, Noop, Profile, Trace

PROGRAM = """
from weakref import ref


class Items(list):
    pass


def work(count):
    items = Items([1])
    probe = ref(items)
    items.sort(key=lambda item: count(probe))
    return items
"""


class ReadingBefore(Context):
    def prehook(self, f, *arguments, **keywords):
        self.count = len(arguments)


class ReadingAfter(Context):
    def posthook(self, result, f, *arguments, **keywords):
        self.count = len(arguments)


class ReadingAlways(ReadingBefore, ReadingAfter):
    def errorhook(self, exception, f, *arguments, **keywords):
        self.count = len(arguments)


class Naming(Context):
    def prehook(self, f, *arguments, **keywords):
        self.last = f

    def errorhook(self, exception, f, *arguments, **keywords):
        self.last = f


@pytest.mark.parametrize(
    "makers",
    [
        (Counting,),
        (ReadingBefore,),
        (ReadingAfter,),
        (ReadingAlways,),
        (Naming,),
        (Naming, ReadingAlways),
        (ReadingBefore, Counting),
        (Profile,),
        (CallGraph,),
        (CallTypes,),
        (Noop,),
        (Trace,),
    ],
    ids=lambda makers: "_".join(maker.__name__ for maker in makers),
)
def test_a_C_method_is_called_with_the_same_number_of_references(makers, make_package, capsys):
    name = make_package({"__init__.py": PROGRAM})
    program = importlib.import_module(name)
    found = []

    def count(probe):
        found.append(sys.getrefcount(probe()))
        return 0

    program.work(count)
    install([name])
    _inside([make() for make in makers], lambda: program.work(count))
    plain, inside = found
    # From 3.14 on, a call of a method borrows the variable's reference, while a bound method holds one itself.
    assert inside - plain in ((0, 1) if sys.version_info >= (3, 14) else (0,))


def _inside(contexts, work):
    if contexts:
        with entered_without_source(contexts[0]):
            return _inside(contexts[1:], work)
    return work()
