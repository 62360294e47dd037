"""The notation of events for readers: each event that a context gets has a mark, and nothing else has one."""

import ast
import colorsys
import json.decoder
import math
import re
import textwrap
import types

import pytest

from cassette_import import Context, reflect
from cassette_import.contexts import Noop, Substitute


def chained(a, b, c):
    return a < b < c


def with_everything(path, names, *rest, **more):
    @staticmethod
    def inner(x):
        return [y for y in x if y]

    with open(path) as file:
        for _index, name in enumerate(names):
            a, *b = file.read(), name
    return inner(*rest, **more), a[0], b[-1].lower()


def shown(function, events):
    return reflect(function).events(Noop(events=events))


def test_calls_are_marked_at_the_callee():
    text = shown(with_everything, "calls")
    assert "with @open(path) as file:" in text
    assert "@enumerate(names)" in text
    assert "a, *b = (@file.read(), name)" in text
    assert "@inner(*rest, **more), a[0], @b[-1].lower()" in text


def test_decorators_are_marked():
    assert "@@staticmethod" in shown(with_everything, "calls")


def test_operators_are_calls_of_marked_primitives():
    text = shown(colorsys.rgb_to_yiq, "operators")
    assert (
        "y = @operator.add(@operator.add(@operator.mul(0.3, r), @operator.mul(0.59, g)), @operator.mul(0.11, b))"
        in text
    )


def test_loops_unpacking_and_splats_ask_for_iterators():
    text = shown(with_everything, "iteration")
    assert "in @iter(enumerate(names))" in text
    assert "@iter(x)" in text
    assert "a, *b = @iter((file.read(), name))" in text


def comparing(a, b, c):
    return (a() < b() < c and a) or c


def storing(self, value):
    self.x += 1
    self.y, *self.z = value
    self.w: int = 2
    from os import path as where

    return where


def naming(count):
    return [math.sqrt(count), {"a": 1.5}, f"{math.pi:.3}"]


@pytest.mark.parametrize(
    ("function", "events", "line"),
    [
        (comparing, "operators+truth", "and @operator.truth(a) or c"),
        (comparing, "operators", "return (@operator.lt(a(), (_1 := b())) and @operator.lt(_1, c)) and a or c"),
        (storing, "attributes", "@setattr(self, 'x', operator.iadd(@getattr(self, 'x'), 1))"),
        (storing, "attributes", "_1, *_2 = value"),
        (storing, "attributes", "@setattr(self, 'z', _2)"),
        (storing, "attributes", "_: int"),
        (storing, "control", "where = _1.path"),
        (naming, "names", "return [@math.sqrt(count), {'a': 1.5}, f'{@math.pi:.3}']"),
        (naming, "names+calls", "return [@(@math.sqrt)(count), {'a': 1.5}, f'{@math.pi:.3}']"),
        (naming, "displays", "return @[math.sqrt(count), @{'a': @1.5}, @f'{math.pi:.3}']"),
    ],
)
def test_helpers_of_rewritten_code_are_not_shown(function, events, line):
    assert line in shown(function, events)


def test_what_is_an_event_only_for_targets_has_another_mark():
    context = Substitute({colorsys._v: lambda *arguments: 0})
    assert "?_v(m1, m2, h" in reflect(colorsys.hls_to_rgb).events(context)


def test_a_function_without_events_is_shown_as_it_is_written():
    assert reflect(chained).events(Context) == ast.unparse(reflect(chained).tree)


def functions_of(module):
    for value in vars(module).values():
        for found in vars(value).values() if isinstance(value, type) else [value]:
            if isinstance(found, types.FunctionType) and found.__module__ == module.__name__:
                yield found


@pytest.mark.parametrize("events", ["all", "attributes+operators", "iteration+truth"])
@pytest.mark.parametrize("module", [colorsys, json.decoder, textwrap], ids=lambda module: module.__name__)
def test_every_function_can_be_shown_without_a_helper(module, events):
    for function in functions_of(module):
        if (reflection := reflect(function)) is not None:
            text = reflection.events(Noop(events=events))
            assert re.search(r"^(async )?def ", text, re.MULTILINE)
            helpers = {"keep", "kept", "chain", "pairs", "sink", "loop", "unpack", "splat", "managed"}
            assert helpers.isdisjoint(re.findall(r"@([\w.]+)", text))
