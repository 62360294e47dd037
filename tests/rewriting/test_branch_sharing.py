"""Branches share nodes without events: rewriting a branch leaves the plain one as it is."""

import ast
import textwrap

import pytest

from cassette_import.rewriting.events import Events
from cassette_import.rewriting.rewriter import overdub_function
from cassette_import.rewriting.shape import ContextShape, Shape

FUNCTION = textwrap.dedent(
    """
    def f(xs, *rest, key=None, **more):
        total = xs[1:2, ::3] + xs[:-1]
        for row in [g(*rest, x[1:], k=x.y.z, **more) for x in xs if x[a:b] > 1 < 2]:
            del row[0:1], row.z[k]
            xs[i:j][0], row.q = row.m(*rest[1:]), -total
            total += 1 if row.a.b else (lambda u: h(u[:], *u))(row)
        with open(xs[0]) as row.file:
            try:
                return total.x.y(xs[1:], (yes := row.z), key=f"{xs[0]!r:>{total}}")
            except (A, B[1:2]) as error:
                raise C(error[:]) from D(error)
    """
)

CALLS, DEFAULT = Events.CALLS, Events.DEFAULT


def branch(events, argument_free=Events.NONE):
    """A stack of one context with hooks at events."""
    contexts = (ContextShape(events, prehook=True, posthook=True),)
    return Shape("@1", contexts, everything=events, argument_free=argument_free)


SHAPES = {
    "targets": Shape("@1", targets=CALLS, overloads=CALLS),
    "calls": branch(CALLS),
    "calls, argument-free": branch(CALLS, CALLS),
    "operators": branch(DEFAULT),
    "operators, argument-free": branch(DEFAULT, DEFAULT),
    "an operator": Shape("@1", primitives=frozenset({"operator.getitem"})),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_plain_branch_stays_as_it_was_written(shape):
    plain = ast.parse(FUNCTION).body[0]
    rewritten = overdub_function(ast.parse(FUNCTION).body[0], [shape])
    (choice,) = rewritten.body
    assert list(map(ast.dump, choice.orelse)) == list(map(ast.dump, plain.body))


EVENTLESS = """
def f(xs, key=None):
    for row in xs:
        row.a = row.b if key else [part for part in row.parts]
    inner = lambda: xs.y
    def named(default=key):
        yield inner
    return named, f"{xs.a}"
"""
ONLY_INSIDE = """
def f(xs):
    def plain():
        return xs
    {decorator}
    def inner():
        return {value}
    return plain, inner
"""


@pytest.mark.parametrize("name", ["targets", "calls", "calls, argument-free"])
def test_a_function_without_events_has_no_branch(name):
    plain = ast.parse(EVENTLESS).body[0]
    rewritten = overdub_function(ast.parse(EVENTLESS).body[0], [SHAPES[name]])
    assert ast.dump(rewritten) == ast.dump(plain)


@pytest.mark.parametrize(("decorator", "value"), [("", "xs()"), ("@xs", "xs"), ("", "lambda: xs()")])
def test_a_function_with_events_in_a_function_in_it_has_a_branch_and_the_others_in_it_have_none(decorator, value):
    text = ONLY_INSIDE.format(decorator=decorator, value=value)
    rewritten = overdub_function(ast.parse(text).body[0], [SHAPES["calls"]])
    (choice,) = rewritten.body
    assert isinstance(choice, ast.If)
    for branch_of_it in (choice.body, choice.orelse):
        (plain,) = (part for part in branch_of_it if getattr(part, "name", "") == "plain")
        assert ast.unparse(plain) == "def plain():\n    return xs"
