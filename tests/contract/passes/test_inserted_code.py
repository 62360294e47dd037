"""Code that a pass inserts: its events, the active context in it, and its positions."""

import ast
import operator
import traceback

import pytest
from helpers.passes import expression, in_place_of, statements

from cassette_import import Context, contextslot, nooverdub, overdub, similarcontext


def test_what_a_pass_inserts_is_overdubbed(program, Recorder):
    Recorder.passes = (in_place_of("add", lambda reflection: expression("abs(x) - y")),)
    ctx = Recorder()
    assert overdub(ctx, program.add, -3, 4) == -1
    assert ctx.calls == [(abs, (-3,)), (operator.sub, (3, 4))]


def test_what_is_marked_nooverdub_is_not(program, Recorder):
    def quiet(reflection):
        return ast.BinOp(nooverdub(expression("abs(x)")), ast.Sub(), ast.Name("y", ast.Load()))

    Recorder.passes = (in_place_of("add", quiet),)
    ctx = Recorder()
    assert overdub(ctx, program.add, -3, 4) == -1
    assert ctx.calls == [(operator.sub, (3, 4))]


def test_nooverdub_takes_expressions_only():
    with pytest.raises(TypeError, match="nooverdub takes an expression"):
        nooverdub("abs(x)")


def test_the_overload_of_an_inserted_call_is_called(program):
    class Absolute(Context):
        passes = [in_place_of("add", lambda reflection: expression("abs(x)"))]

    Absolute.overdub.register(abs)(lambda ctx, f, x: "overloaded")
    assert overdub(Absolute(), program.add, 1) == "overloaded"


def slot_in(text):
    """A pass that makes a body of an expression in which `ctx` is the context."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node):
            return contextslot() if node.id == "ctx" else node

    return lambda context_type, reflection: Fill().visit(expression(text))


def test_contextslot_is_the_active_context(program):
    ctx = Context("its metadata", passes=[slot_in("ctx")])
    assert overdub(ctx, program.add, 1) is ctx


def test_contextslot_is_each_context_that_comes(program):
    contexts = [Context(passes=[in_place_of("add", lambda reflection: contextslot())]) for _ in range(2)]
    a, b = contexts[0], similarcontext(contexts[0])
    assert overdub(a, program.add, 1) is a
    assert overdub(b, program.add, 1) is b


def test_contextslot_in_a_stack_is_the_context_whose_pass_it_was(program):
    outer = Context("outer", passes=[in_place_of("add", lambda reflection: slot_in("ctx.metadata")(None, None))])
    inner = Context("inner", passes=[in_place_of("sine", lambda reflection: slot_in("ctx.metadata")(None, None))])
    with outer, inner:
        assert program.add(1) == "outer"
        assert program.sine(1) == "inner"


def test_contextslot_in_a_lambda(program):
    assert overdub(Context(3, passes=[slot_in("ctx.metadata + x")]), program.square, 4) == 7


def with_context_in_the_sum(context_type, reflection):
    """`i + 1` becomes `i + ctx.metadata`."""

    class Fill(ast.NodeTransformer):
        def visit_Constant(self, node):
            return ast.Attribute(contextslot(), "metadata", ast.Load()) if node.value == 1 else node

    return Fill().visit(reflection.tree)


def test_contextslot_in_a_generator_that_is_resumed_in_another_context(program):
    with Context(10, passes=[with_context_in_the_sum]):
        inside = program.numbers(3)
        assert next(inside) == 10
    assert next(inside) == 11
    with Context(20), Context(30):
        assert next(inside) == 12


def test_calls_of_the_contexts_methods_are_events_unless_marked(program, Recorder):
    Recorder.tell = lambda self, x: x
    Recorder.passes = (slot_in("ctx.tell(x)"),)
    ctx = Recorder()
    assert overdub(ctx, program.add, 5) == 5
    assert ctx.functions == [Recorder.tell]


def lines_of(error):
    return [entry.lineno for entry in traceback.extract_tb(error.__traceback__)]


def test_what_a_pass_inserts_belongs_to_the_line_of_the_next_statement(program):
    def checked(context_type, reflection):
        if reflection.function.__name__ == "many":
            reflection.tree.body[1:1] = statements("\n\n\n\n\n\nraise LookupError(xs)")
        return reflection.tree

    with pytest.raises(LookupError) as info:
        overdub(Context(passes=[checked]), program.many, [1])
    assert lines_of(info.value)[-1] == program.many.__code__.co_firstlineno + 2


def test_an_error_in_the_original_part_keeps_its_line(program):
    def checked(context_type, reflection):
        reflection.tree.body[:0] = statements("before = 0")
        return reflection.tree

    with pytest.raises(TypeError) as info:
        overdub(Context(passes=[checked]), program.many, [None])
    assert lines_of(info.value)[-1] == program.many.__code__.co_firstlineno + 3


def test_a_pass_needs_no_positions(program):
    def bare(reflection):
        return ast.BinOp(ast.Name("x", ast.Load()), ast.Sub(), ast.Call(ast.Name("abs", ast.Load()), [], []))

    with pytest.raises(TypeError) as info:
        overdub(Context(passes=[in_place_of("add", bare)]), program.add, 1)
    assert lines_of(info.value)[-1] == program.add.__code__.co_firstlineno + 2
