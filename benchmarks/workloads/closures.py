"""Functions as values: decorators, closures, `partial`, `reduce`, callbacks from C, exceptions raised and caught."""

import functools


def traced(function):
    @functools.wraps(function)
    def wrapper(*arguments, **keywords):
        wrapper.calls += 1
        return function(*arguments, **keywords)

    wrapper.calls = 0
    return wrapper


def compose(*functions):
    def composed(value):
        for function in functions:
            value = function(value)
        return value

    return composed


def counter(start=0, step=1):
    count = start

    def advance(by=None):
        nonlocal count
        count += step if by is None else by
        return count

    return advance


@traced
def clamp(value, *, low=0, high=1000):
    if value < low:
        raise ValueError(value)
    return min(value, high)


def attempt(function, value, otherwise):
    try:
        return function(value)
    except ValueError as error:
        return otherwise(error)


def collatz(start, visit):
    value = start
    while value != 1:
        value = value // 2 if value % 2 == 0 else 3 * value + 1
        visit()
    return start


def main():
    clamp.calls = 0
    shifted = compose(lambda x: x - 41, functools.partial(clamp, high=600), lambda x: x * 3)
    values = [attempt(shifted, value, lambda error: abs(error.args[0])) for value in range(0, 1200, 2)]
    visit = counter()
    for start in range(1, 80):
        collatz(start, visit)
    ranked = sorted(values, key=lambda value: (value % 17, -value))
    folded = functools.reduce(lambda a, b: (a * 31 + b) % 1000003, map(lambda x: x + 1, ranked), 7)
    return clamp.calls, folded, visit(0), len(list(filter(lambda x: x & 1, values)))
