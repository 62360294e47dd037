"""Calls of functions that read the frame of their caller are events, and happen in the program's own frame."""

from __future__ import annotations

import io
import sys

import pytest

from cassette_import import Context, fallback, nooverdub, overdub, recurse
from cassette_import.contexts import Allocations, CallGraph, CallTypes, Noop, Profile, Trace

PROGRAM = """
from __future__ import annotations
import sys, typing

X = "global"

class Base:
    def method(self, *arguments):
        return "Base", arguments

    @classmethod
    def made(cls):
        return "made"

class Own(Base):
    def method(self, x):
        return super().method(x)

    @classmethod
    def made(cls):
        return super().made()

def function(x):
    y = x + 1
    own = sys._getframe() is sys._getframe(0)
    return sorted(locals()), sorted(vars()), dir(), eval("y + 1"), eval("X"), eval("z", {"z": 3}), own

def without_locals(x):
    return globals()["X"], sys._getframe().f_code.co_name, type("T", (), {}).__module__, typing.TypeVar("T").__module__

def in_generator(x):
    y = x
    yield sorted(locals()), eval("y"), sys._getframe().f_code.co_name
    yield super(Own, Own()).method(1)

def in_comprehension(x):
    return [eval("q") for q in [x]], list(eval("q") for q in [x])

def in_lambda(x):
    return (lambda a: (sorted(locals()), eval("a")))(x)

def in_class_body(x):
    class Body:
        z = 2
        names = sorted(name for name in locals() if name[:2] != "__")
        value = eval("z")
        exec("w = 3")
    return Body.names, Body.value, Body.w

def with_features(x):
    namespace = {}
    exec("def f(a: int): pass", namespace)
    exec(compile("def g(a: int): pass", "text", "exec"), namespace)
    return namespace["f"].__annotations__, namespace["g"].__annotations__

def other(x):
    made = []
    exec("made.append((x, X))")
    try:
        1 / 0
    except ZeroDivisionError as error:
        made.append(sys.exc_info()[1] is error)
    return made, __import__("os.path").__name__

def raising(x):
    found = []
    readers = lambda: sys._getframe(9999), lambda: eval("no"), lambda: eval("1 +"), lambda: super().x, lambda: vars(3)
    for call in readers:
        try:
            call()
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    return found

async def coroutine(x):
    return sorted(locals()), eval("x")

def main():
    try:
        coroutine(1).send(None)
    except StopIteration as end:
        awaited = end.value
    functions = (function, without_locals, in_comprehension, in_lambda, in_class_body, with_features, other, raising)
    return [awaited, Own().method(1), Own.made(), list(in_generator(1)), *(f(1) for f in functions)]
"""
READERS = ("eval", "exec", "super", "locals", "globals", "vars", "dir", "_getframe", "exc_info", "__import__")


class Kinds:
    """Context types that see every event, by how they see it. The ways to call the function that an overload has."""

    class Prehook(Context):
        def prehook(self, f, *arguments, **keywords):
            self.note(f)

    class Errorhook(Prehook):
        def errorhook(self, error, f, *arguments, **keywords):
            pass

    class Overload(Context):
        def overdub(self, f, *arguments, **keywords):
            self.note(f)
            if f.__name__ in READERS:
                return f(*arguments, **keywords)
            return recurse(self, f, *arguments, **keywords)

    class Recursing(Context):
        def overdub(self, f, *arguments, **keywords):
            self.note(f)
            return recurse(self, f, *arguments, **keywords)

    class FallingBack(Context):
        def overdub(self, f, *arguments, **keywords):
            self.note(f)
            way = fallback if f.__name__ in READERS else recurse
            return way(self, f, *arguments, **keywords)

    class Tagging(Context, tagging=True):
        def prehook(self, f, *arguments, **keywords):
            self.note(f)

    class BareHook(Context):
        pass

    class BareOverload(Context):
        pass

    class TargetedHook(Context):
        pass

    class TargetedOverload(Context):
        pass


@Kinds.BareHook.prehook.register
def _(ctx, f, *arguments, **keywords):
    ctx.note(f)


@Kinds.BareOverload.overdub.register
def _(ctx, f, *arguments, **keywords):
    ctx.note(f)
    return recurse(ctx, f, *arguments, **keywords)


TARGETS = (eval, exec, super, locals, globals, vars, dir, sys._getframe, sys.exc_info, __import__)


@Kinds.TargetedHook.prehook.register(*TARGETS)
def _(ctx, f, *arguments, **keywords):
    ctx.note(f)


@Kinds.TargetedOverload.overdub.register(*TARGETS)
def _(ctx, f, *arguments, **keywords):
    ctx.note(f)
    return f(*arguments, **keywords)


KINDS = {name: kind for name, kind in vars(Kinds).items() if isinstance(kind, type)}
COUNTS = dict(zip(READERS, (11, 4, 4, 5, 1, 2, 1, 5, 1, 1), strict=True))
"""How often `main` calls each of them; calls that raise count."""


@pytest.fixture
def program(make_program):
    return make_program(PROGRAM)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_frame_readers_are_events_that_change_nothing(kind, program):
    class Counting(kind):
        def note(self, f):
            self.counts[f.__name__] = self.counts.get(f.__name__, 0) + 1

    expected = program.main()
    ctx = Counting()
    ctx.counts = {}
    assert overdub(ctx, program.main) == expected
    assert {name: ctx.counts.get(name, 0) for name in READERS} == COUNTS


NESTED = """
    import functools

    X = "global"

    def main():
        made = [globals()["X"] for _ in "a"], (lambda: globals()["X"])(), list(globals()["X"] for _ in "a")
        bound = [functools.partial(eval, "X")() for _ in "a"]
        return made, bound, [eval("X") for _ in "a"], (lambda a: sorted(locals()))(1)
"""


@pytest.mark.parametrize("context", [Allocations, CallGraph, CallTypes, Noop, Profile, Trace])
def test_code_nested_in_a_function_reads_its_own_frame_in_ready_made_contexts(context, make_program):
    program = make_program(NESTED)
    expected = program.main()
    ctx = Trace(file=io.StringIO()) if context is Trace else context()
    assert overdub(ctx, program.main) == expected


def test_frame_readers_are_seen_in_the_place_of_the_program(program):
    class Callee(Context):
        def overdub(self, f, *arguments, **keywords):
            if f == locals:
                self.same = f == locals, hash(f) == hash(locals), f.__name__, f is not program
            return recurse(self, f, *arguments, **keywords)

    ctx = Callee()
    overdub(ctx, program.function, 1)
    assert ctx.same == (True, True, "locals", True)


def test_two_overloads_of_a_frame_reader_pass_it_on(program):
    class Outer(Context):
        pass

    class Inner(Context):
        pass

    seen = []

    @Outer.overdub.register(locals, eval)
    def _(ctx, f, *arguments):
        seen.append("outer")
        return f(*arguments)

    @Inner.overdub.register(locals, eval)
    def _(ctx, f, *arguments):
        seen.append("inner")
        return fallback(ctx, f, *arguments)

    with Outer():
        assert overdub(Inner(), program.in_lambda, 1) == (["a"], 1)
    assert seen == ["inner", "outer"] * 2


def test_contexts_that_change_nothing_show_the_same_frames(program, tmp_path):
    expected = program.main()
    assert overdub(Noop(), program.main) == expected
    with open(tmp_path / "trace", "w") as file:
        assert overdub(Trace(file=file), program.main) == expected


BUILT = "def main():\n    @str\n    class Made:\n        value = abs(-1)\n"
CALLED_BACK = "def main():\n    return list(map(eval, ['1']))\n"
OF_SUPER = "class B(object):\n    def __init__(self):\n        super().__init__()\n\ndef main():\n    B()\n"
ANNOTATED = "def main():\n    x: abs(1) = len('a')\n    def f(y: abs(2)): pass\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(BUILT, ["abs", "str"], id="class statement"),
        pytest.param(CALLED_BACK, ["map", "list"], id="callback"),
        pytest.param(OF_SUPER, ["B", "super", "__init__"], id="super where hooks see all"),
        pytest.param(ANNOTATED, ["len"], id="annotations"),
    ],
)
def test_what_is_no_event(text, expected, make_program):
    class All(Context):
        def prehook(self, f, *arguments, **keywords):
            self.metadata.append(f.__name__)

    ctx = All([])
    overdub(ctx, make_program(text).main)
    assert ctx.metadata == expected


def test_super_is_no_event_where_hooks_take_chosen_functions_only(make_program):
    class Chosen(Context):
        pass

    Chosen.prehook.register(object.__init__)(lambda ctx, f, *arguments: ctx.metadata.append(f.__name__))
    ctx = Chosen([])
    overdub(ctx, make_program(OF_SUPER).main)
    assert ctx.metadata == ["__init__"]


def test_a_partial_object_of_a_frame_reader_reads_the_frame_of_the_program(make_program):
    class All(Context):
        def prehook(self, f, *arguments, **keywords):
            pass

    program = make_program(
        "import functools\n\ndef main():\n    x = 1\n    return functools.partial(eval, 'x')(), sorted(locals())\n"
    )
    assert overdub(All(), program.main) == (1, ["x"])


def test_a_pass_that_adds_a_reader_of_local_variables_shows_those_of_the_program(make_program):
    program = make_program("def f(n):\n    total = n + 1\n    return total\n")

    def stepping(context_type, reflection):
        import ast

        from cassette_import import contextslot

        names = ast.parse("locals()", mode="eval").body
        call = ast.Call(ast.Attribute(contextslot(), "step", ast.Load()), [names], [])
        reflection.tree.body.insert(1, ast.Expr(nooverdub(call)))
        return reflection.tree

    class Stepper(Context):
        passes = (stepping,)

        def prehook(self, f, *arguments):
            pass

        def step(self, values):
            self.seen = dict(values)

    ctx = Stepper()
    overdub(ctx, program.f, 1)
    assert ctx.seen == {"n": 1, "total": 2}
