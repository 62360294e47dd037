"""A function is found by its own lines, or more of the module is parsed."""

import ast
import os
import pathlib
import textwrap

import pytest

from cassette_import.rewriting.trees.code_matching import nested_functions
from cassette_import.rewriting.trees.function_lines import FunctionLines
from cassette_import.rewriting.trees.places import Index

LIBRARY = pathlib.Path(os.__file__).parent


def functions(code):
    for inner in nested_functions(code):
        yield inner
        yield from functions(inner)


def scopes(place):
    return [(isinstance(scope, ast.ClassDef), getattr(scope, "name", type(scope))) for scope in place.scopes]


def check(text):
    """The names of the functions that are not found; the others are what they are in the tree of the module."""
    lines, index = FunctionLines(text), Index(ast.parse(text))
    missing = []
    for code in functions(compile(text, "made.py", "exec", dont_inherit=True)):
        place, expected = lines.find(code, ast.parse), index.find(code)
        if place is None:
            missing.append(code.co_qualname)
            continue
        assert ast.dump(place.node, include_attributes=True) == ast.dump(expected.node, include_attributes=True)
        assert scopes(place) == scopes(expected)
        assert place.class_name == expected.class_name
    return missing


@pytest.mark.parametrize("name", ["dataclasses.py", "enum.py", "functools.py", "tarfile.py", "asyncio/tasks.py"])
def test_functions_of_the_standard_library_are_found_by_their_lines(name):
    text = LIBRARY.joinpath(name).read_text(encoding="utf-8")
    assert len(check(text)) < 0.02 * len(text.split("def "))


FOUND = {
    "decorators and headers of several lines": """
        class C:
            @decorator(
                1
            )
            # a comment
            async def f(
                self,
            ) -> int:
                return 1

            def g(self): return 1

            def h(a,
          b): return a
        """,
    "statements that make no code": """
        def f():
            "A text"
            def g():
                x: int
            def h():
                return 1
                if 0:
                    g()
        # a comment

            # another one
            class C:
                def __m(self): pass
            global y
        """,
    "closing brackets and comments with less indentation": """
        class C:
            def f(self):
                return [
            1
        ]
            def g(self):
        # a comment
                return (lambda: 1)
        """,
    "lambdas in functions": """
        class C:
            def f(self, a=1):
                x = lambda y: (lambda: y) if y else lambda: [
                    a
        ]
                return [lambda: x], lambda z: (
                    z)

        async def g(): return lambda: 1
        """,
    "text with less indentation": """
        class C:
            def f(self):
                x = '''
        def f(self):
            pass
        '''
                return x
        """,
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_definitions_are_found_by_their_lines(text):
    assert check(textwrap.dedent(text)) == []


UNCERTAIN = {
    "a function within another statement of the module": ("if 1:\n    def f():\n        pass\n", ["f"]),
    "a function that is declared global": ("def f():\n    global g\n    def g():\n        pass\n", ["g"]),
    "a class that is declared global": (
        "def f():\n    global \\\n  C, D\n    class D:\n        def g(self):\n            pass\n",
        ["D.g"],
    ),
    "text at the end, after the last code": (
        "class C:\n    def f(self):\n        return 1\n        '''\na'''\n",
        ["C.f"],
    ),
    "a parameter with a private name": ("class C:\n    def f(self, __x):\n        pass\n", ["C.f"]),
    "lambdas in the module and in classes": (
        "x = lambda: 1\nclass C:\n    def f(self, y=lambda: 2):\n        pass\n",
        ["<lambda>", "C.<lambda>"],
    ),
    "a lambda within the text of a function of the same name": (
        "def f():\n    x = '''\n    def f():\n        ''', lambda: 1\n",
        ["f.<locals>.<lambda>"],
    ),
    "a module with form feeds": ("\f\ndef f():\n    pass\n", ["f"]),
}


@pytest.mark.parametrize(("text", "missing"), UNCERTAIN.values(), ids=UNCERTAIN)
def test_what_is_not_certain_is_not_found(text, missing):
    assert sorted(check(text)) == missing


def test_a_function_is_not_found_where_more_than_the_names_of_its_scopes_is_needed():
    text = "class C:\n    def f(self):\n        pass\n"
    (code,) = functions(compile(text, "made.py", "exec", dont_inherit=True))
    assert FunctionLines(text, are_names_enough=False).find(code, ast.parse) is None
