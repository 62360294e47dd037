"""What a pass may return: a node of the function, or an expression."""

import ast
import copy
import math

from helpers.passes import PlusToTimes, expression, in_place_of, multiply, statements

from cassette_import import Context, overdub


def test_a_pass_may_return_the_tree_unchanged(program):
    assert overdub(Context(passes=[lambda context_type, reflection: reflection.tree]), program.twice, 1) == 3


def test_a_pass_may_change_the_tree(program):
    assert (
        overdub(
            Context(passes=[multiply]),
            program.twice,
            3,
        )
        == 3
    )
    assert overdub(Context(passes=[multiply]), program.add, 3, 4) == 12
    assert program.add(3, 4) == 7


def test_a_pass_may_return_another_function_node(program):
    made = in_place_of("add", lambda reflection: statements("def add(x, y=1): return x - y")[0])
    assert overdub(Context(passes=[made]), program.add, 3, 4) == -1


def test_an_expression_is_the_whole_body(program):
    made = in_place_of("add", lambda reflection: expression("x * 10 + y"))
    assert overdub(Context(passes=[made]), program.add, 3, 4) == 34


def test_the_result_of_parse_is_an_expression_too(program):
    made = in_place_of("add", lambda reflection: ast.parse("x * 10 + y", mode="eval"))
    assert overdub(Context(passes=[made]), program.add, 3, 4) == 34


def test_a_lambda_for_a_def_is_an_expression_like_others(program):
    made = in_place_of("add", lambda reflection: expression("lambda: x * y"))
    assert overdub(Context(passes=[made]), program.add, 3, 4)() == 12


def test_a_deep_copy_of_the_tree_will_do(program):
    made = in_place_of("add", lambda reflection: PlusToTimes().visit(copy.deepcopy(reflection.tree)))
    assert overdub(Context(passes=[made]), program.add, 3, 4) == 12


def test_a_pass_may_return_what_it_keeps(program):
    kept = expression("x * 10 + y")

    class Watching(Context):
        passes = [in_place_of("add", lambda reflection: kept)]

        def prehook(self, f, *args):
            pass

    assert overdub(Watching(), program.add, 3, 4) == 34
    assert ast.unparse(kept) == "x * 10 + y"


def test_one_node_may_stand_in_several_places(program, Recorder):
    def thrice(reflection):
        call = expression("math.sin(x)")
        return ast.List([call, call, call], ast.Load())

    Recorder.passes = (in_place_of("sine", thrice),)
    ctx = Recorder()
    assert overdub(ctx, program.sine, 0.0) == [0.0, 0.0, 0.0]
    assert ctx.functions == [math.sin] * 3


def test_a_body_without_statements_does_nothing(program):
    def emptied(reflection):
        reflection.tree.body = []
        return reflection.tree

    assert overdub(Context(passes=[in_place_of("add", emptied)]), program.add, 3) is None
