"""Passes that raise, and results that cannot be used."""

import ast
import asyncio
import sys
import traceback

import pytest
from helpers.passes import broken, expression, failure, multiply, statements

from cassette_import import Context, PassError, overdub, reflect, similarcontext


def test_a_pass_that_raises_is_an_error_that_names_pass_function_file_and_line(program):
    error = failure([broken], program.add, 1)
    line = program.add.__code__.co_firstlineno
    assert str(error) == f"pass broken failed on add ({program.__file__}:{line}): LookupError: the pass's own"
    assert isinstance(error.__cause__, LookupError)


def test_the_traceback_of_a_failure_leads_into_the_pass(program):
    error = failure([broken], program.add, 1)
    assert traceback.extract_tb(error.__cause__.__traceback__)[-1].name == "broken"


def incomplete():
    node = ast.Name("x", ast.Load())
    del node.id
    return node


RETURNED = {
    "nothing": (None, "returned None, and not the function's node or an expression,"),
    "text": ("x - y", "returned 'x - y', and not the function's node or an expression,"),
    "a statement": (statements("return x")[0], "and not the function's node or an expression,"),
    "two statements": (ast.parse("a\nb"), "and not the function's node or an expression,"),
    "other parameters": (
        statements("def add(a, b): return a")[0],
        r"returned the parameters \(a, b\) instead of \(x, y(=1)?\)",
    ),
    "a node with a missing part": (incomplete(), r"returned what does not compile \(.*\)"),
    "a part that is no node": (ast.Call("abs", [], []), r"returned what does not compile \(.*\)"),
    "await in a function": (expression("[await x for i in y]"), r"returned what does not compile \(.*\)"),
    "break outside a loop": (statements("def add(x, y=1): break")[0], r"compile \('break' outside loop\)"),
    "a generator": (expression("(yield x)"), "returned a generator, instead of an ordinary function,"),
    "a constant that is a placeholder": (
        ast.Constant((frozenset({"@flags"}),)),
        "returned a constant that stands for an object of cassette_import,",
    ),
    "a constant with a placeholder in it": (
        ast.Constant((1, (frozenset({"@flags"}),))),
        "returned a constant that stands for an object of cassette_import,",
    ),
    "a name that is no name": (ast.Constant(object()), r"returned what does not compile \(.*\)"),
}


@pytest.mark.parametrize("name", RETURNED)
def test_a_pass_that_returns_what_cannot_be_used_is_an_error(name, program):
    returned, message = RETURNED[name]
    error = failure([lambda context_type, reflection: returned], program.add, 1)
    assert error.args[0].startswith("pass test_a_pass_that_returns_what_cannot_be_used_is_an_error.<locals>.<lambda> ")
    assert error.args[0].endswith(f" for add ({program.__file__}:{program.add.__code__.co_firstlineno})")
    with pytest.raises(PassError, match=message):
        raise error


def test_a_pass_may_return_a_constant_with_a_set_in_it(program):
    value = (frozenset({"flags"}),)
    assert overdub(Context(passes=[lambda *_: ast.Constant(value)]), program.add, 1) == value


def test_of_several_passes_the_one_that_fails_is_named(program):
    def fine(context_type, reflection):
        return reflection.tree

    def bad(context_type, reflection):
        return None

    assert "bad returned None" in str(failure([fine, bad, fine], program.add, 1))


def test_statements_for_a_lambda_are_an_error(program):
    def made(context_type, reflection):
        return statements("def f(x): return x")[0]

    assert "returned statements, which a lambda cannot have, for <lambda>" in str(failure([made], program.square, 1))


def test_a_value_for_an_asynchronous_generator_is_an_error(program):
    async def run():
        with pytest.raises(PassError, match="'return' with value in async generator"):
            await anext(overdub(Context(passes=[lambda context_type, reflection: expression("1")]), program.several, 3))

    asyncio.run(run())


def assigned(text):
    """A pass that puts statements at the beginning of a body."""

    def insert(context_type, reflection):
        reflection.tree.body[:0] = statements(text)
        return reflection.tree

    return insert


def test_a_local_name_that_the_function_looks_up_in_its_module_is_an_error(program):
    error = failure([assigned("math = None")], program.reads_math, 1.5)
    assert "binds math, which the function looks up outside of itself" in str(error)
    assert program.reads_math(1.5) == 1


def test_a_local_name_that_belongs_to_an_enclosing_function_is_an_error(program):
    error = failure([assigned("kept = 0")], program.reads_kept())
    assert "binds kept, which the function looks up outside of itself" in str(error)
    assert "reads_kept.<locals>.read" in str(error)


def test_a_global_name_that_is_local_in_the_function_is_an_error(program):
    error = failure([assigned("global result")], program.local_name, 1)
    assert "declares result global or nonlocal, which the function has as a local name," in str(error)


def test_a_new_global_name_is_none(program):
    assert overdub(Context(passes=[assigned("global seen\nseen = x")]), program.local_name, 5) == 6
    assert program.seen == 5


def test_the_variable_of_a_comprehension_may_have_a_name_of_the_module(program):
    made = assigned("squares = [math for math in (1, 2)]")
    assert overdub(Context(passes=[made]), program.reads_math, 1.5) == 1


def test_a_function_works_on_after_its_pass_failed(program):
    failure([broken], program.add, 3, 4)
    assert program.add(3, 4) == 7
    assert overdub(Context(), program.add, 3, 4) == 7
    failure([broken], program.add, 3, 4)


def test_the_error_of_a_failing_pass_is_raised_when_the_function_is_shown(program):
    with pytest.raises(PassError, match="pass broken failed on add"):
        reflect(program.add).overdubbed(Context(passes=[broken]))


def test_a_failing_pass_of_one_context_is_nothing_to_another(program):
    failure([broken], program.add, 3, 4)
    with Context(passes=[multiply]):
        assert program.add(3, 4) == 12
    failure([broken, multiply], program.add, 3, 4)


@pytest.mark.parametrize("f", ["square", "numbers", "add"])
def test_a_failing_pass_is_reported_in_every_kind_of_function(f, program):
    with pytest.raises(PassError):
        list(overdub(Context(passes=[broken]), getattr(program, f), 3))


def test_a_pass_without_end_is_an_error(program):
    def endless(context_type, reflection):
        return endless(context_type, reflection)

    assert "failed on add" in str(failure([endless], program.add, 1))


def test_a_pass_that_finds_no_room_on_the_stack_has_it(program):
    """A program deep in recursion enters a function for the first time."""

    def recursive(context_type, reflection):
        def down(n):
            return reflection.tree if n == 0 else down(n - 1)

        return down(100)

    ctx = Context(passes=[recursive])
    limit = sys.getrecursionlimit()

    def deep(n):
        try:
            return deep(n + 1)
        except RecursionError:
            return program.add(1) if n < limit - 80 else _again()

    class _Again(Exception):
        pass

    def _again():
        raise RecursionError

    with ctx:
        assert deep(0) == 2


@pytest.mark.parametrize("passes", [multiply, "multiply", 3, None, [3], ["multiply"], [[]]])
def test_passes_that_are_none_are_refused(passes):
    with pytest.raises(TypeError, match="passes must be"):
        Context(passes=passes)
    with pytest.raises(TypeError, match=r"Ctx\.passes must be"):
        type("Ctx", (Context,), {"passes": passes})
    with pytest.raises(TypeError, match="passes must be"):
        similarcontext(Context(), passes=passes)
