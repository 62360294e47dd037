"""Tools for writing passes: `replace_match` and `insert_statements`."""

import ast
import textwrap

import pytest

from cassette_import import Context, insert_statements, overdub, replace_match


def parsed(text):
    return ast.parse(textwrap.dedent(text))


def is_name(node):
    return isinstance(node, ast.Name)


def is_call(node):
    return isinstance(node, ast.Call)


# ---- replace_match


def test_replace_match_replaces_every_node_that_matches():
    tree = parsed("f(x, [y for y in z])")
    made = replace_match(lambda node: ast.Name(node.id * 2, node.ctx), is_name, tree)
    assert made is tree
    assert ast.unparse(made) == "ff(xx, [yy for yy in zz])"


def test_replace_match_does_not_search_what_it_put_in():
    tree = parsed("f(f(x))").body[0].value
    made = replace_match(lambda node: ast.Call(ast.Name("g", ast.Load()), [node], []), is_call, tree)
    assert ast.unparse(made) == "g(f(f(x)))"


def test_replace_match_may_replace_the_whole():
    assert replace_match(lambda node: ast.Constant(1), lambda node: True, ast.Name("x", ast.Load())).value == 1


def test_replace_match_accepts_a_list_of_statements_and_may_return_more_or_fewer():
    body = parsed("a\nb = 1\nif c:\n    d = 2\n").body
    made = replace_match(lambda node: [node, node], lambda node: isinstance(node, ast.Assign), body)
    assert made is body
    assert ast.unparse(ast.Module(body, [])) == "a\nb = 1\nb = 1\nif c:\n    d = 2\n    d = 2"
    replace_match(lambda node: [], lambda node: isinstance(node, ast.If), body)
    assert ast.unparse(ast.Module(body, [])) == "a\nb = 1\nb = 1"


def test_replace_match_keeps_the_position():
    tree = parsed("\n\nf(x)")
    replace_match(lambda node: ast.Constant(1), is_call, tree)
    assert (tree.body[0].value.lineno, tree.body[0].value.end_col_offset) == (3, 4)


def test_replace_match_works_at_every_depth():
    tree = ast.parse(" + ".join(["x"] * 900), mode="eval").body
    for _ in range(9):
        tree = ast.BinOp(tree, ast.Add(), tree.right)
    names = []
    replace_match(lambda node: names.append(node) or node, is_name, tree)
    assert len(names) == 909


@pytest.mark.parametrize("tree", ["x", None, 3])
def test_replace_match_refuses_what_is_no_tree(tree):
    with pytest.raises(TypeError, match="replace_match searches a node or a list"):
        replace_match(lambda node: node, is_name, tree)


# ---- insert_statements


PROGRAM = """
    a = 1
    if a:
        b = 2
    else:
        c = 3
    try:
        d = 4
    except E:
        e = 5
    finally:
        f = 6
    match a:
        case 1:
            g = 7
    def inner():
        h = 8
    class Inner:
        i = 9
"""


def is_assignment(statement, index):
    return 2 if isinstance(statement, ast.Assign) else None


def followed_by_a_stop(statement, index):
    return [statement, *ast.parse("stop()").body]


def test_insert_statements_inserts_into_all_blocks_but_not_into_other_bodies():
    body = parsed(PROGRAM).body
    assert insert_statements(body, is_assignment, followed_by_a_stop) is body
    text = ast.unparse(ast.Module(body, []))
    assert [text.count(f"{name} = ") for name in "abcdefghi"] == [1] * 9
    assert text.count("stop()") == 7
    assert "h = 8\n    stop()" not in text
    assert "i = 9\n    stop()" not in text


def test_insert_statements_counts_the_statements_of_a_block():
    seen = []
    insert_statements(parsed("a\nif b:\n    c\n    d\ne").body, lambda s, i: seen.append((s.lineno, i)), None)
    assert sorted(seen) == [(1, 0), (2, 1), (3, 0), (4, 1), (5, 2)]


def test_insert_statements_as_in_the_table_of_cassette():
    # Six statements, of which the second becomes two and the fifth three, are nine; lines repeat.
    body = parsed("\n".join(f"s{number}" for number in range(1, 7))).body
    counts = {1: 2, 4: 3}

    def new(statement, index):
        return [ast.Expr(ast.Name(f"n{number}", ast.Load())) for number in range(counts[index])]

    insert_statements(body, lambda statement, index: counts.get(index), new)
    assert [ast.unparse(statement) for statement in body] == ["s1", "n0", "n1", "s3", "s4", "n0", "n1", "n2", "s6"]
    assert [statement.lineno for statement in body] == [1, 2, 2, 3, 4, 5, 5, 5, 6]


def test_insert_statements_may_wrap_a_statement_and_what_was_done_in_it_stays():
    def wrapped(statement, index):
        return [ast.Try([statement], [], [], ast.parse("stop()").body)]

    body = insert_statements(
        parsed("if a:\n    b = 2\n").body, lambda s, i: 1 if isinstance(s, (ast.Assign, ast.If)) else None, wrapped
    )
    text = ast.unparse(ast.Module(body, []))
    assert (
        text == "try:\n    if a:\n        try:\n            b = 2\n        finally:\n"
        "            stop()\nfinally:\n    stop()"
    )
    assert [node.lineno for node in ast.walk(body[0]) if isinstance(node, ast.Assign)] == [2]


def test_what_is_inserted_twice_is_two_statements():
    kept = ast.parse("stop()").body
    body = insert_statements(parsed("a\nb\n").body, lambda s, i: 2, lambda s, i: [s, *kept])
    assert body[1] is not body[3]
    assert [statement.lineno for statement in body] == [1, 1, 2, 2]


def test_insert_statements_may_remove():
    body = insert_statements(
        parsed("a = 1\nb\n").body, lambda s, i: 0 if isinstance(s, ast.Assign) else None, lambda s, i: []
    )
    assert ast.unparse(ast.Module(body, [])) == "b"


def test_another_number_of_statements_than_declared_is_an_error():
    with pytest.raises(ValueError, match="2 statements must replace the one in line 1, not 1"):
        insert_statements(parsed("a = 1").body, is_assignment, lambda s, i: [s])


def test_a_lambda_has_no_statements():
    with pytest.raises(TypeError, match="a lambda has no statements"):
        insert_statements(parsed("lambda: 1").body[0].value.body, is_assignment, followed_by_a_stop)


def test_insert_statements_in_a_pass(make_program):
    program = make_program(
        """
        def f(xs):
            total = 0
            for x in xs:
                total += x
            return total
        """
    )
    seen = []

    def stops(context_type, reflection):
        insert_statements(
            reflection.tree.body,
            lambda statement, index: None if isinstance(statement, ast.Return) else 2,
            lambda statement, index: [
                statement,
                *ast.parse(f"__import__('sys').stops.append({statement.lineno})").body,
            ],
        )
        return reflection.tree

    import sys

    sys.stops = seen
    try:
        assert overdub(Context(passes=[stops]), program.f, [1, 2]) == 3
    finally:
        del sys.stops
    first = program.f.__code__.co_firstlineno
    assert [line - first for line in seen] == [1, 3, 3, 2]
