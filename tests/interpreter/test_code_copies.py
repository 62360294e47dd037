"""Changed copies of code objects: the names of module and class bodies survive them."""

import importlib
import textwrap

import pytest

from cassette_import import Context, Events, install, overdub
from cassette_import.interpreter.code_objects import changed_copy

COMPREHENSIONS = {
    "that runs": "y = [i for i in range(2)]",
    "in a branch never taken": "y = 0\nif 0: y = [i for i in range(2)]",
    "in a loop never entered": "y = 0\nwhile 0: y = {i for i in range(2)}",
    "in an expression never taken": "y = {i: i for i in range(2)} if 0 else 1",
    "in the message of an assertion": "y = 1\nassert 1, [i for i in range(2)]",
    "with a closure": "y = [(lambda: i)() for i in range(2)]",
    "with a closure, in a branch never taken": "y = 0\nif 0: y = [(lambda: i)() for i in range(2)]",
    "of several variables": "y = 0\nif 0: y = [i + j for i, j in [(1, 2)] for k in range(3)]",
    "of many variables": "y = 0\nif 0: y = [1 for " + ", ".join(f"i{n}" for n in range(300)) + ", i in [(1, 2)]]",
}
READERS = {
    "locals": "w = sorted(locals())",
    "exec": "exec('w = i')",
    "eval": "w = eval('i')",
    "dir": "w = dir()",
    "a frame": "import sys\nw = sorted(sys._getframe().f_locals)",
}


def body(comprehension, reader):
    lines = f"i = 7\n{COMPREHENSIONS[comprehension]}\n{READERS[reader]}\nx = i\ndef method(self): return i"
    return textwrap.indent(lines, "    ")


def in_class(comprehension, reader):
    return f"class Body:\n{body(comprehension, reader)}\nresult = Body.x, Body.w, Body.y, Body.i\n"


def in_function(comprehension, reader):
    inner = textwrap.indent(in_class(comprehension, reader).replace("result =", "return"), "    ")
    return f"def make():\n{inner}\nresult = make()\n"


def in_module(comprehension, reader):
    return textwrap.dedent(body(comprehension, reader)) + "\nresult = x, w and 1, y, i\n"


PLACES = {"class": in_class, "class in a function": in_function, "module": in_module}
every_body = pytest.mark.parametrize("place", PLACES)
every_reader = pytest.mark.parametrize("reader", READERS)
every_comprehension = pytest.mark.parametrize("comprehension", COMPREHENSIONS)


def result_of(code):
    namespace = {"__name__": "made"}
    exec(code, namespace)
    return namespace["result"]


def copied(code):
    consts = [copied(const) if hasattr(const, "co_code") else const for const in code.co_consts]
    return changed_copy(code, co_consts=tuple(consts))


@every_body
@every_reader
@every_comprehension
def test_a_copy_of_a_body_with_a_comprehension_keeps_its_names(comprehension, reader, place):
    code = compile(PLACES[place](comprehension, reader), "<made>", "exec")
    assert result_of(copied(code)) == result_of(copied(copied(code))) == result_of(code)


class Counting(Context):
    n = 0

    def prehook(self, f, *args, **kwargs):
        self.n += 1


class Reading(Context, events=Events.ALL):
    def prehook(self, f, *args, **kwargs):
        self.seen = len(args)


@every_body
@pytest.mark.parametrize("kind", [Counting, Reading])
@every_comprehension
def test_a_body_with_a_comprehension_keeps_its_names_in_a_context(make_package, comprehension, kind, place):
    source = PLACES[place](comprehension, "locals").replace("sorted(locals())", "'y' in locals() and 'i' in locals()")
    name = make_package(source)
    with install([name]), kind():
        module = importlib.import_module(name)
    assert module.result == result_of(compile(source, "<made>", "exec"))
    if place == "class in a function":
        assert overdub(kind(), module.make) == module.make()
