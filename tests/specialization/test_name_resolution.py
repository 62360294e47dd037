"""`resolves_to`: the object that an expression in a function's tree refers to."""

import ast
import math
import operator

import pytest

from cassette_import import Context, overdub, reflect, replace_match, resolves_to

PROGRAM = """
    import math
    import operator
    from math import cos as cosine

    class Shape:
        @staticmethod
        def area(x):
            return x

    def target():
        pass

    def make():
        def kept():
            pass

        def f(p, q=None):
            s = math.sin
            t = s
            m = math
            u = cosine
            u = 1
            for loop in q:
                pass
            for q[math], q[cosine].real in q:
                pass
            with p as q[operator]:
                pass
            [0 for q[print] in q]
            (w := target)
            first(s, t, m.sin, math.sin, cosine, print, kept, Shape.area, target, w, 3, "a", True)
            second(u, p, q, loop, nothing, p.sin, s.real, f(), [input for input in q][0], first)
            return lambda print: print

        return f, kept
"""


@pytest.fixture
def resolved(make_program):
    module = make_program(PROGRAM)
    f, kept = module.make()
    module.kept = kept
    tree = reflect(f).tree
    first, second = (
        next(node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == name)
        for name in ("first", "second")
    )
    return module, tree, first, second


def test_names_attributes_and_constants_resolve_to_objects(resolved):
    module, _, first, _ = resolved
    expected = [
        math.sin, math.sin, math.sin, math.sin, math.cos, print, module.kept, module.Shape.area,
        module.target, module.target, 3, "a", True,
    ]  # fmt: skip
    assert [resolves_to(node, target) for node, target in zip(first.args, expected, strict=True)] == [True] * len(
        expected
    )
    assert not any(resolves_to(node, operator.add) for node in first.args)
    assert not resolves_to(first.args[-1], 1)


def test_names_that_cannot_be_resolved_have_no_value(resolved):
    module, _, _, second = resolved
    candidates = [math.sin, math.cos, print, input, module.target, None, 1]
    assert [any(resolves_to(node, one) for one in candidates) for node in second.args] == [False] * len(second.args)


def test_a_name_resolves_to_the_node_that_defines_it(resolved):
    _, tree, first, _ = resolved
    value = tree.body[0].value
    s, t = first.args[:2]
    assert resolves_to(s, value)
    assert resolves_to(t, value)
    assert resolves_to(value, value)
    assert resolves_to(t, s)
    assert not resolves_to(first.args[4], value)


def test_a_node_that_is_written_the_same_will_do(resolved):
    _, _, first, _ = resolved
    assert resolves_to(first.args[0], ast.parse("math.sin", mode="eval").body)
    assert resolves_to(first.args[10], ast.Constant(3))
    assert not resolves_to(first.args[0], ast.parse("math.cos", mode="eval").body)


def test_a_node_of_another_tree_has_no_value():
    assert not resolves_to(ast.Name("print", ast.Load()), print)
    assert resolves_to(ast.Constant(3), 3)


def test_names_of_other_functions_are_not_resolved(resolved):
    _, tree, _, _ = resolved
    inner = tree.body[-1].value
    assert isinstance(inner, ast.Lambda)
    assert not resolves_to(inner.body, print)


def test_a_pass_finds_calls_of_a_function_however_they_are_written(make_program):
    program = make_program(
        """
        import math
        from math import sin as s

        def f(x):
            mine = math.sin
            return mine(x) + s(x) + math.sin(x) + math.cos(x)
        """
    )

    def without_sines(context_type, reflection):
        return replace_match(
            lambda node: ast.Constant(0),
            lambda node: isinstance(node, ast.Call) and resolves_to(node.func, math.sin),
            reflection.tree,
        )

    assert overdub(Context(passes=[without_sines]), program.f, 1.0) == math.cos(1.0)
