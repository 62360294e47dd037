"""Expressions that nest as deeply as Python compiles them are overdubbed, each event in its place."""

import importlib
import warnings

import pytest

from cassette_import import Context, Events, overdub

PRELUDE = """
import weakref
class A:
    def m(self): return self
    @property
    def s(self): return self
    def __getitem__(self, i): return self
    n = 1
    def then(self, x, number):
        self.seen = [*getattr(self, "seen", ()), number]
        return self
    def other(self): return B(self)
class B:
    def __init__(self, other): self.reference = weakref.ref(other)
    def alive(self): return 1 if self.reference() is None else 2
def f(x): return x
"""
DEPTH = 500
SHAPES = {
    "chained calls": "A()" + ".m()" * DEPTH + ".n",
    "additions": "+".join(["x"] * DEPTH),
    "texts": "'a'" + "+ str(x)" * DEPTH,
    "attributes": "A()" + ".s" * DEPTH + ".n",
    "subscripts": "A()" + "[0]" * DEPTH + ".n",
    "signs": "-" * DEPTH + "x",
    "comparisons": "<=".join(["x"] * DEPTH),
    "a list": "[" + ",".join(["f(x)"] * 3 * DEPTH) + "]",
    "a dict": "{" + ",".join(f"'{i}': f(x)" for i in range(3 * DEPTH)) + "}",
    "nested lambdas": "(lambda y: " * 40 + "y + x" + ")(x)" * 40,
    "nested calls": "f(" * 90 + "x" + ")" * 90,
}


class Plainly(Context):
    count = 0

    def prehook(self, f, *args, **kwargs):
        self.count += 1


class Calls(Plainly):
    def prehook(self, f, *args, **kwargs):
        self.count += 1
        self.seen = f, args


class Everything(Calls, events=Events.ALL):
    pass


class Tagging(Context, tagging=True):
    pass


@pytest.fixture
def program_of(tmp_path, monkeypatch):
    def make(expression):
        name = f"deep_{tmp_path.name}"
        (tmp_path / f"{name}.py").write_text(f"{PRELUDE}\ndef program(x=1):\n    return {expression}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        return importlib.import_module(name).program

    return make


@pytest.mark.parametrize("context_type", [Plainly, Everything, Tagging])
@pytest.mark.parametrize("shape", SHAPES)
def test_deep_code_is_overdubbed(shape, context_type, program_of):
    program = program_of(SHAPES[shape])
    expected = program()
    ctx = context_type()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert overdub(ctx, program) == expected
    if isinstance(ctx, Everything):
        assert ctx.count >= {"nested calls": 90, "nested lambdas": 40}.get(shape, DEPTH - 1)


def test_parts_of_a_deep_expression_are_evaluated_in_order(program_of):
    program = program_of("A()" + "".join(f".then(x, f({n}))" for n in range(DEPTH)) + ".seen")
    for context_type in (Calls, Everything, Tagging):
        assert overdub(context_type(), program) == list(range(DEPTH))


def test_a_value_in_a_deep_expression_dies_when_it_would_die_in_plain_python(program_of):
    program = program_of("A()" + ".m()" * DEPTH + ".other().alive()")
    assert program() == overdub(Everything(), program) == overdub(Plainly(), program) == 1
