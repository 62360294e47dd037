"""A module level is rewritten without its functions, and nothing shows it."""

import os
import pathlib
import textwrap
import types

import pytest

from cassette_import.rewriting.trees.module_tree import tree_without_bodies, with_plain_functions

LIBRARY = pathlib.Path(os.__file__).parent
SAMPLE = [
    "dataclasses.py",
    "enum.py",
    "functools.py",
    "tarfile.py",
    "json/decoder.py",
    "asyncio/tasks.py",
]


def compiled(tree):
    return compile(tree, "made.py", "exec", dont_inherit=True)


def same(one, other):
    """Whether two code objects are equal, positions and nested code objects included."""
    if one != other or one.co_linetable != other.co_linetable or len(one.co_consts) != len(other.co_consts):
        return False
    pairs = zip(one.co_consts, other.co_consts, strict=True)
    return all(same(*pair) for pair in pairs if all(isinstance(const, types.CodeType) for const in pair))


def check(text):
    """Whether the text has a tree without bodies; if so, the tree compiles to what the text compiles to."""
    plain = compiled(text)
    tree = tree_without_bodies(text, plain)
    if tree is not None:
        assert same(with_plain_functions(compiled(tree), plain), plain)
    return tree is not None


@pytest.mark.parametrize("name", SAMPLE)
def test_a_module_of_the_standard_library_is_compiled_without_its_functions(name):
    text = LIBRARY.joinpath(name).read_text(encoding="utf-8")
    assert check(text)
    assert len(text.split("\n")) > 100


PROGRAMS = {
    "a docstring": '''
        def f():
            """A docstring
        that is not indented."""
            return 1
    ''',
    "a header of several lines": """
        def f(
            a,
            b=(1,
            2),
        ):
            return a
    """,
    "decorators": """
        @print
        @(lambda f: f)
        def f():
            return 1
    """,
    "super and a private name": """
        class C:
            __x = 1
            def f(self):
                super().f()
                return self.__x
            def g(self):
                return __class__
    """,
    "attributes of instances": """
        class C:
            def __init__(self):
                self.a = 1
                self.b, self.__c = 2, 3
            def f(self):
                self.d = 4
            x = ()
    """,
    "a function that ends in brackets": """
        def f(a):
            a.b = (
                1 +
                2
            )
        x = 1
    """,
    "text that is not indented in the middle": """
        def f():
            x = '''
        text
        '''
            return x
        y = f()
    """,
    "comments after the body": """
        def f():
            return 1
            # a comment
        # another
            # and another
        x = 1
    """,
    "a branch without code at the end": """
        def f(x):
            if x:
                return 1
            else:
                pass
        x = 1
    """,
    "nested functions and classes": """
        def f(x):
            class C:
                def g(self):
                    return x
            return lambda: C
        class D:
            class E:
                async def f(self):
                    yield 1
    """,
    "a function in a finally clause": """
        try:
            pass
        finally:
            def f():
                return 1
    """,
    "text behind a function": """
        def f():
            x = 1
            return x
        '''
            text'''
    """,
    "a name that a function declares global": """
        x = 1
        def f():
            global x
            x = 2
    """,
    "statements without code behind a function": """
        class C:
            def f(self):
                return 1
            "A text"
            x: int
            def g(self):
                return 2
        try:
            def h():
                return 1
        finally:
            pass
    """,
    "a function at the end of statements": """
        if print:
            class C:
                def f(self):
                    return super().f()  # a comment
        elif len:
            for x in ():
                def g():
                    return (
                        x
                    )
    """,
    "statements in one line": """
        if 1: x = 1
        def f(): return 1
        class C: x = 1; y = lambda: 2
        def g(a): a += 1; return a
        def h(a):
            a += 1; return a
    """,
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_module_is_compiled_without_its_functions(text):
    assert check(textwrap.dedent(text))


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n",  # nothing to leave out
        "def f():\n    (\n        print()\n    )\n",  # the first line with code is within brackets
        "def f(a):\n    a.b = (\n1 +\n2\n)\n",  # the last line of the function is not indented
    ],
)
def test_where_it_is_not_certain_the_whole_text_is_parsed(text):
    assert not check(text)
