"""The statement around a function is found by its lines, or the whole module is parsed."""

import ast
import os
import pathlib
import textwrap

import pytest

from cassette_import.rewriting.trees.code_matching import nested_functions
from cassette_import.rewriting.trees.places import Index
from cassette_import.rewriting.trees.statement_lines import lines_around

LIBRARY = pathlib.Path(os.__file__).parent


def functions(code):
    for inner in nested_functions(code):
        yield inner
        yield from functions(inner)


def in_statement(lines, code):
    """The place of a function, found in the lines of its statement alone."""
    around = lines_around(lines, code.co_firstlineno)
    if around is None:
        return None
    first, last = around
    try:
        tree = ast.parse("\n" * (first - 1) + "\n".join(lines[first - 1 : last]))
    except SyntaxError:
        return None
    place = Index(tree).find(code)
    return place if place is not None and place.qualified_name == code.co_qualname else None


def decorators(place):
    return [[ast.dump(item) for item in getattr(scope, "decorator_list", ())] for scope in place.scopes]


def check(text):
    """The share of functions that are found in their statement, where they are what they are in the module."""
    lines = text.split("\n")
    index = Index(ast.parse(text))
    found = []
    for code in functions(compile(text, "made.py", "exec", dont_inherit=True)):
        place, expected = in_statement(lines, code), index.find(code)
        found.append(place is not None)
        if place is not None:
            assert ast.dump(place.node, include_attributes=True) == ast.dump(expected.node, include_attributes=True)
            assert [type(scope) for scope in place.scopes] == [type(scope) for scope in expected.scopes]
            decorators = [[ast.dump(item) for item in getattr(s, "decorator_list", ())] for s in place.scopes]
            assert decorators == [
                [ast.dump(item) for item in getattr(s, "decorator_list", ())] for s in expected.scopes
            ]
    return sum(found) / len(found)


@pytest.mark.parametrize("name", ["dataclasses.py", "enum.py", "functools.py", "tarfile.py", "asyncio/tasks.py"])
def test_functions_of_the_standard_library_are_found_in_their_statements(name):
    assert check(LIBRARY.joinpath(name).read_text(encoding="utf-8")) > 0.9


@pytest.mark.parametrize(
    "text",
    [
        """
        @decorator
        @other(
            1
        )
        # a comment
        class C:
            '''Text
            '''
            @property
            def f(self): return 1

            async def g(self):
                return lambda: (
            1
        )
        def h(
            a
        ):
            return a
        """,
        """
        class C:
            def f(self):
                def g():
                    class D:
                        def h(self): pass
                    return D
                return g
        """,
    ],
)
def test_functions_are_found_in_their_statement(text):
    assert check(textwrap.dedent(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "if 1:\n    def f():\n        pass\n",
        "class C:\n    '''Text\ndef f():\n    pass\n'''\n    def f(self):\n        pass\n",
        "def f():\n    x = '''\ntext'''\n    def g():\n        pass\n",
        "x = [lambda: 1]\n",
    ],
)
def test_where_the_statement_is_not_certain_no_function_is_found(text):
    assert check(text) == 0


def test_a_function_that_is_declared_global_is_looked_for_in_the_module():
    assert check("def f():\n    global g\n    def g():\n        pass\n") == 0.5
