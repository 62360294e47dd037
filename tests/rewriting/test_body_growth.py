"""The size of a body is proportional to the size of its source, however deeply that nests."""

import importlib

import pytest
from helpers.contexts import ArgumentFree, ReadsEverything

from cassette_import import Context, Events


class ChosenFunctions(Context):
    pass


@ChosenFunctions.overdub.register(importlib.reload)
def _reload(ctx, f, module):
    return module


class ArgumentFreeOfAll(ArgumentFree, events=Events.ALL):
    """Its hooks are argument-free and see every kind of event."""


class TaggingAll(ReadsEverything, events=Events.ALL, tagging=True):
    """Values could carry metadata, and hooks read every kind of event."""


CONTEXTS = [ChosenFunctions, ArgumentFreeOfAll, ReadsEverything, TaggingAll]

NESTINGS = {
    "chain_of_methods": "{}.m(1)",
    "calls": "f({})",
    "methods": "x.m({}, k=1)",
    "splats": "f(*{}, **k)",
    "operators": "({} + x)",
    "conditions": "({} if x else k)",
    "comparisons": "(x < {} < k)",
    "subscripts": "{}[x]",
    "indices": "x[{}:k]",
    "attributes": "{}.a",
    "displays": "[x, {}]",
    "comprehensions": "[{} for x in k]",
    "generator_expressions": "f({} for x in k)",
    "lambdas": "(lambda x: {})(k)",
}

PLACES = {
    "in_a_function": "def f(x, k):\n    return {}\n",
    "in_a_generator": "def f(x, k):\n    yield {}\n",
    "in_a_coroutine": "async def f(x, k):\n    return {}\n",
    "in_a_with_statement": "def f(x, k):\n    with x:\n        return {}\n",
    "in_a_try_statement": "def f(x, k):\n    try:\n        return {}\n    finally:\n        x.close()\n",
    "in_a_lambda": "def f(x, k):\n    return lambda: {}\n",
    "in_a_class": "def f(x, k):\n    class A:\n        a = {}\n",
}


def _size(code, seen):
    """Return the bytes of instructions, with those of nested functions, each once."""
    if id(code) in seen:
        return 0
    seen.add(id(code))
    return len(code.co_code) + sum(_size(const, seen) for const in code.co_consts if hasattr(const, "co_code"))


def _nested(nesting, depth):
    text = "x"
    for _ in range(depth):
        text = nesting.format(text)
    return text


def _begin(function):
    """Call a function, and start the generator or coroutine that it returns; the function may fail."""
    try:
        made = function(1, 2)
        made.send(None)
    except Exception:
        pass


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda context: context.__name__)
@pytest.mark.parametrize("place", PLACES)
def test_three_times_the_nesting_gives_about_three_times_the_code(place, context, make_program):
    source = "".join(
        PLACES[place].format(_nested(nesting, depth)).replace(" f(", f" {name}_{depth}(", 1)
        for name, nesting in NESTINGS.items()
        for depth in (5, 15)
    )
    module = make_program({"__init__.py": source})
    growth = {}
    with context():
        for name in NESTINGS:
            functions = [getattr(module, f"{name}_{depth}") for depth in (5, 15)]
            for function in functions:
                _begin(function)
            short, long = (_size(function.__code__, set()) for function in functions)
            growth[name] = long / short
    assert {name: factor for name, factor in growth.items() if factor > 5} == {}
