"""A handler that no call of its target fits is reported once, when the process ends."""

import subprocess
import sys

import pytest

PROGRAM = """
import math
from cassette_import import Context, overdub
{top}

class Ctx(Context): ...

@Ctx.{kind}.register({target})
def handler{parameters}:
    return 1.0

{more}
overdub(Ctx(), lambda: ({calls}))
"""


def warnings_of(tmp_path, **parts):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(**{"kind": "overdub", "target": "math.pow", "more": "", "top": "", **parts}))
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    return [line.partition("CassetteWarning: ")[2] for line in run.stderr.splitlines() if "CassetteWarning" in line]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"parameters": "(ctx, f)", "calls": "math.pow(1.0, 2.0)"}, "it takes 0 arguments, calls passed 2"),
        (
            {"parameters": "(ctx, f, x)", "calls": "math.pow(1.0, 2.0)", "kind": "prehook"},
            "the prehook handler of Ctx for math.pow was never applied: it takes 1 argument, calls passed 2",
        ),
        (
            {"parameters": "(ctx, f, x, y, z=0)", "calls": "max([1]), max(1, 2, 3, 4)", "target": "max"},
            "the overload handler of Ctx for max was never applied: it takes 2 to 3 arguments, calls passed 1 or 4",
        ),
        (
            {"parameters": "(ctx, f, *values)", "calls": "max([1], key=abs)", "target": "max"},
            "it takes any number of arguments and no keywords, calls passed 1 and the keyword key",
        ),
        (
            {"parameters": "(ctx, f, x, *, key)", "calls": "max([1])", "target": "max"},
            "it takes 1 argument and the keyword key, calls passed 1",
        ),
        (
            {"parameters": "(ctx, f, x, *, key, default=0)", "calls": "max([1], default=2)", "target": "max"},
            "it takes 1 argument and the keywords default, key, x, calls passed 1 and the keyword default",
        ),
        (
            {"parameters": "(ctx, f, *values, key, **more)", "calls": "max([1], default=2)", "target": "max"},
            "it takes any number of arguments and the keyword key, calls passed 1 and the keyword default",
        ),
    ],
    ids=["too few", "a prehook", "a range", "keywords", "a required one", "another than that", "others too"],
)
def test_a_handler_that_fits_no_call_is_reported_with_what_it_takes_and_what_calls_passed(tmp_path, parts, expected):
    (found,) = warnings_of(tmp_path, **parts)
    assert found.endswith(expected)


@pytest.mark.parametrize(
    "parts",
    [
        {"parameters": "(ctx, f, x: str, y)", "calls": "math.pow(1.0, 2.0)"},
        {"parameters": "(ctx, f)", "calls": "0"},
        {
            "parameters": "(ctx, f, x)", "calls": "max([1]), max(1, 2)", "target": "max",
            "more": "@Ctx.overdub.register(max)\ndef other(ctx, f, x, y): ...",
        },
    ],
    ids=["other types", "no call", "two overloads"],
)  # fmt: skip
def test_nothing_is_reported_of_other_handlers(tmp_path, parts):
    assert warnings_of(tmp_path, **parts) == []


@pytest.mark.parametrize("kind", ["overdub", "prehook", "posthook"])
@pytest.mark.parametrize("annotation", ["", ": object", ": list"])
@pytest.mark.parametrize(
    ("target", "calls"),
    [
        ("max", "max([1]), max(1, 2), max(3, 4)"),
        ("max", "max(1, 2), max([1]), *(max(*pair) for pair in [(3, 4)])"),
        ("biggest", "biggest([1]), biggest(1, 2), [biggest(3, 4)]"),
        ("Thing.last", "Thing([1]).last(), Thing(1).last(2), Thing(3).last(4)"),
    ],
)
def test_calls_that_pass_a_handler_by_which_fits_others_are_counted(tmp_path, kind, annotation, target, calls):
    result = "result, " if kind == "posthook" else ""
    (found,) = warnings_of(
        tmp_path,
        kind=kind,
        parameters=f"(ctx, {result}f, x{annotation})",
        target=target,
        calls=calls,
        top="""
def biggest(*values):
    return values[-1]
class Thing(list):
    def __init__(self, *values): ...
    def last(self, *others):
        return others
""",
    )
    name = "handler" if "." in target else target
    assert name in found
    assert found.endswith("was not applied to 2 calls: it takes 1 argument, these passed 2")


def test_nothing_is_reported_of_handlers_of_ready_made_contexts(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from cassette_import.contexts.graph import graph\n"
        "def calculate(x):\n"
        "    items = [1, x, 3]\n"
        "    items.pop()\n"
        "    return items[1] * 2\n"
        "graph(calculate, 2.0)\n"
    )
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert run.stderr == ""
