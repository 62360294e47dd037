"""A program with a function of each kind, for tests of what a call in a context does."""

from cassette_import import Context

PROGRAM = """
    import math


    def add(x, y):
        return x + y


    def twice(x):
        return add(x, x)


    def sine(x):
        return math.sin(x)


    def countdown(n):
        return 0 if n == 0 else countdown(n - 1) + 1


    def call(f, *args):
        return f(*args)


    def fail(x):
        raise ValueError(x)


    def numbers(n):
        for i in range(n):
            yield add(i, 1)


    async def double(x, gate=None):
        if gate is not None:
            await gate.wait()
        return add(x, x)


    async def counting(n):
        for i in range(n):
            yield add(i, 1)


    class Point:
        def __init__(self, x):
            self.x = add(x, 0)

        def moved(self, by):
            return Point(add(self.x, by))

        @classmethod
        def origin(cls):
            return cls(0)

        @staticmethod
        def distance(a, b):
            return abs(a.x - b.x)

        def __call__(self, y):
            return add(self.x, y)


    class Plain:
        pass
"""


class Ctx(Context):
    pass
