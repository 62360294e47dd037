"""Functions that a root function gets as arguments: they are overdubbed whenever they were made."""

import runpy

import pytest

CALLS = {
    "one": "call, lambda: math.sin(0.0)",
    "two": "call, lambda: math.sin(0.0), lambda: math.cos(0.0)",
    "alike": "call, lambda: math.sin(0.0), lambda: math.sin(0.0)",
    "by keyword": "call, lambda: math.sin(0.0), second=lambda: math.sin(0.0)",
    "with a lambda as the root": "lambda f, g: call(f, g), lambda: math.sin(0.0), lambda: math.sin(0.0)",
    "of a partial object": "functools.partial(call, lambda: math.sin(0.0)), lambda: math.sin(0.0)",
    "of several lines": "call,\n        lambda: math.sin(0.0),\n        lambda: math.sin(0.0)",
}

PROGRAM = """
import functools
import math
from cassette_import import Context, overdub

class Counting(Context):
    calls = 0

@Counting.overdub.register(math.sin)
@Counting.overdub.register(math.cos)
def _(ctx, f, x):
    ctx.calls += 1
    return f(x)

def call(first, second=None):
    return first(), second and second()

counts = []
for number in range(3):
    context = Counting()
    overdub(context, {call})
    counts.append(context.calls)
context = Counting()
overdub(context, {call})
counts.append(context.calls)
"""


@pytest.mark.parametrize("name", CALLS)
def test_functions_that_a_module_level_makes_for_a_root_call_are_overdubbed(tmp_path, name):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM.replace("{call}", CALLS[name]))
    expected = 1 if name == "one" else 2
    assert runpy.run_path(str(script), run_name="__main__")["counts"] == [expected] * 4
