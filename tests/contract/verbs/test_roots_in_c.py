"""A root in C, or in the standard library, is looked through: what it calls runs as it does below a Python root."""

import asyncio
import bisect
import contextvars
import copy
import functools
import heapq
import itertools
import math
import operator
import re

import pytest
from helpers.command_line import run

from cassette_import import HIGHER_ORDER, Context, canrecurse, overdub, recurse, reflect


def unary(x):
    return math.sin(x)


def binary(x, y):
    return math.hypot(x, y)


def of_match(match):
    return re.Match.group(match)


class Method:
    def unary(self, x):
        return unary(x)

    def binary(self, x, y):
        return binary(x, y)

    def of_match(self, match):
        return of_match(match)

    def nullary(self):
        return math.sin(0.5)


def nullary():
    return math.sin(0.5)


BUILTINS = {"unary": math.sin, "binary": math.hypot, "of_match": re.Match.group, "nullary": [1, 2].__len__}
CALLBACKS = {
    "function": lambda name: globals()[name],
    "builtin": BUILTINS.__getitem__,
    "method": lambda name: getattr(Method(), name),
    "partial": lambda name: functools.partial(globals()[name]),
    "partial object with a builtin": lambda name: functools.partial(BUILTINS[name]),
    "cached": lambda name: functools.lru_cache(globals()[name]),
}
XS = [0.5, 1.0, 2.5]


def by_key(*arguments):
    return lambda f: (arguments, {"key": f})


CALLS = {
    map: ("unary", lambda f: ((f, XS), {})),
    filter: ("unary", lambda f: ((f, XS), {})),
    iter: ("nullary", lambda f: ((f, -1.0), {})),
    functools.reduce: ("binary", lambda f: ((f, XS), {})),
    itertools.accumulate: ("binary", lambda f: ((XS, f), {})),
    itertools.dropwhile: ("unary", lambda f: ((f, XS), {})),
    itertools.filterfalse: ("unary", lambda f: ((f, XS), {})),
    itertools.groupby: ("unary", lambda f: ((XS, f), {})),
    itertools.starmap: ("binary", lambda f: ((f, [(2, 3)]), {})),
    itertools.takewhile: ("unary", lambda f: ((f, XS), {})),
    operator.call: ("unary", lambda f: ((f, 0.5), {})),
    re.sub: ("of_match", lambda f: (("a", f, "banana"), {})),
    re.subn: ("of_match", lambda f: (("a", f, "banana"), {})),
    re.Pattern.sub: ("of_match", lambda f: ((re.compile("a"), f, "banana"), {})),
    re.Pattern.subn: ("of_match", lambda f: ((re.compile("a"), f, "banana"), {})),
    contextvars.Context.run: ("unary", lambda f: ((contextvars.copy_context(), f, 0.5), {})),
    heapq.nlargest: ("unary", lambda f: ((2, XS, f), {})),
    heapq.nsmallest: ("unary", lambda f: ((2, XS, f), {})),
    heapq.merge: ("unary", by_key(XS, XS)),
    sorted: ("unary", by_key(XS)),
    min: ("unary", by_key(XS)),
    max: ("unary", by_key(XS)),
    list.sort: ("unary", lambda f: ((XS.copy(),), {"key": f})),
    bisect.bisect: ("unary", by_key(XS, 0.7)),
    bisect.bisect_left: ("unary", by_key(XS, 0.7)),
    bisect.bisect_right: ("unary", by_key(XS, 0.7)),
    bisect.insort: ("unary", lambda f: ((XS.copy(), 0.7), {"key": f})),
    bisect.insort_left: ("unary", lambda f: ((XS.copy(), 0.7), {"key": f})),
    bisect.insort_right: ("unary", lambda f: ((XS.copy(), 0.7), {"key": f})),
}
"""For each higher-order leaf, which callback it takes, and a call of it."""


class Recorded(Context):
    """Changes what the callbacks compute, and records their calls."""

    def __init__(self):
        self.calls = []


@Recorded.overdub.register(math.sin, math.hypot, re.Match.group, list.__len__)
def _(ctx, f, *arguments):
    ctx.calls.append((f, [str(argument) for argument in arguments]))
    if f is list.__len__:
        return -1.0 if len(ctx.calls) > 3 else 1.0
    return -1.0 if len(ctx.calls) > 3 and not isinstance(arguments[0], re.Match) else f(*arguments) * 2


def consumed(result):
    if isinstance(result, itertools.groupby):
        return [(key, list(group)) for key, group in result]
    return list(itertools.islice(result, 9)) if hasattr(result, "__next__") else result


def below_a_python_root(ctx, leaf, arguments, keywords):
    def root():
        if leaf is contextvars.Context.run:  # a copy of the variables that was made outside has no active context
            return leaf(contextvars.copy_context(), *arguments[1:])
        return consumed(leaf(*arguments, **keywords))

    return overdub(ctx, root)


def as_root(ctx, leaf, arguments, keywords):
    return consumed(overdub(ctx, leaf, *arguments, **keywords))


def as_root_of_recurse(ctx, leaf, arguments, keywords):
    return consumed(recurse(ctx, leaf, *arguments, **keywords))


def carried_by_a_partial_object(ctx, leaf, arguments, keywords):
    return consumed(overdub(ctx, functools.partial(leaf, *arguments, **keywords)))


def bound_where_it_is_a_method(ctx, leaf, arguments, keywords):
    if isinstance(leaf, type(list.sort)):
        leaf, *arguments = getattr(arguments[0], leaf.__name__), *arguments[1:]
    return as_root(ctx, leaf, arguments, keywords)


def in_a_block(ctx, leaf, arguments, keywords):
    with Context():
        return as_root(ctx, leaf, arguments, keywords)


WAYS = [as_root, as_root_of_recurse, carried_by_a_partial_object, bound_where_it_is_a_method, in_a_block]


def test_each_higher_order_leaf_has_a_call():
    assert set(map(id, CALLS)) == {id(leaf) for leaf in HIGHER_ORDER} - HIGHER_ORDER.keepers


@pytest.mark.parametrize("kind", CALLBACKS)
@pytest.mark.parametrize("leaf", CALLS, ids=lambda leaf: leaf.__qualname__)
def test_callbacks_of_a_root_in_c_run_as_below_a_python_root(leaf, kind):
    name, call = CALLS[leaf]

    def outcome(way):
        ctx = Recorded()
        return way(ctx, leaf, *call(CALLBACKS[kind](name))), ctx.calls

    expected = outcome(below_a_python_root)
    assert expected[1]
    assert {way.__name__: outcome(way) for way in WAYS} == {way.__name__: expected for way in WAYS}


class Doubled(Context):
    pass


Doubled.overdub.register(math.sin)(lambda ctx, f, x: 2 * f(x))
DOUBLED = 2 * math.sin(0.5)


def sines(xs, *, factor=1):
    for x in xs:
        yield factor * math.sin(x)


async def sine(x):
    return math.sin(x)


class Number:
    def __init__(self, value):
        self.value = math.sin(value)

    def __add__(self, other):
        return math.sin(0.5)

    def __iter__(self):
        yield math.sin(0.5)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(lambda run: run(sum, sines([0.5])), DOUBLED, id="generator"),
        pytest.param(lambda run: run(list, sines([0.5], factor=3)), [3 * DOUBLED], id="generator with a keyword"),
        pytest.param(lambda run: run(sum, (math.sin(x) for x in [0.5])), DOUBLED, id="generator expression"),
        pytest.param(
            lambda run: run(list, (x + y for x in [0] for y in [math.sin(0.5)] if y)), [DOUBLED], id="two loops"
        ),
        pytest.param(lambda run: run(list, (run and math.sin(x) for x in [0.5])), [DOUBLED], id="free variables"),
        pytest.param(lambda run: run(asyncio.run, sine(0.5)), DOUBLED, id="coroutine"),
        pytest.param(lambda run: run(list, Number(0)), [DOUBLED], id="iterable"),
        pytest.param(lambda run: run(sum, [Number(0)], Number(0)), DOUBLED, id="special method"),
        pytest.param(lambda run: next(run(map, Number, [0.5])).value, DOUBLED, id="class"),
        pytest.param(lambda run: run(operator.methodcaller("__add__", 1), Number(0)), DOUBLED, id="callable in C"),
        pytest.param(lambda run: run(sum, map(unary, [0.5])), DOUBLED, id="iterator that was made outside"),
        pytest.param(lambda run: [*map(list, run(itertools.tee, map(unary, [0.5])))], [[DOUBLED]] * 2, id="tee"),
        pytest.param(lambda run: list(copy.copy(run(map, unary, [0.5]))), [DOUBLED], id="copied iterator"),
    ],
)
@pytest.mark.parametrize("verb", [overdub, recurse])
def test_what_a_root_in_c_advances_or_calls_is_inside(call, expected, verb):
    assert call(functools.partial(verb, Doubled())) == expected


def test_an_overload_of_the_root_gives_an_iterator_that_runs_inside():
    class Own(Doubled):
        pass

    Own.overdub.register(map)(lambda ctx, f, *arguments: recurse(ctx, f, *arguments))
    assert list(overdub(Own(), map, unary, [0.5])) == [DOUBLED]


def test_an_iterator_of_a_root_passes_for_one_of_its_class():
    assert isinstance(overdub(Doubled(), map, unary, [0.5]), map)


def test_iterators_that_run_nothing_of_the_program_stay_as_they_are():
    assert type(overdub(Doubled(), iter, [1])) is type(iter([1]))


def test_an_iterator_that_is_an_argument_stays_as_it_is():
    items = map(unary, [0.5])
    assert overdub(Doubled(), iter, items) is items


@pytest.fixture
def run_file(tmp_path):
    def run_text(text):
        (tmp_path / "program.py").write_text(text)
        return run("program.py", folder=tmp_path).stdout.strip()

    return run_text


PLAIN_GENERATOR = """
import math, warnings
from cassette_import import Context, overdub

class Doubled(Context):
    pass

Doubled.overdub.register(math.sin)(lambda ctx, f, x: 2 * f(x))

def sines(xs):
    for x in xs:
        yield math.sin(x)
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("print(overdub(Doubled(), sum, sines([0.5])))", str(DOUBLED)),
        ("print(overdub(Doubled(), sum, (math.sin(x) for x in [0.5])))", str(DOUBLED)),
        ("print(overdub(Doubled(), lambda xs: sum(xs), (math.sin(x) for x in [0.5])))", str(DOUBLED)),
    ],
)
def test_generators_that_are_made_for_the_first_call_of_a_process_are_inside(statement, expected, run_file):
    assert run_file(PLAIN_GENERATOR + statement) == expected


def test_a_generator_that_is_kept_elsewhere_and_began_before_the_first_context_is_warned_of(run_file):
    assert "sines" in run_file(
        PLAIN_GENERATOR + "kept = sines([0.5])\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    overdub(Doubled(), sum, kept)\n"
        "print([str(item.message) for item in caught])"
    )


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ((map, unary, XS), True),
        ((operator.call, unary, 1.0), True),
        ((sum, sines(XS)), True),
        ((functools.lru_cache(unary), 1.0), True),
        ((functools.partial(map, unary), XS), True),
        ((map, math.sin, XS), False),
        ((len, [unary]), False),
        ((isinstance, unary, Number), False),
    ],
)
def test_canrecurse_looks_through_a_root_in_c(call, expected):
    assert canrecurse(Doubled(), *call) is expected


def test_canrecurse_finds_a_callback_given_by_keyword():
    assert canrecurse(Doubled(), sorted, XS, key=unary)


def test_reflect_looks_through_a_root_in_c():
    reflection = reflect(functools.reduce, binary, XS)
    assert reflection is not None
    assert reflection.function is binary
