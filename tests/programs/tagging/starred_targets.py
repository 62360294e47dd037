"""Programs that unpack into a starred target: the interpreter makes its list."""

import contextlib
import json


def a_function(x):
    _a, *b = (x, x * 2, x * 3)
    return sum(b)


def a_generator_expression(x):
    return sum(sum(b) for a, *b in [(x, x * 2), (x, x * 3)])


def a_loop(x):
    s = 0
    for _a, *b in [(x, x * 2), (x, x * 3)]:
        s += b[0]
    return s


def a_subscript(x):
    d = {"r": [None] * 2}
    d["k"], *d["r"] = (x, x * 2)
    return d["r"][0]


def a_nested_target(x):
    (_a, *b), _c = (x, x * 2, x), 3
    return json.loads(json.dumps(1)) * b[0] + b[1]


def a_class_body(x):
    class K:
        a, *b = x, x * 5

    return K.b[0]


def nothing_else(x):
    (*a,) = [x, x]
    return a[0] * a[1]


def a_tuple_of_targets(x):
    _a, *(b, c) = x, x * 2, x * 3
    return b * c


def an_index_that_changes(x):
    items = [0, [0, 0], 0]
    i = 0
    *items[i], i = x, x * 4, 2
    return items[0][1] + i


def a_global(x):
    global G
    _a, *G = x, 2 * x
    return G[0]


def a_list_comprehension(x):
    rests = [b for a, *b in [(x, x * 2)]]
    return rests[0][0]


def a_loop_into_a_dict(x):
    m = {}
    for m["a"], *m["b"] in [(x, 3 * x)]:
        pass
    return m["b"][0]


def a_generator(x):
    def g():
        _a, *b = x, 2 * x
        yield b

    return next(iter(g()))[0]


def a_with_statement(x):
    with contextlib.nullcontext((x, 2 * x)) as (_a, *b):
        return b[0]
