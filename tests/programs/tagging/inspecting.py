"""An unmodified program whose functions inspect a value, each in another way."""

import json
import math
import operator
import pickle
import struct

SEEN = []


def types(x):
    return type(x) is float, isinstance(x, float), x.__class__ is float, isinstance(x, (int, str))


def identity(x):
    return x is None, x is x, x is not None, x == 3.5, x != 3.5, 3.5 == x, x in [3.5], [x] == [3.5], (x,) == (3.5,)


def hashes(x):
    made = {x: 1, 3.5: 2}
    return len(made), hash(x) == hash(3.5), made[x], x in made, type(next(iter(made))) is float


def indices(x):
    n = int(x)
    return [10, 20, 30, 40][n], list(range(n)), "abcd"[n], [0] * n, "ab" * n


def truth(x):
    return bool(x), not x, (1 if x else 2), [i for i in [1] if x], all([x]), any([x])


def text(x):
    return f"{x}", f"{x!r:>8}", f"{x:.3f}", "%s" % x, "%.1f" % x, "{}".format(x), str(x), repr(x), " ".join([str(x)])


def modules(x):
    return json.dumps({"a": [x]}), pickle.loads(pickle.dumps([x])), struct.pack("d", x), math.sqrt(x)


def matching(x):
    match x:
        case str():
            return "text"
        case float(value) if value > 3:
            return type(value) is float


def errors(x):
    try:
        raise ValueError("bad", x)
    except ValueError as error:
        return [type(part) for part in error.args]


def callbacks(x):
    return sorted([2, 1], key=lambda item: item * x), sum(i * x for i in [1, 2]), list(map(lambda i: type(x), [1]))


def kept_by_a_leaf(x):
    SEEN.append(x)
    default = lambda a=x: a

    class Local:
        part = x

    return type(default.__defaults__[0]), type(Local.__dict__["part"]), default() == x


def arithmetic(x):
    y = x
    y += 1
    return -x, x + 1, 1 + x, x * 2, 2 / x, x**2, x // 2, x % 2, divmod(x, 2), abs(x), round(x), y, 1 < x < 4


def comparisons(x):
    return operator.lt(x, 4), sorted([x, 1.0, 7.0]), max(x, 1), min([x, 5])


def unhashable(x):
    try:
        return {[]: x}
    except TypeError as error:
        return str(error)


VIEWS = [
    types, identity, hashes, indices, truth, text, modules, matching, errors, callbacks, kept_by_a_leaf, arithmetic,
    comparisons, unhashable,
]  # fmt: skip


def overwritten_by_a_leaf(x, leaf):
    items = [x, 1]
    leaf(items)
    return items[0]


def keep_calling(x, times, forget):
    for _ in range(times):
        forget([x, [x]], {"a": x})


def through_a_global(x):
    SEEN.append(x)


def from_the_global():
    return SEEN[-1]
