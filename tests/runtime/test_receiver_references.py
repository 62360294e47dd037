"""Methods of C find as many references to their receiver as they would: NumPy's `resize` counts them, and refuses."""

import importlib
import sys

import pytest
from helpers.counting import Counting

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


class LookingBefore(Context):
    def prehook(self, f, *arguments, **keywords):
        self.count = len(arguments)


class LookingAfter(Context):
    def posthook(self, result, f, *arguments, **keywords):
        self.count = len(arguments)


class LookingAlways(LookingBefore, LookingAfter):
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
        (LookingBefore,),
        (LookingAfter,),
        (LookingAlways,),
        (Naming,),
        (Naming, LookingAlways),
        (LookingBefore, Counting),
        (Profile,),
        (CallGraph,),
        (CallTypes,),
        (Noop,),
        (Trace,),
    ],
    ids=lambda makers: "_".join(maker.__name__ for maker in makers),
)
def test_a_method_of_C_finds_as_many_references_as_ever(makers, make_package, capsys):
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
    # From 3.14 on a variable lends its reference to a call of a method; a bound method has one of its own.
    assert inside - plain in ((0, 1) if sys.version_info >= (3, 14) else (0,))


def _inside(contexts, work):
    if contexts:
        with contexts[0]:
            return _inside(contexts[1:], work)
    return work()
