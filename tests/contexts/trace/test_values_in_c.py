"""Values and names of functions as the hooks of `trace` in C show them: as those in Python do."""

import abc
import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import gc
import math
import os
import pathlib
import random
import re
import sys
import types
import uuid
import weakref

import pytest
from helpers.accelerator import ways

from cassette_import.contexts.trace.bounded_repr import Shortener
from cassette_import.kits.calls.accelerator import ACCELERATOR
from cassette_import.kits.function_names import SYSTEM, display

WIDTHS = (8, 13, 20, 60, 200)


@pytest.fixture(autouse=True)
def in_c(monkeypatch):
    with ways("in C", monkeypatch):
        yield


def shown_both_ways(value, width=60, *, reprs=False):
    """A value as both show it; in C twice, as the second time its class is known."""
    show = Shortener(width, reprs=reprs)
    formatter = ACCELERATOR.Formatter(width, show, show.form, display, SYSTEM)
    first = formatter(value)
    assert formatter(value) == first
    by_parts = ACCELERATOR.Formatter(width, show, show.form, display, SYSTEM, show.part)
    assert [by_parts(value), by_parts(value)] == [first, first]
    return first, show(value)


class Plain:
    pass


class Named:
    def __init__(self, **attributes):
        vars(self).update(attributes)

    def __repr__(self):
        raise AssertionError


class Slots:
    __slots__ = ("first", "second", "third")

    def __init__(self, **attributes):
        for name, value in attributes.items():
            setattr(self, name, value)

    def __repr__(self):
        raise AssertionError


class Both(Slots):
    __slots__ = ("__dict__", "fourth")


class Meta(type):
    __name__ = "other name"


class OfMeta(metaclass=Meta):
    def __repr__(self):
        raise AssertionError


class Words(list):
    def __repr__(self):
        raise AssertionError


class Größe:
    def __repr__(self):
        raise AssertionError


class Items(list):
    pass


class Row(tuple):
    __slots__ = ()


class Table(dict):
    def items(self):
        raise AssertionError

    __iter__ = items


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Point:
    x: object
    y: object


@dataclasses.dataclass
class Hidden(Point):
    secret: object = dataclasses.field(default=1, repr=False)
    z: object = None
    counted: int = 0


@dataclasses.dataclass(slots=True)
class Slotted:
    first: object
    second: object = ()


@dataclasses.dataclass(slots=True)
class SlottedBelow(Slotted):
    third: object = None


@dataclasses.dataclass
class Unprintable(Point):
    größe: int = 1


@dataclasses.dataclass(repr=False)
class WithoutRepr(Point):
    pass


class Further(Point):
    pass


class Triple(collections.namedtuple("Triple", "left middle right")):
    pass


def made(kind, *arguments, without=(), **more):
    """An object that stores more or less than its class says."""
    value = kind(*arguments)
    for name in without:
        delattr(value, name)
    for name, item in more.items():
        setattr(value, name, item)
    return value


class Colour(enum.Enum):
    RED = 1


class Odd(enum.Enum):
    LONG = "x" * 100
    PAIR = (1, "a")
    NESTED = ((1, 2), 3)
    LIST = [1]
    OBJECT = Plain()
    TEXT = "é\n"
    ÉTÉ = 3
    NUMBER = 10**30


class Level(enum.IntEnum):
    LOW = 1


class Word(str, enum.Enum):
    A = "a"


class Ratio(float, enum.Enum):
    HALF = 0.5


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Bits(enum.IntFlag):
    ONE = 1
    TWO = 2


class OfOwnRepr(enum.Enum):
    A = 1

    def __repr__(self):
        return "own"


class OfOwnValue(enum.Enum):
    A = 1


OfOwnValue._value_ = property(lambda self: 7, lambda self, value: None)


class Abstract(metaclass=abc.ABCMeta):
    @abc.abstractmethod
    def name(self):
        pass


class Zone(datetime.tzinfo):
    def __repr__(self):
        return "zone"


class Cents(decimal.Decimal):
    pass


MEMBERS = [*Odd, *Level, *Word, *Ratio, *Access, Access.READ | Access.WRITE, Access(0), *Bits, Bits(0), Bits(8)]


class Failing:
    def __repr__(self):
        raise SystemExit


Many = dataclasses.make_dataclass("Many", [f"field{number}" for number in range(15)])
Most = dataclasses.make_dataclass("Most", [f"field{number}" for number in range(120)])

VALUES = [
    *(None, True, False, 0, -1, 7, 2**31, 2**63 - 1, -(2**63), 2**63, 10**15, 10**15 - 1, -(10**15), 10**100),
    *(0.0, -0.0, 1.5, 1e300, 1 / 3, math.inf, -math.inf, math.nan, 1 + 2j),
    *("", "a", "it's", 'say "no"', "both ' and \"", "back\\slash", "a\nb\tc\rd", "\x00\x1b\x7f", "é", "日本", "\ud800"),
    *("x" * 30, "x" * 31, "x" * 58, "x" * 59, "x" * 1000, "'" * 1000, "\n" * 1000, "x" * 500 + "\n" + "y" * 500),
    *(b"", b"a'b", b'"', b"'\"", bytes(range(256)), b"x" * 1000, bytearray(b"ab")),
    *([], [1], [1, "two", None], list(range(6)), list(range(7)), [[[[1]]]], [["x" * 100] * 10] * 10),
    *((), (1,), (1, 2), ((((1,),),),), tuple(range(9)), ("é",)),
    *(set(), {1}, frozenset(), frozenset({"a"}), {(1, 2)}, set(range(9))),
    *({}, {"a": 1}, {1: "a", (1,): [2]}, {str(n): n for n in range(9)}, {"a": {"b": {"c": {"d": 1}}}}),
    *(
        Plain(),
        Named(),
        Named(a=1),
        Named(a=1, b="x", c=[1], d=4),
        Named(a=Named(b=1), b=Plain(), c={}, d=()),
        OfMeta(),
    ),
    *(Slots(), Slots(first=1), Slots(third="x" * 100, second=Named(a=1)), Both(fourth=1, more=2, second=3, other=4)),
    *(
        Named(größe=1),
        Größe(),
        Words("abc"),
        Pair(1, "b"),
        Point(1, [2]),
        Named(a=Point(1, 2), b=Pair(1, 2)),
        Hidden(1, "x"),
        Slotted(1),
        SlottedBelow(Point(1, Point(2, Point(3, 4))), "x" * 100),
        Unprintable(1, 2),
        WithoutRepr(1, 2),
        Further(Further(1, 2), None),
        Triple(1, (2, Pair(3, [4])), "é"),
        tuple.__new__(Triple, [1]),
        tuple.__new__(Triple, [1, 2, 3, 4]),
        made(Point, 1, 2, without=["x"]),
        made(Point, 1, 2, without=["x", "y"]),
        made(Hidden, 1, 2, counted=3, later=4, without=["y"]),
        made(Slotted, 1, without=["first"]),
        made(Point, 1, 2, **{f"more{number}": number for number in range(120)}),
        Many(*range(15)),
        Most(*range(120)),
        [Point(number, {"a": Point(1, 2)}) for number in range(9)],
        {"a": [Slotted(Pair(1, 2))], Pair(1, 2): Hidden(1, 2)},
        [[[Point(1, 2)]]],
        [Colour.RED, {Colour.RED: [Colour.RED, "é"]}, {1, Colour.RED}],
        Point(Colour.RED, [datetime.date(2020, 1, 2), 10**100]),
        Named(a=Colour.RED, b=[Colour.RED]),
        [Failing(), Colour.RED, [Failing()]],
        [[Point([1], (2,))]],
        Named(text="x" * 200, more="é"),
    ),
    *(int, Plain, OfMeta, len, shown_both_ways, range(3), range(10**30), [].append, Plain().__init__, Slots.first),
    *(
        Items(),
        Items([1, Items("ab")]),
        Items(range(9)),
        Row(),
        Row([1]),
        Row("abc"),
        Table(),
        Table(a=Items([1]), b=Row()),
    ),
    *(functools.partial(int, Named(a=1)), types.SimpleNamespace(a=1), collections.deque([1]), ValueError("a", 1)),
    *(
        collections.defaultdict(list),
        collections.OrderedDict(a=1),
        collections.Counter("aab"),
        Ellipsis,
        NotImplemented,
    ),
    *MEMBERS,
    *(OfOwnRepr.A, OfOwnValue.A, Abstract, Colour, Level, re.IGNORECASE, [Odd.PAIR, {Level.LOW: Bits.ONE}]),
    *(datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc)),
    *(datetime.datetime(2020, 1, 2, tzinfo=Zone()), datetime.time(1, 2), datetime.time(1, 2, tzinfo=Zone())),
    *(datetime.timedelta(3), datetime.timezone.utc, decimal.Decimal("1.50"), Cents(1), fractions.Fraction(1, 3)),
    *(pathlib.PurePosixPath("a/b"), uuid.UUID(int=1), asyncio.Future.done, Level.LOW.bit_length, enum, "".join),
    *(
        datetime.date(2020, 1, 2),
        re.compile("a"),
        sys,
        iter([]),
        (x for x in ""),
        object(),
        memoryview(b"a"),
        {}.keys(),
    ),
]


@pytest.mark.parametrize("width", WIDTHS)
def test_values_are_shown_as_in_python(width):
    for value in VALUES:
        in_c, in_python = shown_both_ways(value, width)
        assert in_c == in_python
        in_c, in_python = shown_both_ways([value, {"k": value}, (value,)], width)
        assert in_c == in_python


def test_values_are_shown_as_in_python_if_reprs_of_the_program_are_called():
    class Loud:
        def __repr__(self):
            return "loud"

    for value in (Loud(), [Loud()], Plain(), Words("a").__init__, Point(1, Loud())):
        in_c, in_python = shown_both_ways(value, reprs=True)
        assert in_c == in_python


def random_value(numbers, levels):
    kind = numbers.randrange(12 if levels else 7)
    if kind < 3:
        return numbers.choice(VALUES)
    if kind < 5:
        return "".join(numbers.choice("ab'\"\\\n\x7f é") for _ in range(numbers.choice((1, 5, 29, 31, 70, 130))))
    if kind < 7:
        return numbers.choice((numbers.random() * 10 ** numbers.randrange(-9, 9), numbers.randrange(-(10**18), 10**18)))
    items = [random_value(numbers, levels - 1) for _ in range(numbers.randrange(9))]
    if kind == 7:
        return items
    if kind == 8:
        return tuple(items)
    if kind == 9:
        return {numbers.choice((number, str(number), (number,))): item for number, item in enumerate(items)}
    if kind == 10:
        return Named(**{f"name{number}": item for number, item in enumerate(items)})
    return Slots(**dict(zip(Slots.__slots__, items, strict=False)))


@pytest.mark.parametrize("width", WIDTHS)
def test_random_values_are_shown_as_in_python(width):
    numbers = random.Random(width)
    show = Shortener(width)
    formatter = ACCELERATOR.Formatter(width, show, show.form, display, SYSTEM)
    for _ in range(1500):
        value = random_value(numbers, 4)
        assert formatter(value) == show(value)


def formatter_that_is_left_nothing(width=60):
    """A formatter that fails where a value is left to Python."""
    return ACCELERATOR.Formatter(width, None, Shortener(width).form, display, SYSTEM)


def test_members_of_enumerations_and_values_of_c_types_are_shown_in_c():
    shown = formatter_that_is_left_nothing()
    assert shown([Colour.RED, Level.LOW]) == "[<Colour.RED: 1>, <Level.LOW: 1>]"
    assert shown((Word.A, Ratio.HALF)) == "(<Word.A: 'a'>, <Ratio.HALF: 0.5>)"
    assert shown(Access.READ) == "<Access.READ: 1>"
    assert shown(Odd.PAIR) == "<Odd.PAIR: (1, 'a')>"
    assert shown([datetime.date(2020, 1, 2), decimal.Decimal("1.5"), datetime.datetime(2020, 1, 2)]) == (
        "[datetime.date(2020, 1, 2), Decimal('1.5'), datetime.datetime(2020, 1, 2, 0, 0)]"
    )
    assert shown([1j, Abstract]) == f"[1j, <class '{__name__}.Abstract'>]"


def test_an_enumeration_that_changes_is_shown_as_it_is_then():
    class Changing(enum.Enum):
        A = 1

    show = Shortener(60)
    formatter = ACCELERATOR.Formatter(60, show, show.form, display, SYSTEM)
    assert formatter(Changing.A) == show(Changing.A) == "<Changing.A: 1>"
    Changing.A._value_ = 2
    assert formatter(Changing.A) == show(Changing.A) == "<Changing.A: 2>"
    Changing.A._name_ = "B"
    assert formatter(Changing.A) == show(Changing.A) == "<Changing.B: 2>"
    Changing._value_repr_ = hex
    assert formatter(Changing.A) == show(Changing.A) == "<Changing.B: 0x2>"
    Changing.__name__ = "Renamed"
    assert formatter(Changing.A) == show(Changing.A) == "<Renamed.B: 0x2>"
    Changing.__repr__ = lambda self: "own"
    assert formatter(Changing.A) == show(Changing.A)


def test_a_member_is_shown_without_its_text_while_its_module_is_imported(monkeypatch):
    class Early(enum.Enum):
        A = 1

    module = types.ModuleType("being_imported")
    module.__spec__ = types.SimpleNamespace(_initializing=True)
    monkeypatch.setitem(sys.modules, "being_imported", module)
    Early.__module__ = "being_imported"
    show = Shortener(60)
    formatter = ACCELERATOR.Formatter(60, show, show.form, display, SYSTEM)
    assert formatter(Early.A) == show(Early.A) == f"<Early instance at {id(Early.A):#x}>"
    module.__spec__._initializing = False
    assert formatter(Early.A) == show(Early.A) == "<Early.A: 1>"


@pytest.mark.parametrize("change", ["hide", "show", "rename", "remove", "add", "replace", "kind"])
def test_fields_of_a_dataclass_that_are_changed_in_place_are_shown_as_they_are_then(change):
    made = dataclasses.make_dataclass("Made", ["first", "second", ("third", int, dataclasses.field(repr=False))])
    show = Shortener(60)
    formatter = ACCELERATOR.Formatter(60, show, show.form, display, SYSTEM)
    value, fields = made(1, 2, 3), made.__dataclass_fields__
    assert formatter(value) == show(value) == "Made(first=1, second=2)"
    if change == "hide":
        fields["first"].repr = False
    elif change == "show":
        fields["third"].repr = True
    elif change == "rename":
        fields["first"].name = "third"
    elif change == "remove":
        del fields["second"]
    elif change == "add":
        fields["fourth"] = fields["first"]
    elif change == "replace":
        fields["first"] = fields["third"]
    else:
        fields["first"]._field_type = fields["first"].__class__
    assert formatter(value) == show(value) != "Made(first=1, second=2)"
    assert formatter([value]) == show([value])


def test_a_class_that_changes_is_shown_as_it_is_then():
    class Changing:
        pass

    show = Shortener(60)
    formatter = ACCELERATOR.Formatter(60, show, show.form, display, SYSTEM)
    value = Changing()

    def own_repr(self):
        raise AssertionError

    assert formatter(value) == show(value)
    Changing.__repr__ = own_repr
    value.size = 1
    assert formatter(value) == show(value)
    Changing.__qualname__ = "Qualified"
    assert formatter(value) == show(value) == "<Qualified size=1>"
    del value.size
    Changing.__name__ = "Renamed"
    assert formatter(value) == show(value) == f"<Renamed instance at {id(value):#x}>"
    del Changing.__repr__
    Changing.__module__ = "elsewhere"
    assert formatter(value) == show(value) == f"<elsewhere.Qualified object at {id(value):#x}>"
    Changing.__qualname__ = "Again"
    assert formatter(value) == show(value)


def test_names_of_functions_are_those_of_python():
    class Called:
        def __call__(self):
            return 1

        def method(self):
            return 1

    def renamed():
        return 1

    renamed.__qualname__ = "other"
    functions = [len, math.sin, list.append, dict.fromkeys, int, Called, Called(), Called.method, renamed, os.getpid]
    functions += [
        object.__repr__,
        Called().method,
        functools.lru_cache(renamed),
        lambda: 1,
        "".join,
        re.compile("").sub,
    ]
    formatter = ACCELERATOR.Formatter(60, repr, lambda value: None, display, SYSTEM)
    for _ in range(2):
        assert [formatter.name(function) for function in functions] == [display(function) for function in functions]


def test_no_class_or_value_is_kept_alive():
    show = Shortener(60)
    formatter = ACCELERATOR.Formatter(60, show, show.form, display, SYSTEM)

    class Gone(Slots):
        __slots__ = ("__weakref__", "more")

    value = Gone(first=1)
    formatter(value)
    formatter.name(Gone)
    gone = weakref.ref(Gone)
    del value, Gone
    gc.collect()
    assert gone() is None


def test_an_exception_of_what_shows_a_value_goes_on():
    def interrupted(value):
        raise KeyboardInterrupt

    formatter = ACCELERATOR.Formatter(60, interrupted, lambda value: None, interrupted, SYSTEM)
    with pytest.raises(KeyboardInterrupt):
        formatter("é")
    with pytest.raises(KeyboardInterrupt):
        formatter.name(len)


@pytest.mark.parametrize("wrong", [3, ("a",), ("a", None, None, (1,)), (1, None, None, ())])
def test_a_form_that_is_none_is_an_error(wrong):
    formatter = ACCELERATOR.Formatter(60, repr, lambda value: wrong, display, SYSTEM)
    with pytest.raises(TypeError):
        formatter(Plain())


def test_parts_that_are_left_to_python_are_shown_by_it_alone():
    show = Shortener(60)
    parts = []

    def part(value, levels):
        parts.append((value, levels))
        return show.part(value, levels)

    def whole(value):
        raise AssertionError

    formatter = ACCELERATOR.Formatter(60, whole, show.form, display, SYSTEM, part)
    third = fractions.Fraction(1, 3)
    value = [Point(third, "x"), 1, (third,)]
    assert formatter(value) == show(value) == "[Point(x=Fraction(1, 3), y='x'), 1, (Fraction(1, 3),)]"
    assert parts == [(third, 1), (third, 1)]


def test_a_value_is_left_to_python_once_if_a_part_cannot_be_shown():
    show = Shortener(60)
    calls = []
    formatter = ACCELERATOR.Formatter(
        60,
        lambda value: calls.append("whole") or show(value),
        show.form,
        display,
        SYSTEM,
        lambda value, levels: calls.append("part") or show.part(value, levels),
    )
    value = [[["é"]], ["é"]]
    assert formatter(value) == show(value)
    assert calls == ["part", "whole"]


ASKED = []


class Asked(type):
    def __getattribute__(cls, name):
        ASKED.append(name)
        return super().__getattribute__(name)


class AskedAtLast(type):
    def __getattr__(cls, name):
        ASKED.append(name)
        raise AttributeError(name)


@pytest.mark.parametrize("metaclass", [Asked, AskedAtLast])
def test_the_form_of_a_class_runs_no_code_of_its_metaclass(metaclass):
    value = dataclasses.make_dataclass("Made", ["first"], namespace={}, bases=(metaclass("Base", (), {}),))(1)
    in_c, in_python = shown_both_ways(value)
    assert in_c == in_python
    ASKED.clear()
    assert Shortener(60).form(value) is None
    assert ASKED == []
