"""`canrecurse` and `reflect` tell what is known of a function."""

import functools
import operator
import sys

import pytest
from helpers.called_program import Ctx
from helpers.command_line import run

from cassette_import import Context, canrecurse, overdub, reflect


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda p: p.add, id="function"),
        pytest.param(lambda p: p.Point(1).moved, id="bound method"),
        pytest.param(lambda p: p.Point.moved, id="function of a class"),
        pytest.param(lambda p: p.Point.origin, id="class method"),
        pytest.param(lambda p: p.Point.distance, id="static method"),
        pytest.param(lambda p: functools.partial(p.add, 1), id="partial"),
        pytest.param(lambda p: functools.partial(p.Point(1).moved, 1), id="partial of a bound method"),
        pytest.param(lambda p: p.Point, id="class with __init__"),
        pytest.param(lambda p: p.Point(1), id="object with __call__"),
        pytest.param(lambda p: p.numbers, id="generator function"),
        pytest.param(lambda p: p.double, id="coroutine function"),
    ],
)
def test_canrecurse_is_true_for_what_has_an_overdubbed_body(f, program):
    assert canrecurse(Ctx(), f(program), 1) is True


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda p: len, id="builtin"),
        pytest.param(lambda p: [].append, id="builtin method"),
        pytest.param(lambda p: list.append, id="method descriptor"),
        pytest.param(lambda p: (1).__add__, id="method wrapper"),
        pytest.param(lambda p: int, id="builtin class"),
        pytest.param(lambda p: p.Plain, id="class without __init__"),
        pytest.param(lambda p: operator.add, id="operator"),
        pytest.param(lambda p: functools.partial(len), id="partial of a builtin"),
        pytest.param(lambda p: operator.itemgetter(1), id="callable of C"),
    ],
)
def test_canrecurse_is_false_for_leaves(f, program):
    assert canrecurse(Ctx(), f(program), 1) is False


def test_canrecurse_is_false_for_a_function_without_source():
    namespace = {}
    exec("def f(x): return abs(x)", namespace)
    assert canrecurse(Ctx(), namespace["f"], 1) is False


def test_canrecurse_never_calls_the_function(program):
    called = []
    canrecurse(Ctx(), program.call, called.append, 1)
    canrecurse(Ctx(), lambda: called.append(1))
    assert called == []


def test_canrecurse_accepts_keywords(program):
    assert canrecurse(Ctx(), program.add, x=1, y=2) is True


# reflect


def test_reflect_has_the_file_and_line_of_a_function(program):
    reflection = reflect(program.add, 1, 2)
    assert reflection.function is program.add
    assert reflection.filename == program.__file__
    assert reflection.lineno == program.add.__code__.co_firstlineno
    assert reflection.source.rstrip() == "def add(x, y):\n    return x + y"


def test_reflect_has_the_signature_and_the_tree(program):
    reflection = reflect(program.add, 1, 2)
    assert list(reflection.signature.parameters) == ["x", "y"]
    assert reflection.tree.name == "add"


def test_reflect_unwraps_a_bound_method(program):
    assert reflect(program.Point(1).moved, 2).function is program.Point.moved


@pytest.mark.parametrize("f", [len, int, [].append, operator.add], ids=["len", "int", "append", "operator.add"])
def test_reflect_returns_none_for_leaves(f):
    assert reflect(f, 1) is None


def test_reflect_returns_none_for_a_function_without_source():
    namespace = {}
    exec("def f(x): return abs(x)", namespace)
    assert reflect(namespace["f"], 1) is None


def test_code_named_string_has_no_source_although_linecache_knows_some(monkeypatch):
    # From 3.13 on, linecache keeps what `python -c` was given under the name that all such code shares.
    import linecache

    monkeypatch.setitem(linecache.cache, "<string>", (9, None, ["def f(:\n"], "<string>"))
    namespace = {}
    exec("def f(x):\n    return abs(x)\n", namespace)
    ctx = Context()
    assert not canrecurse(ctx, namespace["f"], -1)
    assert overdub(ctx, namespace["f"], -1) == 1


def test_code_without_source_has_no_body_to_reach_after_it_was_called_either():
    namespace = {}
    exec("def f(x):\n    return abs(x)\n", namespace)
    ctx = Context()
    assert overdub(ctx, namespace["f"], -1) == 1
    assert not canrecurse(ctx, namespace["f"], -1)


TYPED = """
from cassette_import import Context, overdub
class Seen(Context):
    def prehook(self, f, *args): print("seen", f.__name__)

def square(x): return abs(x) ** 2

print(overdub(Seen(), square, 3))
print(overdub(Seen(), square, 4))
with Seen(): square(5)

"""


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the prompt keeps what was typed from 3.13 on")
def test_a_function_that_was_typed_at_the_prompt_is_said_to_have_no_source(tmp_path):
    done = run("-i", folder=tmp_path, stdin=TYPED)
    assert done.stdout.split() == ["9", "16", "25"]
    assert done.stderr.count("CassetteWarning: square has no source") == 1


IN_NO_FILE = """
from cassette_import import Context, canrecurse, overdub
class Seen(Context):
    def prehook(self, f, *args): print("seen", f.__name__)
{}
print(overdub(Seen(), square, 3), canrecurse(Seen(), square))
print(overdub(Seen(), square, 4))
"""
SQUARE = "def square(x): return abs(x) ** 2"


@pytest.mark.parametrize("way", ["from a pipe", "by exec"])
def test_a_function_in_no_file_is_said_to_have_no_source(way, tmp_path):
    text = IN_NO_FILE.format(SQUARE if way != "by exec" else f"exec({SQUARE!r})")
    (tmp_path / "program.py").write_text(text)
    words = {"from a pipe": ["-"], "by exec": ["program.py"]}[way]
    done = run(*words, folder=tmp_path, stdin=text)
    assert done.stdout.split() == ["9", "False", "16"]
    assert done.stderr.count("CassetteWarning: square has no source") == 1
    assert "Put it into a file" in done.stderr
