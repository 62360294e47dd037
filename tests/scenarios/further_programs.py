"""Unaware programs of the scenarios about whole programs, passes and iteration."""

import functools
import math
import operator
import typing


class B:
    def m(self, x, y=4):
        return x**2 + y


class A(B):
    def m(self, x, y=4):
        return x + x


def invoker(a):
    return B.m(a, 3)


def sine(x):
    return math.sin(x)


def log(x):
    raise AssertionError("only meant to be intercepted")


def add(a, b):
    log(a)
    log(b)
    result = list(map(operator.add, a, b))
    log(result)
    return result


class Silo:
    def __iter__(self):
        raise RuntimeError("launched")


def display(silo):
    return (*silo,)


def turns(silo):
    count = 0
    for _ in silo:
        count += 1
    return count


def count_arguments(*args):
    return len(args)


def splat(silo):
    return count_arguments(*silo)


def unpack(silo):
    a, b = silo
    return a, b


def nan():
    infinity = float("inf")
    return infinity - infinity


@functools.singledispatch
def kind(x):
    return "object"


@kind.register
def _(x: int):
    return "int"


T = typing.TypeVar("T")


class Box(typing.Generic[T]):
    def __init__(self, x: T):
        self.x = x


def types_of_all_kinds():
    w, x, b = [[1.0, -2.0], [0.5, 4.0]], [3.0, 1.0], [0.5, -20.0]
    relu = [max(0.0, sum(map(operator.mul, row, x)) + bias) for row, bias in zip(w, b, strict=True)]
    return [
        isinstance(1, int),
        isinstance(True, (str, int)),
        kind(3),
        kind("a"),
        Box[int](3).x,
        relu,
        sum([1, 2.5]),
        [1, 2] + [3],
        (1, 2) * 2,
        {1} | {2},
        {"a": 1} | {"b": 2.0},
    ]
