"""Operands that are variables keep the values that they have when their turn comes, without a temporary too."""

import importlib

import pytest

from cassette_import import Context, install, overdub


class Tagging(Context, tagging=True):
    pass


PROGRAMS = [
    "def f(x, g):\n    return x + (x := 5) + g(x)",
    "def f(x, g):\n    return g(x, (x := 2), g(x))",
    "def f(x, g):\n    x = x - g(x)\n    return [x, (x := 3) * x, x]",
    "def f(x, g):\n    g = g(g(x))\n    return g",
    "def f(x, g):\n    if x:\n        y = g(x)\n    else:\n        y = 0\n    return y * g(x) + y",
    "def f(x, g):\n    for y in range(3):\n        z = y + g(x) + y\n    return z, y",
    "def f(x, g):\n    for y in ():\n        pass\n    return y + g(x)",
    "def f(x, g):\n    if not x:\n        y = 1\n    return g(y, g(x))",
    "def f(x, g):\n    y = 1\n    del y\n    return y + g(x)",
    "def f(x, g):\n    try:\n        y = g(x)\n        g(1, 2, 3, 4)\n    except TypeError as x:\n        pass\n"
    "    return y * g(x)",
    "def f(x, g):\n    def h():\n        nonlocal x\n        x = 7\n        return 1\n    return x + h() + x",
    "def f(x, g):\n    return x < g(x) < x + g(9)",
    "def f(x, g):\n    y = [1, 2]\n    y[g(0)] = x\n    y[g(0)] -= g(x)\n    return y",
    "def f(x, g):\n    while x:\n        x = x - g(1)\n    return x - g(x)",
    "def f(x, g):\n    return (\n        x\n        + g(x)\n        + x\n    )",
    "def f(x, g):\n    y = [0, 0]\n    y[(x := 1)] = z = y[0] = x\n    return x, y, z",
    "def f(x, g):\n    y = z = x = g(x + 1)\n    w = v = 7\n    return x, y, z, w - v",
    "def f(x, g):\n    global glob\n    g.a = glob = glob2 = g(x)\n    glob += 1\n"
    "    assert glob > glob2, glob\n    assert x, glob\n    return g.a",
    "def f(*x, g):\n    y, (z, *w) = x[0], (1, 2, 3)\n    return y + g(z) + z, w + g([z])",
    "def f(x, g):\n    return [x + g(x) for x in (1, 2)] + [x]",
]


def _g(*arguments):
    if len(arguments) > 3:
        raise TypeError("too many")
    return arguments[-1]


def _outcome(run):
    try:
        return run()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("value", [3, 0])
def test_the_result_is_that_of_the_plain_program(text, value, make_package):
    plain = {}
    exec(text, plain)
    name = make_package(text)
    install(name)
    module = importlib.import_module(name)
    expected = _outcome(lambda: plain["f"](value, g=_g))
    context = Tagging()
    for _ in range(3):
        assert _outcome(lambda: overdub(context, module.f, value, g=_g)) == expected
