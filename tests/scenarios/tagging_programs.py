"""The unaware programs of the tagging scenarios."""

import math
from dataclasses import dataclass


@dataclass
class Baz:
    x: int
    y: float
    z: str

    def __post_init__(self):
        assert isinstance(self.x, int)
        assert type(self.y) is float
        assert isinstance(self.z, str)


def baz_identity(x: int):
    assert isinstance(x, int)
    return Baz(x, float(x), f"{x}").x


class Bar:
    def __init__(self, x):
        self.x = x


class Foo:
    def __init__(self, bar):
        self.bar = bar
        self.items = []


def foo_bar_identity(x):
    bar = Bar(x)
    foo = Foo(bar)
    foo.bar = Bar(float(foo.bar.x))
    foo.items.append(foo.bar)
    foo.bar = Bar("something else")
    return foo.items[0].x


def three(x):
    return (x, [x], 1)


def hypotenuse(x):
    return math.hypot(*(x,), *(1, x), 1, x, *(1, 2))


def sines(*xs):
    return [math.sin(v) for v in xs]


def moved(xs):
    return [x for x in xs]


def twice(kind):
    return (kind, kind)


def either(x):
    return 1 if x else 2


def count_down(b):
    i = 1
    while i > b:
        i -= 1
    return i


def add_keyword(x, *, y):
    return x + y


class RecurType:
    pass


def attach(x):
    x.r = RecurType()
    return x


def square(x):
    return [[x, x], [x, x]]


# ---- 46


CONST = []
GLOBAL = 0.0


class PlusFunc:
    def __init__(self):
        self.total = 0.0

    def __call__(self, value):
        self.total = self.total + value
        return self.total


class Swapped:
    def __init__(self, x, y):
        self.x = x
        self.y = y


class Container:
    def __init__(self, inside):
        self.inside = inside


def total(values):
    result = 0.0
    for value in values:
        result = result + value
    return result


def crazy_sum_mul(x, y):
    global GLOBAL
    container = Container(Swapped(x, y))
    plus = PlusFunc()
    CONST.clear()
    GLOBAL = 0.0
    for index in range(len(x)):
        inside = container.inside
        CONST.append(inside.x[index])
        GLOBAL = plus(inside.y[index])
        inside.x, inside.y = inside.y, inside.x
        container.inside = Swapped(inside.y, inside.x)
    return total(CONST) * GLOBAL


# ---- 47


def crazy(x, y):
    return crazy_sum_mul(x, y)


# ---- 49


def sine_of_doubled(x):
    return math.sin(x + x)
