"""Values as short text: bounded for every value, and never failing."""

import collections
import dataclasses
import datetime
import enum
import fractions
import functools
import http
import pathlib
import re
import time
import types

import pytest

from cassette_import.contexts.trace import bounded_repr
from cassette_import.contexts.trace.bounded_repr import Secrets, Shortener

Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Point:
    x: object
    y: object = dataclasses.field(repr=False)


class OwnPair(Pair):
    def __repr__(self):
        return "mine"


class Items(list):
    pass


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "'text'"),
        ("", "''"),
        ([], "[]"),
        ((), "()"),
        ((1,), "(1,)"),
        (set(), "set()"),
        ({1}, "{1}"),
        (frozenset({1}), "frozenset({1})"),
        ({}, "{}"),
        ({"a": [1]}, "{'a': [1]}"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, ...]"),
        ([[[[1]]]], "[[[[...]]]]"),
        (Items([1]), "[1]"),
        (collections.defaultdict(None, {1: 2}), "defaultdict(None, {1: 2})"),
        (collections.OrderedDict({1: 2}), "OrderedDict({1: 2})"),
        (collections.Counter("aab"), "Counter({'a': 2, 'b': 1})"),
        (collections.deque([1]), "deque([1])"),
        (Pair(1, "two"), "Pair(left=1, right='two')"),
        (OwnPair(1, 2), "<OwnPair (1, 2)>"),
        (Point([1], 2), "Point(x=[1])"),
        (ValueError("no", 3), "ValueError('no', 3)"),
        (Colour.RED, "<Colour.RED: 1>"),
        (len, "<built-in function len>"),
        (int, "<class 'int'>"),
        (None, "None"),
        (1.5, "1.5"),
        ("line\nline", r"'line\nline'"),
    ],
)
def test_built_in_values_are_shown_as_by_repr(value, text):
    assert Shortener(60)(value) == text


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10**7,
        b"x" * 10**7,
        bytearray(10**7),
        10**5000,
        10**9_999,
        range(10**9),
        Point("x" * 10**7, 1),
        Pair("x" * 10**7, Point("y" * 10**7, 1)),
        ValueError("x" * 10**7),
        [[["x" * 100] * 100] * 10] * 10,
        {str(number): "x" * 100 for number in range(100)},
        types.SimpleNamespace(text="x" * 10**5),
        memoryview(b"x" * 10**7),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_value_becomes_long_text(value):
    assert len(Shortener(40)(value)) <= 8 * 40


def test_a_container_that_contains_itself_is_cut():
    value = [1]
    value.append(value)
    table = {}
    table["self"] = table
    assert Shortener(60)(value) == "[1, [1, [1, [...]]]]"
    assert Shortener(60)(table) == "{'self': {'self': {'self': {...}}}}"


def test_a_slow_repr_is_called_once(monkeypatch):
    calls = []

    class Slow:
        def __repr__(self):
            calls.append(self)
            time.sleep(0.002)
            return "slow"

    monkeypatch.setattr(bounded_repr, "_PATIENCE", 0.001)
    show = Shortener(60, reprs=True)
    assert show(Slow()) == "slow"
    assert show(Slow()).startswith("<Slow instance at 0x")
    assert len(calls) == 1


@pytest.mark.parametrize("error", [ValueError, RecursionError, MemoryError, SystemExit])
def test_a_class_that_cannot_be_shown_is_named(error):
    class Broken:
        def __repr__(self):
            raise error

    assert Shortener(60, reprs=True)([Broken()]).startswith("[<Broken instance at 0x")


class NoCode:
    """None of its code may run."""

    __slots__ = ("__dict__", "name")

    def __init__(self, name, **more):
        self.name = name
        vars(self).update(more)

    def __repr__(self):
        raise AssertionError

    __getattr__ = __repr__

    @property
    def size(self):
        raise AssertionError

    @property
    def __class__(self):
        raise AssertionError


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: NoCode("a"), "<NoCode name='a'>"),
        (lambda: NoCode("a", size=3, other=[1]), "<NoCode name='a' size=3 other=[...]>"),
        (
            lambda: NoCode(NoCode("inner"), b=1, c=2, d=3),
            "<NoCode name=<NoCode instance at 0x…> b=1 c=2>",
        ),
        (lambda: [NoCode("a"), {"b": NoCode("c")}], "[<NoCode name='a'>, {'b': <NoCode name='c'>}]"),
        (lambda: Point(NoCode("a"), 1), "Point(x=<NoCode name='a'>)"),
        (lambda: functools.partial(int, NoCode("a")), "<partial func=<class 'int'> args=(...,) keywords={}>"),
        (lambda: types.SimpleNamespace(a=NoCode("a")), "<SimpleNamespace a=<NoCode instance at 0x…>>"),
        (lambda: NoCode("a").__init__, "<method instance at 0x…>"),
        (lambda: {"a": NoCode("a")}.values(), "<dict_values instance at 0x…>"),
        (lambda: collections.UserList([NoCode("a")]), "<UserList data=[...]>"),
        (lambda: fractions.Fraction(1, 2), "Fraction(1, 2)"),
        (lambda: pathlib.PurePosixPath("/a"), "PurePosixPath('/a')"),
        (lambda: datetime.date(2020, 1, 2), "datetime.date(2020, 1, 2)"),
        (lambda: http.HTTPStatus.OK, "<HTTPStatus.OK: 200>"),
    ],
)
def test_showing_a_value_runs_no_code_of_the_program(make, text):
    assert re.sub(r"0x[0-9a-f]+", "0x…", Shortener(60)(make())) == text


def test_attributes_with_the_name_of_a_secret_are_masked():
    assert Shortener(60, Secrets("*password*"))(NoCode("a", password="b")) == "<NoCode name='a' password=***>"


def test_an_attribute_that_cannot_be_read_does_not_matter():
    point = Point(1, 2)
    del point.x
    assert Shortener(60)(point) == "Point()"
    assert Shortener(60, reprs=True)(point).startswith("<Point instance at 0x")


def test_an_interrupt_is_not_swallowed():
    class Interrupting:
        def __repr__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Shortener(60, reprs=True)(Interrupting())


def test_a_secret_is_masked_by_its_name_and_wherever_its_value_appears_later():
    secrets = Secrets("*password*")
    show = Shortener(60, secrets)
    assert show("open sesame") == "'open sesame'"
    assert show({"Password": "open sesame", "user": "ali"}) == "{'Password': ***, 'user': 'ali'}"
    assert show("say open sesame twice") == "'***'"
    assert show(["x", "open sesame"]) == "['x', '***']"
    assert show(b"open sesame") == "'***'"
    assert show(ValueError("wrong: open sesame")) == "ValueError('***')"


def test_without_patterns_nothing_is_masked():
    assert Shortener(60, Secrets(""))({"password": "x"}) == "{'password': 'x'}"


def test_a_short_secret_is_masked_by_its_name_only():
    secrets = Secrets("pin")
    show = Shortener(60, secrets)
    assert show({"pin": "1"}) == "{'pin': ***}"
    assert show("1 of 10") == "'1 of 10'"


@pytest.mark.parametrize("patterns", ["pass*+tok*", "pass*|tok*"])
def test_patterns_are_separated_as_those_of_other_contexts_or_as_alternatives(patterns):
    secrets = Secrets(patterns)
    assert [secrets.is_name(name) for name in ("password", "token", "name")] == [True, True, False]
