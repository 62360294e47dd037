"""Hooks in the module of the code that runs in their context: the module is overdubbed, and the hooks still work."""

import importlib

import pytest

from cassette_import import Events, install, overdub
from cassette_import.activation.variants import variants

PROGRAM = """
    import math
    from cassette_import import Context, Events, overdub

    class Leaf(Context):
        leaf_hooks = True
        def __init__(self):
            super().__init__()
            self.seen = []

    class LeafPrehook(Leaf):
        def prehook(self, f, *args, **kwargs):
            self.seen.append(f)

    class Counting(Context):
        n = 0

    @Counting.prehook.register
    def _(ctx, f, *args, **kwargs):
        ctx.n += 1

    {hook}

    class Kind({base}):
        n = 0
        {method}

    def pair(x, *, y):
        return x, y

    class Point:
        def __init__(self, x, y=0):
            self.x, self.y = x, y

        def moved(self, by):
            return Point(self.x + by, y=self.y + by)

    def squares(n):
        for i in range(n):
            yield i * i

    def program(n):
        point = Point(n).moved(by=2)
        words = " ".join(map(str, squares(n)))
        try:
            int("x")
        except ValueError as error:
            words += type(error).__name__
        return pair(point.x, y=point.y), words, math.sqrt(4.0), [pair(i, y=abs(-i)) for i in range(n)]

    def run():
        with Kind():
            return program(3)
"""

METHODS = {
    "prehook that does nothing": "def prehook(self, f, *args, **kwargs): pass",
    "prehook that counts": "def prehook(self, f, *args, **kwargs): self.n += 1",
    "prehook that counts, with an early constant": "def prehook(self, f, *args, **kwargs): self.n = 1; self.m = self.n",
    "prehook that computes": "def prehook(self, f, *args, **kwargs): self.n = self.n * 2 + 1",
    "posthook that counts": "def posthook(self, result, f, *args, **kwargs): self.n += 1",
    "both": """def prehook(self, f, *args, **kwargs): self.n += 1
        def posthook(self, result, f, *args, **kwargs): self.n += 1""",
    "lambda": "prehook = lambda self, f, *args, **kwargs: None",
    "lambdas on one line": "prehook, posthook = lambda self, f, *args, **kwargs: 1, lambda self, r, f, *a, **k: None",
    "one function for two hooks": """def posthook(self, *args, **kwargs): self.n += 1
        prehook = posthook""",
    "that stores": "def prehook(self, f, *args, **kwargs): self.last = f, args, kwargs",
    "that reads the function": "def prehook(self, f, *args, **kwargs): self.name = str(f)",
    "that calls functions of the module": "def prehook(self, f, *args, **kwargs): self.n = pair(1, y=2)[0]",
    "errorhook": "def errorhook(self, error, f, *args, **kwargs): self.n += 1",
    "overload": "def overdub(self, f, *args, **kwargs): return f(*args, **kwargs)",
    "in every event": """events = Events.ALL
        def prehook(self, f, *args, **kwargs): self.n += 1""",
    "that calls, in every event": """events = Events.ALL
        def prehook(self, f, *args, **kwargs): self.n = len(args) + len(kwargs)""",
}
LEAF_METHODS = {
    "prehook": "def prehook(self, f, *args, **kwargs): self.seen.append(f)",
    "in every event": """events = Events.ALL
        def prehook(self, f, *args, **kwargs): self.seen.append(str(f))
        def posthook(self, result, f, *args, **kwargs): self.seen.append(len(args))""",
    "without arguments": "def prehook(self, f, *args, **kwargs): self.seen.append(1)",
    "errorhook": "def errorhook(self, error, f, *args, **kwargs): self.seen.append(str(error))",
}
WAYS = {
    "overdub": lambda module: overdub(module.Kind(), module.program, 3),
    "with": lambda module: module.run(),
    "with, in the root's module": lambda module: overdub(module.Kind(), module.run),
}


@pytest.fixture
def make_module(make_package):
    """Import a module that has the hook beside the program; its functions have met a context before, or not."""

    def make(method, *, base="Context", hook="", installed=False, used=False):
        name = make_package(PROGRAM.format(method=method, base=base, hook=hook))
        if installed:
            install([name])
        module = importlib.import_module(name)
        if used:
            overdub(module.Counting(), module.program, 2)
        return module

    return make


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("installed", [False, True], ids=["imported", "installed"])
@pytest.mark.parametrize("method", METHODS)
def test_a_hook_beside_the_program_changes_no_result(make_module, method, installed, way):
    module = make_module(METHODS[method], installed=installed)
    expected = module.program(3)
    assert WAYS[way](module) == expected
    assert WAYS[way](module) == expected
    assert module.program(3) == expected


@pytest.mark.parametrize("method", METHODS)
def test_a_hook_that_was_overdubbed_before_changes_no_result(make_module, method):
    module = make_module(METHODS[method], used=True)
    assert overdub(module.Kind(), module.program, 3) == module.program(3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("installed", [False, True], ids=["imported", "installed"])
@pytest.mark.parametrize("method", LEAF_METHODS)
def test_a_leaf_hook_beside_the_program_sees_no_calls_of_its_own(make_module, method, installed, way):
    module = make_module(LEAF_METHODS[method], base="Leaf", installed=installed)
    assert WAYS[way](module) == module.program(3)


@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
def test_leaf_hooks_beside_the_program_call_one_another(make_module, used):
    method = "def prehook(self, f, *args, **kwargs): super().prehook(f, *args, **kwargs)"
    module = make_module(method, base="LeafPrehook", used=used)
    context = module.Kind()
    assert overdub(context, module.program, 3) == module.program(3)
    assert module.pair in context.seen
    assert list.append not in context.seen


@pytest.mark.parametrize("used", [False, True], ids=["new", "used"])
def test_a_hook_that_reads_no_arguments_is_known_as_such_wherever_it_is(make_module, used):
    module = make_module(METHODS["prehook that counts"], used=used)
    context = module.Kind()
    overdub(context, module.program, 3)
    (variant,) = (one for keys, one in variants.by_keys.items() if keys[0].context_type is module.Kind)
    assert Events.CALLS in variant.shape.argument_free
    assert context.n > 10


@pytest.mark.parametrize("installed", [False, True], ids=["imported", "installed"])
def test_what_a_suspended_hook_beside_the_program_calls_is_an_event_of_the_outer_context(make_module, installed):
    calling = "def prehook(self, f, *args, **kwargs): self.n = pair(1, y=2)[0]"
    counts = []
    for method in METHODS["that stores"], calling:
        module = make_module(method, installed=installed)
        outer = module.Counting()
        overdub(outer, overdub, module.Kind(), module.program, 3)
        counts.append(outer.n)
    assert counts[0] < counts[1]
