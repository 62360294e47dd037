"""Quick rules of frequent primitives: they move the metadata that the rules move, with the results of plain Python."""

import collections
import gc
import operator
import sys
import types
import weakref

import pytest
from helpers.counted_metadata import count_anew

from cassette_import import NO_METADATA, Context, metadata, overdub, tag
from cassette_import.contexts.autodiff import derivative
from cassette_import.rewriting.symbols import METADATA_EXISTS
from cassette_import.runtime.names import FLAGS
from cassette_import.runtime.tagging.quick_rules import QUICK_RULES

THIS_MODULE = sys.modules[__name__]
CONSTANT = 1.25


class Plain:
    of_class = 2.5

    def __init__(self, value):
        self.value = value
        self.other = 7.0

    def method(self):
        return self.value

    @property
    def computed(self):
        return self.value


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Missing:
    def __init__(self, value):
        self.kept = value

    def __getattr__(self, name):
        return self.kept


class Intercepted:
    def __init__(self, value):
        object.__setattr__(self, "hidden", value)

    def __getattribute__(self, name):
        return object.__getattribute__(self, "hidden")

    def __setattr__(self, name, value):
        object.__setattr__(self, "hidden", value)


class Descriptor:
    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, instance, owner=None):
        return instance.__dict__[self.name]

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value


class Described:
    value = Descriptor()

    def __init__(self, value):
        self.value = value


class OwnList(list):
    pass


class OwnItems:
    def __init__(self, value):
        self.value = value

    def __getitem__(self, key):
        return self.value


Point = collections.namedtuple("Point", "x y")


def changed_by_leaf(value):
    items = [value, 1.0]
    items.reverse()
    return items[1], items[0], items[-1]


def replaced_by_leaf(value):
    items = [value, 1.0]
    operator.setitem(items, slice(0, 1), [3.0])
    return items[0]


def replaced_attribute(value):
    made = Plain(value)
    made.__dict__["value"] = 3.0
    return made.value


def overwritten_attribute(value):
    made = Plain(value)
    made.value = 3.0
    return made.value


def shared_namespace(value):
    made = Plain(1.0)
    namespace = made.__dict__
    made.value = value
    return namespace["value"]


def assigned_to_namespace(value):
    made = Plain(1.0)
    namespace = made.__dict__
    namespace["value"] = value
    return made.value


def of_class(value):
    class Local:
        shared = value

    return Local().shared, Local.shared


def global_name(value):
    global CONSTANT
    CONSTANT = value
    try:
        return CONSTANT, 0.0
    finally:
        CONSTANT = 1.25


def unpacked(value):
    first, second = value, 2.0
    (first, second), third = (second, first), 1.0
    [one, two] = [second, first]
    return one, two, third


def looped(value):
    items, found = [1.0, value, value], []
    for item in items:
        items[2] = 2.0
        found.append(item)
    for item in (value, 3.0):
        found.append(item)
    for item in range(2):
        found.append(item)
    return found


def displayed(value):
    return [value, 1.0], (1.0, value), [], ()


def compared(value):
    return value < 2.0, value >= 2.0, value == 1.5, 2.0 > value, 1.0 < 2.0 < value


def negative_indices(value):
    return [0.0, value, 2.0][-2], (value, 1.0)[-2], [value][0], (1.0, value)[1]


PROGRAMS = {
    "an attribute": (lambda value: Plain(value).value, True),
    "another attribute": (lambda value: Plain(value).other, False),
    "an attribute of a class": (lambda value: Plain(value).of_class, False),
    "a method": (lambda value: Plain(value).method(), True),
    "a property": (lambda value: Plain(value).computed, True),
    "a slot": (lambda value: Slotted(value).value, True),
    "__getattr__": (lambda value: Missing(value).value, True),
    "__getattribute__": (lambda value: Intercepted(value).value, True),
    "a descriptor": (lambda value: Described(value).value, True),
    "a named tuple": (lambda value: Point(1.0, value).y, True),
    "a namespace": (lambda value: types.SimpleNamespace(a=value).a, True),
    "a function": (lambda value: setattr(changed_by_leaf, "mark", value) or changed_by_leaf.mark, True),
    "an item": (lambda value: [1.0, value][1], True),
    "another item": (lambda value: [1.0, value][0], False),
    "an item of a tuple": (lambda value: (1.0, value)[-1], True),
    "an item of a dict": (lambda value: {"a": value}["a"], True),
    "an item by number": (lambda value: {3: value}[3], True),
    "an item of a subclass": (lambda value: OwnList([value])[0], True),
    "a default": (lambda value: collections.defaultdict(lambda: value)["a"], True),
    "__getitem__": (lambda value: OwnItems(value)[3], True),
    "a list that was replaced": (replaced_by_leaf, False),
    "an attribute that was replaced": (replaced_attribute, False),
    "an attribute that was overwritten": (overwritten_attribute, False),
    "a shared namespace": (shared_namespace, True),
    "a namespace that was changed": (assigned_to_namespace, True),
}


def contexts():
    class Following(Context, tagging=True):
        """A context type of its own for each program, so its direct events are made anew."""

    class Recognising(Context, tagging=True):
        recognised_types = (float,)

    return Following, Recognising


@pytest.mark.parametrize("name", PROGRAMS)
def test_metadata_is_moved_by(name):
    program, is_tagged = PROGRAMS[name]
    for kind in contexts():
        ctx = kind()
        value = float("1.5")
        result = overdub(ctx, program, tag(value, ctx, "here"))
        assert result == program(1.5)
        assert metadata(result, ctx) == ("here" if is_tagged else NO_METADATA)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (changed_by_leaf, [True, False, True]),
        (of_class, [True, True]),
        (global_name, [True, False]),
        (unpacked, [True, False, False]),
        (looped, [False, True, False, True, False, False, False]),
        (lambda value: displayed(value)[0], [True, False]),
        (lambda value: displayed(value)[1], [False, True]),
        (compared, [False] * 5),
        (negative_indices, [True] * 4),
    ],
)
def test_each_part_has_its_own_metadata(program, expected):
    for kind in contexts():
        ctx = kind()
        seen = []

        def note(*parts, ctx=ctx, seen=seen, program=program):
            result = program(*parts)
            for number in range(len(result)):
                seen.append(metadata(result[number], ctx) == "here")
            return result

        result = overdub(ctx, note, tag(float("1.5"), ctx, "here"))
        assert result == program(1.5)
        assert seen == expected


@pytest.mark.parametrize(
    "wrong",
    [
        lambda value: Plain(value).nothing,
        lambda value: Slotted(value).nothing,
        lambda value: Slotted(value).__setattr__("nothing", value),
        lambda value: setattr(Slotted(value), "nothing", value),
        lambda value: [value][1],
        lambda value: {"a": value}["b"],
        lambda value: nowhere,  # noqa: F821
        lambda value: value < "text",
        lambda value: 1.0 + "text",
        lambda value: THIS_MODULE.nothing,
    ],
)
def test_errors_are_those_of_plain_python(wrong):
    with pytest.raises(Exception) as plain:
        wrong(1.5)
    ctx = contexts()[0]()
    with pytest.raises(type(plain.value)) as found:
        overdub(ctx, wrong, tag(1.5, ctx, "here"))
    assert str(found.value) == str(plain.value)


@pytest.mark.parametrize("sequence", [(1.0, 2.0, 3.0), [1.0], (), {1: 2}, "ab"])
def test_unpacking_a_wrong_number_of_items_raises_the_error_of_plain_python(sequence):
    def program(value, sequence):
        first, second = sequence
        return first, second

    ctx = contexts()[0]()
    if len(sequence) == 2:
        assert overdub(ctx, program, tag(1.5, ctx, "here"), sequence) == program(1.5, sequence)
        return
    with pytest.raises((ValueError, TypeError)) as plain:
        program(1.5, sequence)
    with pytest.raises(plain.type) as found:
        overdub(ctx, program, tag(1.5, ctx, "here"), sequence)
    assert str(found.value) == str(plain.value)


def test_an_attribute_that_a_context_watches_is_loaded_by_its_method():
    class Watching(Context, tagging=True):
        watched = frozenset({"value"})

        def loaded(self, value, owner, name):
            return tag(value, self, f"loaded as {name}")

    ctx = Watching()
    assert metadata(overdub(ctx, lambda made, _: made.value, Plain(1.5), tag(2.5, ctx)), ctx) == "loaded as value"


def test_lists_that_only_the_store_holds_are_freed():
    def program(value):
        items = [value, Plain(1.0)]
        reference = weakref.ref(items[1])
        items = None
        made = Plain(value)
        return made.value, reference()

    ctx = contexts()[0]()
    assert overdub(ctx, program, tag(1.5, ctx, "here")) == (1.5, None)


def test_the_usual_primitives_have_quick_rules():
    for function in (getattr, setattr, operator.getitem, operator.lt, operator.add, operator.neg):
        assert id(function) in QUICK_RULES


def test_code_is_plain_again_after_quick_rules_and_quick_forms_have_run(monkeypatch):
    def program(value):
        return Plain(value).value * 2.0 + [value][0]

    count_anew(monkeypatch)
    assert derivative(program, 1.5) == 3.0
    gc.collect()
    with contexts()[0]():
        assert not FLAGS[METADATA_EXISTS]
