"""The notation of events for readers: each event that a context gets has a mark, and nothing else has one."""

import ast
import colorsys
import json.decoder
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


def test_what_is_an_event_only_for_targets_has_another_mark():
    context = Substitute({colorsys._v: lambda *arguments: 0})
    assert "?_v(m1, m2, h" in reflect(colorsys.hls_to_rgb).events(context)


def test_a_function_without_events_is_shown_as_it_is_written():
    assert reflect(chained).events(Context) == ast.unparse(reflect(chained).tree)


@pytest.mark.parametrize("module", [colorsys, json.decoder], ids=lambda module: module.__name__)
def test_every_function_can_be_shown_in_a_context_of_all_events(module):
    for function in vars(module).values():
        if isinstance(function, types.FunctionType) and (reflection := reflect(function)) is not None:
            assert reflection.events(Noop()).lstrip("@").startswith("def ")
