"""Passes that several tests need, and a program for them to change."""

import ast

import pytest

from cassette_import import Context, PassError, overdub

PROGRAM = """
    import functools
    import math

    count = 0

    def add(x, y=1):
        '''Adds.'''
        return x + y

    def twice(x):
        return add(add(x))

    def sine(x):
        return math.sin(x)

    square = lambda x: x * x

    class Point:
        def __init__(self, x):
            self.x = x

        def moved(self, by):
            return Point(self.x + by)

        @staticmethod
        def static(x):
            return x + 1

        @classmethod
        def classy(cls, x):
            return cls(x + 1)

        @property
        def double(self):
            return self.x + self.x

    def numbers(n):
        for i in range(n):
            yield i + 1

    async def later(x):
        return x + 1

    async def several(n):
        for i in range(n):
            yield i + 1

    def counter():
        total = 0
        def step(by):
            nonlocal total
            total = total + by
            return total
        return step

    def bump():
        global count
        count = count + 1
        return count

    def reads_kept():
        kept = 5
        def read():
            return kept
        return read

    def reads_math(x):
        return math.floor(x)

    def local_name(x):
        result = x + 1
        return result

    @functools.lru_cache
    def cached(x: int, y: int = 2) -> int:
        return x + y

    def many(xs):
        total = 0
        for x in xs:
            total = total + x
        return total
"""


def in_place_of(f, make):
    """Return a pass that replaces one function by the result of `make` and leaves all others unchanged."""

    def changed(context_type, reflection):
        return make(reflection) if reflection.function.__name__ == f else reflection.tree

    return changed


def expression(text):
    return ast.parse(text, mode="eval").body


def statements(text):
    return ast.parse(text).body


class PlusToTimes(ast.NodeTransformer):
    def visit_Add(self, node):
        return ast.Mult()


def multiply(context_type, reflection):
    """Replaces every addition by a multiplication."""
    return PlusToTimes().visit(reflection.tree)


def failure(passes, f, *args):
    with pytest.raises(PassError) as info:
        overdub(Context(passes=passes), f, *args)
    return info.value


def broken(context_type, reflection):
    raise LookupError("the pass's own")
