"""Leaves that take the items of generators, or call functions, while nothing is tagged: the first value is tagged at
each possible step in the middle of such a call. The accelerator watches these calls; without it, rules take them.
"""

import importlib
import os
import random
from contextlib import contextmanager

import pytest

from cassette_import import NO_METADATA, Context, NotOverdubbable, install, metadata, tag, untag
from cassette_import.runtime.dispatch.accelerator import DISPATCH
from cassette_import.runtime.tagging.fast_path import HOW_LEAVES_ARE_WATCHED

HELPERS = '''
import functools
import itertools
import math
import operator
from collections import deque

LOG = []
MARK = lambda value: value


class Number:
    """An object whose special methods are steps, too."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        LOG.append("add")
        return MARK(Number(self.value + getattr(other, "value", other)))

    __radd__ = __add__

    def __lt__(self, other):
        LOG.append("lt")
        return MARK(self.value < getattr(other, "value", other))

    def __hash__(self):
        LOG.append("hash")
        MARK("hashed")
        return hash(self.value)

    def __eq__(self, other):
        return self.value == getattr(other, "value", other)

    def __repr__(self):
        return f"Number {self.value}"

    def __bool__(self):
        LOG.append("bool")
        return self.value % 3 > 0


def numbers(count, start=1000):
    for number in range(count):
        LOG.append(("number", number))
        yield MARK(start + number * 7)
    LOG.append("end")
    MARK("at the end")


def texts(count):
    for number in range(count):
        LOG.append(("text", number))
        yield MARK(f"text {number}")


def objects(count):
    for number in range(count):
        LOG.append(("object", number))
        yield MARK(Number(number * 5 % 7))


def pairs(count):
    for number in range(count):
        LOG.append(("pair", number))
        yield MARK(f"key {number % 3}"), MARK(2000 + number)


def nested(count):
    yield from numbers(count)
    yield from (MARK(number + 1) for number in numbers(2, 5000))


class Container:
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return numbers(self.count)


def plus(a, b):
    LOG.append("plus")
    return MARK(a + b)


def changed(value):
    LOG.append("changed")
    return MARK(value + value)


def chosen(value):
    LOG.append("chosen")
    return MARK(len(str(value)) % 2 == 0)


def rank(value):
    LOG.append("rank")
    return MARK(-len(repr(value)))


def looped(iterable):
    found = []
    for item in iterable:
        LOG.append("item")
        found.append(item)
    return found


def stepped(iterator, count):
    return [next(iterator, None) for _ in range(count)]


def extended(values, source):
    try:
        values.extend(source)
    except ValueError:
        LOG.append("stopped")
    return values
'''

SOURCES = (
    "numbers({n})", "objects({n})", "nested({n})", "(MARK(x) for x in numbers({n}))", "map(changed, {s})",
    "filter(chosen, {s})", "filter(None, {s})", "map(plus, {s}, {s})", "itertools.chain({s}, {s})",
    "itertools.islice({s}, 3)", "itertools.takewhile(chosen, {s})", "itertools.dropwhile(chosen, {s})",
    "Container({n})", "[1, 2, 3]", "range({n})", "map(changed, [4, 5, 6])", "(x * 2 for x in {s} if x)",
    "iter(numbers({n}))", "itertools.filterfalse(chosen, {s})", "(changed(x) + 1 for x in {s})",
)  # fmt: skip
TUPLES = (
    "zip({s}, {s})", "enumerate({s})", "zip({s})", "zip([1, 2, 3], {s}, strict=True)", "pairs({n})",
    "((x, y) for x, y in {t})", "enumerate({s}, 5)", "zip({s}, {t})", "zip(texts({n}), {s})",
)  # fmt: skip
ENDS = (
    "list({s})", "tuple({s})", "set({s})", "frozenset({s})", "deque({s})", "sum({s})", "sum({s}, 10)", "math.prod({s})",
    "sorted({s})", "sorted({s}, key=rank)", "sorted({s}, key=rank, reverse=True)", "looped({s})", "[*{s}]",
    "stepped(iter({s}), 3)", "functools.reduce(plus, {s}, 1)", "functools.reduce(plus, {s})", "min({s}, default=0)",
    "max({s}, key=rank, default=0)", "any({s})", "all({s})", "extended([1, 2], {s})", "math.fsum({s})",
    "list({t})", "tuple({t})", "dict({t})", "looped({t})", "sorted({t}, key=rank)", "dict(pairs({n}))",
    "', '.join(texts({n}))", "', '.join(map(str, {s}))", "[(b, a) for a, b in {t}]", "stepped({t}, 2)",
    "list(zip(*{t}))", "b'-'.join(x.to_bytes(2) for x in numbers({n}))", "extended([], {t})", "set({t})",
    "sorted([3, 1, 2], key=rank)", "list(map(rank, ['a', 'bb']))", "sum(x for x in {s})", "tuple(x for x, _ in {t})",
    "(lambda a, b: (a, b, list(a)))(iter({s}), 1)", "max({s}, {s}, key=lambda s: 1)",
)  # fmt: skip


def program(chance):
    """A random expression with leaves in one another."""

    def filled(template, depth):
        while "{" in template:
            template = template.replace("{n}", str(chance.randrange(5)), 1)
            if "{s}" in template:
                plain = SOURCES[:4] if depth > 2 else SOURCES
                template = template.replace("{s}", filled(chance.choice(plain), depth + 1), 1)
            if "{t}" in template:
                made = TUPLES[:3] if depth > 2 else TUPLES
                template = template.replace("{t}", filled(chance.choice(made), depth + 1), 1)
        return template

    made = filled(chance.choice(ENDS), 0)
    # The rule of `dict` takes all items before it hashes one.
    return program(chance) if "dict(" in made and "objects" in made else made


PROGRAMS = 40


class Marking(Context, tagging=True):
    pass


class Losing(Context, tagging=True):
    lost = "error"


class Computing(Context, tagging=True):
    def computed(self, value, f, *arguments, **keywords):
        return f"computed by {getattr(f, '__name__', f)} of {len(arguments)}"


class Comparing(Context, tagging=True):
    def compared(self, f):
        self.metadata.append(getattr(f, "__name__", str(f)))


def described(value, ctx, depth=0):
    """A value and its parts, with their metadata."""
    found = metadata(value, ctx)
    value = untag(value, ctx)
    kind = type(value).__name__
    mark = "" if found is NO_METADATA else f" <{found}>"
    if depth > 3:
        return kind
    if type(value) in (list, tuple, set, frozenset) or kind == "deque":
        parts = [described(part, ctx, depth + 1) for part in value]
        return kind + mark, sorted(parts, key=repr) if type(value) in (set, frozenset) else parts
    if type(value) is dict:
        return kind + mark, [(described(k, ctx, 9), described(v, ctx, depth + 1)) for k, v in value.items()]
    if kind == "Number":
        return f"Number {value.value}{mark}"
    return f"{value!r}{mark}" if kind in ("int", "str", "float", "bool", "NoneType", "bytes") else kind + mark


def outcome(module, run, make_context, first, also, failing):
    """What a run of a program gives whose values are tagged from the given step on."""
    ctx, count, log = make_context(), 0, []

    def mark(value):
        nonlocal count
        count += 1
        if count == failing:
            raise ValueError(f"step {count}")
        return tag(value, ctx, f"m{count}") if count == first or (count > first and count % 3 in also) else value

    module.LOG, module.MARK = log, mark
    try:
        with ctx:
            value = described(run(), ctx)
    except Exception as error:
        value = type(error).__name__, "" if isinstance(error, NotOverdubbable) else str(error)
    module.MARK = lambda value: value
    return value, log, count, ctx.metadata


@contextmanager
def unwatched():
    """Leaves are taken by their rules."""
    known = dict(HOW_LEAVES_ARE_WATCHED)
    HOW_LEAVES_ARE_WATCHED.clear()
    try:
        yield
    finally:
        HOW_LEAVES_ARE_WATCHED.update(known)


def ways_of(kind):
    """Two contexts that do the same, and know nothing of the callees of one another."""
    return type(kind.__name__, (kind,), {}), type(kind.__name__, (kind,), {})


@pytest.mark.skipif(bool(DISPATCH.reason), reason=f"the accelerator is not there: {DISPATCH.reason}")
@pytest.mark.parametrize("kind", [Marking, Losing, Computing, Comparing])
def test_the_first_value_may_be_tagged_at_any_step_of_a_watched_call(kind, make_package):
    chance = random.Random(f"{kind.__name__} {os.environ.get('CASSETTE_TEST_SEED', '1')}")
    expressions = [program(chance) for _ in range(PROGRAMS)]
    name = make_package(
        HELPERS + "".join(f"\ndef run_{n}():\n    return {text}\n" for n, text in enumerate(expressions))
    )
    install(name)
    module = importlib.import_module(name)
    watching, ruling = ways_of(kind)
    wrong = []
    for number, text in enumerate(expressions):
        run = getattr(module, f"run_{number}")
        _, _, steps, _ = outcome(module, run, lambda: watching([]), 0, (), 0)
        for first in range(1, min(steps, 12) + 2):
            also, failing = chance.choice([(), (0,), (0, 1, 2)]), chance.choice([0, 0, 0, first, first + 1])
            watched = outcome(module, run, lambda: watching([]), first, also, failing)
            with unwatched():
                expected = outcome(module, run, lambda: ruling([]), first, also, failing)
            sees_loss = watched[0][0] == "NotOverdubbable"  # a callback got a value whose metadata the rules would lose
            # Rules make the comparisons of items events. A leaf that runs already cannot: it notes that it compares.
            notes_more = watched[:3] == expected[:3] and set(expected[3]) <= set(watched[3])
            if not (sees_loss or notes_more):
                wrong.append((text, first, also, failing, watched, expected))
    assert not wrong, wrong[0]
