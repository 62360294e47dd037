"""The file of a root function is overdubbed for its call. Other contexts leave what begins there plain."""

import importlib

import pytest

from cassette_import import Context, callsite, overdub

FILE = """
import asyncio
import math
import types

def root():
    return math.floor(0.5)

def call(function):
    made = function()
    if isinstance(made, types.CoroutineType):
        return asyncio.run(made)
    return [*made]

def drain(iterator):
    return [*iterator]

def two_steps():
    yield math.sin(0.0)
    yield math.cos(0.0)

def function():
    return [math.sin(0.0)]

def generator():
    yield math.sin(0.0)

def generator_with_locals():
    x = math.sin(0.0)
    yield locals()["x"]

def generator_of_blocks():
    for manager in [open(__file__)]:
        with manager as file:
            first, (second, *_) = 1, [2, 3]
            yield [math.sin(0.0) for _ in range(1)][0] if first in (second, 1) else None

def closure():
    zero = 0.0
    def inner():
        yield math.sin(zero)
    return inner()

of_a_lambda = lambda: (yield math.sin(0.0))

def delegating():
    yield from generator()

async def coroutine():
    return math.sin(0.0)

async def asynchronous_generator():
    yield math.sin(0.0)

async def awaiting():
    return [await coroutine(), *[item async for item in asynchronous_generator()]]
"""

USES = {
    "function": "earlier.function()",
    "generator": "[*earlier.generator()]",
    "generator_with_locals": "[*earlier.generator_with_locals()]",
    "generator_of_blocks": "[*earlier.generator_of_blocks()]",
    "closure": "[*earlier.closure()]",
    "of_a_lambda": "[*earlier.of_a_lambda()]",
    "delegating": "[*earlier.delegating()]",
    "coroutine": "asyncio.run(earlier.coroutine())",
    "awaiting": "asyncio.run(earlier.awaiting())",
}
"""Uses of functions of that file, from a file that is installed."""


@pytest.fixture
def earlier(make_package):
    """A module that is not installed."""
    return importlib.import_module(make_package(FILE))


@pytest.fixture
def later(earlier, make_program):
    """A module that is installed, and uses the other one."""
    uses = "".join(f"def {name}():\n    return {call}\n" for name, call in USES.items())
    return make_program(f"import asyncio\nimport {earlier.__name__} as earlier\n{uses}")


def events_in(context, module):
    """The source texts of the events in a module."""
    return [site.source for site in context.sites if site.filename == module.__file__]


@pytest.fixture(params=["prehook", "all hooks", "no arguments", "tagging"])
def Seen(request):
    """A context type that records the call sites of events."""

    class Seen(Context, tagging=request.param == "tagging"):
        def __init__(self):
            super().__init__()
            self.sites = []

    def hook(ctx, *args, **kwargs):
        ctx.sites.append(callsite())

    def argument_free_hook(ctx, *_args, **_kwargs):
        ctx.sites.append(callsite())

    Seen.prehook = argument_free_hook if request.param == "no arguments" else hook
    if request.param == "all hooks":
        Seen.posthook = Seen.errorhook = hook
    return Seen


@pytest.mark.parametrize("has_run", [False, True], ids=["first run", "has run before"])
@pytest.mark.parametrize("name", USES)
def test_what_begins_in_another_context_is_no_event_there(name, has_run, earlier, later, Seen):
    before = Seen()
    overdub(before, earlier.root)
    if has_run:
        overdub(before, earlier.call, getattr(earlier, name))
    assert events_in(before, earlier)
    plain = getattr(later, name)()
    after = Seen()
    assert overdub(after, getattr(later, name)) == plain
    assert events_in(after, later)
    assert events_in(after, earlier) == []


@pytest.mark.parametrize("name", [name for name in USES if name != "function"])
def test_what_begins_in_the_context_of_the_root_function_is_an_event_each_time(name, earlier, later, Seen):
    for _ in range(2):
        context = Seen()
        overdub(context, earlier.call, getattr(earlier, name))
        assert any(source.startswith("math.sin(") for source in events_in(context, earlier))
        overdub(Seen(), getattr(later, name))


def test_what_began_without_a_context_is_an_event_where_it_is_resumed(earlier, Seen):
    overdub(Seen(), earlier.call, earlier.two_steps)
    waiting = earlier.two_steps()
    next(waiting)
    context = Seen()
    overdub(context, earlier.drain, waiting)
    assert "math.cos(0.0)" in events_in(context, earlier)
