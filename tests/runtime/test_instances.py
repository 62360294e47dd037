"""`value in InstancesOf(types)` asks for the type of a value, and runs no code of the program."""

import gc
import weakref

import pytest
from helpers.accelerator import problem_of_dispatch

from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.dispatch.guards import InstancesInPython


@pytest.fixture(params=["in C", "in Python"])
def instances_of(request):
    if request.param == "in Python":
        return InstancesInPython
    if problem_of_dispatch():
        pytest.skip(problem_of_dispatch())
    return DISPATCH.InstancesOf


class Forbidding(type):
    def __hash__(cls):
        raise AssertionError("asked for the hash of a class")

    def __eq__(cls, other):
        raise AssertionError("compared classes")

    def __instancecheck__(cls, value):
        raise AssertionError("asked a class for its instances")


class Base(metaclass=Forbidding):
    def __getattribute__(self, name):
        raise AssertionError(f"asked for {name}")


class Derived(Base):
    pass


def test_instances_of_the_types_are_in_it_and_no_others(instances_of):
    held = instances_of((Base, int))
    assert Base() in held
    assert 1 in held
    assert Derived() not in held
    assert True not in held
    assert Base not in held
    assert 1 not in instances_of(())


def test_the_types_are_held_in_order_and_freed_with_it(instances_of):
    class Local:
        pass

    held = instances_of((Local, int))
    assert held.types == (Local, int)
    known = weakref.ref(Local)
    del Local, held
    gc.collect()
    assert known() is None
