"""Functions that no call event enters, such as properties, descriptors and callbacks, run in a profile."""

import dis

from cassette_import import overdub
from cassette_import.contexts import Profile


class Descriptor:
    def __get__(self, instance, owner=None):
        if instance is None:
            return 1
        return len([instance])


class Thing:
    described = Descriptor()

    @property
    def items(self):
        return sorted([2, 1])

    def __add__(self, other):
        return max(1, other)


def program():
    thing = Thing()
    return thing.described, Thing.described, thing.items, thing + 2, sorted([3, 1], key=lambda number: abs(number))


def test_functions_that_operators_and_c_code_call_run_as_in_plain_python():
    plain = program()
    for _ in range(2):
        assert overdub(Profile(), program) == plain == (1, 1, [1, 2], 2, [1, 3])


def test_their_bodies_load_no_names_but_those_of_the_program():
    overdub(Profile(), program)
    for function in (Descriptor.__get__, Thing.items.fget, Thing.__add__, program):
        loads = [step for step in dis.get_instructions(function) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
        assert not [step.argval for step in loads if step.argval.startswith("@")]
