"""An empty display or text, wherever it stands, is no reason to leave a function alone."""

import io
import warnings

import pytest

from cassette_import import overdub
from cassette_import.contexts import Profile, Taint, Trace
from cassette_import.contexts.noop import Noop

EMPTY = ["()", "[]", "{}", "''", "f''", "list()", "[*()]", "{**{}}"]
PLACES = {
    "a loop": "for x in {}: f(x)",
    "a list": "return [f(x) for x in {}]",
    "a set": "return {{f(x) for x in {}}}",
    "a dict": "return {{f(x): x for x in {}}}",
    "a generator": "return list(f(x) for x in {})",
    "a generator in a lambda": "return list((lambda: (f(x) for x in {}))())",
    "a list in a lambda": "return (lambda: [f(x) for x in {}])()",
    "a lambda in a list": "return [(lambda: f(x))() for x in {}]",
    "an inner loop": "return [f(y) for x in (1, 2) for y in {}]",
    "an inner loop of a generator": "return list(f(y) for x in (1, 2) for y in {})",
    "a condition": "return [x for x in (1, 2) if {}]",
    "a loop of an inner function": "def g():\n        for x in {}: yield f(x)\n    return list(g())",
    "an unpacked argument": "return f(1, *{})",
    "a star target": "*a, = {}\n    return a",
    "a return": "return f(1) and {}",
    "a comparison": "return f(1) == {}",
    "a subscript": "return {}[:]",
    "a condition of if": "if {}: return 1\n    return f(2)",
    "a formatted value": 'return f"{{f(1)}}{{ ({}) }}"',
    "an exception": "return next((x for x in {}), f(3))",
}


@pytest.mark.parametrize("place", PLACES)
def test_functions_with_empty_displays_are_overdubbed(place, make_program):
    functions, count = "def f(x, *more):\n    return x\n", 0
    for empty in EMPTY:
        if place == "a subscript" and empty in ("{}", "{**{}}"):
            continue
        count += 1
        functions += f"def f{count}():\n    {PLACES[place].format(empty)}\n"
    text = functions + "def main():\n" + f"    return [{', '.join(f'f{one + 1}()' for one in range(count))}]\n"
    expected = make_program(text).main()
    for kind in (Noop, Profile, lambda: Trace(file=io.StringIO()), Taint):
        program = make_program(text)
        with warnings.catch_warnings(action="error"):
            assert overdub(kind(), program.main) == expected
