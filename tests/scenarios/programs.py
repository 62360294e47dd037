"""The unaware programs that the scenarios run."""

import functools
import math
import operator


def my_add(x, y):
    return x + y


def my_mul(x, y):
    return x * y


def my_sin(x):
    return math.sin(x)


def add_mul(x1, x2, x3):
    return my_add(x1, my_mul(x2, x3))


def add_mul_operators(x1, x2, x3):
    return x1 + x2 * x3


def four(a, b, c, d):
    return a, b, c, d


def splatted(x1, x2, x3):
    return four(*(x1, x2), *(my_mul(x2, x3), x3))


def rosenbrock(x):
    a = 1.0
    b = 100.0
    result = 0.0
    for i in range(len(x) - 1):
        result += (a - x[i]) ** 2 + b * (x[i + 1] - x[i] ** 2) ** 2
    return result


def sin_plus_cos(x):
    return math.sin(x) + math.cos(x)


def foldmul(x, *a):
    return functools.reduce(operator.mul, (x, *a))


def polynomial(x):
    return 3 * x * x + 2 * x + 1


def strings():
    return [str(i) for i in range(1, 11)]


def square_by_closure(x):
    return (lambda y: y * x)(x)


def count_up():
    return [i for i in range(5)]


def distances(f, x, y):
    return [f(x, i) for i in y]


def nested_distances(f, x, y):
    return [[f(i, j) for i in y] for j in [x for _ in y]]


def distance_set(f, x, y):
    return {f(x, i) for i in y}


def distance_dict(f, x, y):
    return {i: f(x, i) for i in y}


def distance_generator(f, x, y):
    return list(f(x, i) for i in y)


async def distances_async(f, x, y):
    async def each():
        for i in y:
            yield i

    return [f(x, i) async for i in each()]


def outer(x):
    return middle(x) + middle(x + 1)


def middle(x):
    return inner(x) * 2


def inner(x):
    return x - 1


def never_called(x):
    return x


def sines_of_the_large(xs):
    return sum(my_sin(i) if i > 0.5 else i for i in xs)


def trtest(x, y, z):
    return x * y + y * z


def trtest_functions(x, y, z):
    return my_add(my_mul(x, y), my_mul(y, z))


def trkwtest(x, *, _y, _z):
    return x * _y + _y * _z


def call_trkwtest(x, y, z):
    return trkwtest(x, _y=y, _z=z)


def guarded_division(x):
    try:
        return divide(x, 0)
    except ZeroDivisionError:
        return my_add(x, 1)


def divide(x, y):
    return my_mul(x, 1) / y


class B:
    def m(self, x):
        return x**2


class A(B):
    def m(self, x):
        return x + x

    def by_super(self, x):
        return super().m(x)


def invoker(a):
    return B.m(a, 3)


def super_invoker(a):
    return a.by_super(3)


class Generic:
    def __call__(self, x):
        return [self.scale * value for value in x]


class Dense(Generic):
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return super().__call__(x)


def fib(x):
    return 1 if x < 3 else fib(x - 2) + fib(x - 1)


def fibtest(n):
    return fib(2 * n) + n


def two():
    return my_add(1, 1)


def keyword_only(*, x):
    return x


def call_keyword_only(f):
    return f(x=7)


def keyword_only_closure(default):
    def closure(*, x):
        return x if default is None else default

    return closure


class WithInit:
    def __init__(self, x=0):
        self.x = x


class Callable:
    def __call__(self, x=0):
        return x

    def method(self, x=0):
        return x
