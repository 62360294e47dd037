"""Whatever orders, compares, hashes, looks for or removes numbers by value is right in every program, or refused.

All expressions of `tests/programs/orders.py` run in `residual`, and a part of them in the other functions. Set
`CASSETTE_TEST_ORDERS` to the number of random arguments, with which all of them run in each.
"""

import math
import os
import random
import warnings

import pytest

from cassette_import.contexts.graph import GuardFailed, NotRepresentable, graph, inline, residual, unknown
from cassette_import.errors import CassetteError
from tests.programs.orders import EXPRESSIONS

pytest.importorskip("numpy")

from cassette_import.contexts.backends import jit

ARGUMENTS = int(os.environ.get("CASSETTE_TEST_ORDERS", "0"))
EXAMPLES = (0.1, 0.2, 0.3), (0.3, 0.1, 0.1), (0.5, 0.3, 0.4)
NUMBERS = 0.1, 0.2, 0.3, 0.4, 0.5, -0.3, 0.0, -0.0, math.inf
PROGRAMS = {
    "residual": lambda f, *examples: residual(f, *map(unknown, "xyz", examples)),
    "inline": inline,
    "graph": lambda f, *examples: graph(f, *examples).run,
    "jit": lambda f, *examples: jit(f, *examples, backend="python"),
}


def outcome(f, arguments):
    try:
        return repr(f(*arguments))
    except GuardFailed:
        return None
    except CassetteError:
        return "refused"
    except Exception as error:
        return type(error).__name__


def arguments_of(numbers, count):
    """Random arguments: often equal, but never one object, as the program's own numbers would not be."""
    return [tuple(float(numbers.choice(NUMBERS)) + 0.0 for _ in range(3)) for _ in range(count)]


def wrong_results(name, f, examples, count):
    """What a program gets wrong: arguments, its result and the right one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = PROGRAMS[name](f, *examples)
        except (CassetteError, NotRepresentable):
            return []
        given = arguments_of(random.Random(f.__code__.co_firstlineno), count)
        found = [(arguments, outcome(made, arguments), outcome(f, arguments)) for arguments in given]
    return [one for one in found if one[1] not in (one[2], None, "refused")]


@pytest.mark.parametrize("f", EXPRESSIONS, ids=lambda f: str(f.__code__.co_firstlineno))
def test_an_order_is_never_that_of_the_example(f):
    for examples in EXAMPLES if ARGUMENTS else EXAMPLES[:1]:
        assert wrong_results("residual", f, examples, ARGUMENTS or 12) == []


@pytest.mark.parametrize(
    "f", EXPRESSIONS if ARGUMENTS else EXPRESSIONS[::12], ids=lambda f: str(f.__code__.co_firstlineno)
)
@pytest.mark.parametrize("name", ["inline", "graph", "jit"])
def test_nor_is_it_in_other_programs(name, f):
    for examples in EXAMPLES if ARGUMENTS else EXAMPLES[:1]:
        assert wrong_results(name, f, examples, ARGUMENTS or 12) == []


def test_a_sorted_list_is_data():
    def median(x, y):
        items = [x, 0.4, y]
        items.sort()
        return items[1]

    made = residual(median, unknown("x", 0.1), unknown("y", 0.2), on_guard="raise")
    assert [made(*one) for one in ((0.1, 0.9), (0.9, 0.8), (0.3, 0.2))] == [0.4, 0.8, 0.3]
