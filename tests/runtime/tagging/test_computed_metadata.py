"""The method `computed`: the metadata of values that leaves compute."""

import gc

import pytest
from programs.tagging import computing

from cassette_import import (
    NO_METADATA,
    Context,
    Tagged,
    allmetadata,
    callsite,
    hasmetadata,
    install,
    metadata,
    overdub,
    tag,
    untag,
)


class Flowing(Context, tagging=True):
    """A computed value has all metadata of the arguments."""

    def computed(self, value, f, *arguments, **keywords):
        return " ".join(sorted(set(allmetadata(self, *arguments, *keywords.values()))))


@pytest.fixture(scope="module", autouse=True)
def installed():
    with install([computing.__name__]):
        yield


def found(program, value):
    """Name, value and metadata of each value that a program yields."""
    ctx = Flowing()

    def run(x):
        return [(name, untag(made, ctx), metadata(made, ctx)) for name, made in program(x)]

    return overdub(ctx, run, tag(value, ctx, "source")), list(program(value))


@pytest.mark.parametrize(
    ("program", "value", "expected"),
    [
        (computing.of_text, "abc", "source"),
        (computing.of_number, 2.5, "source"),
        (computing.without, "abc", NO_METADATA),
    ],
    ids=["text", "number", "without"],
)
def test_a_computed_value_has_the_metadata_that_computed_returns(program, value, expected):
    tagged, plain = found(program, value)
    assert [(name, made) for name, made, _ in tagged] == plain
    assert {name: metadata for name, _, metadata in tagged if metadata != expected} == {}


def test_metadata_of_all_arguments_is_passed_to_computed():
    ctx = Flowing()
    joined = overdub(ctx, lambda a, b: "-".join([a, "x", b]), tag("1", ctx, "one"), tag("2", ctx, "two"))
    assert joined == "1-x-2"
    assert metadata(joined, ctx) == "one two"


def test_parts_of_a_computed_container_have_metadata_too():
    ctx = Flowing()
    parts = overdub(ctx, lambda s: s.split(), tag("a b", ctx, "source"))
    assert metadata(parts, ctx) == "source"
    assert allmetadata(ctx, untag(parts, ctx)) == ["source", "source"]


def test_an_exception_of_computed_is_raised_where_the_value_is_computed():
    class Refusing(Context, tagging=True):
        def computed(self, value, f, *arguments, **keywords):
            raise LookupError(f"{f.__name__} in {callsite().function}: {callsite().source}")

    def program(x):
        try:
            return x.hex()
        except LookupError as error:
            return str(error)

    ctx = Refusing()
    assert overdub(ctx, program, tag(2.0, ctx, 1)).endswith("program: x.hex()")


def test_without_the_method_a_computed_value_has_no_metadata():
    class Moving(Context, tagging=True):
        pass

    ctx = Moving()
    names = overdub(
        ctx, lambda s: [name for name, made in computing.of_text(s) if hasmetadata(made, ctx)], tag("abc", ctx)
    )
    assert names == []


def test_overloads_get_the_receiver_of_a_method_wrapped():
    seen = []

    class Upper(Context, tagging=True):
        pass

    @Upper.overdub.register(str.upper)
    def _(ctx, f, s):
        seen.append(metadata(s, ctx))
        return "!"

    ctx = Upper()
    assert overdub(ctx, lambda s: [s.upper(), (s.upper)()], tag("a", ctx, "source")) == ["!", "!"]
    assert seen == ["source", "source"]


def test_a_method_of_a_wrapped_receiver_is_stored_plain():
    ctx = Flowing()
    kept = []

    def program(s):
        kept.append(s.upper)
        return kept[0]()

    assert metadata(overdub(ctx, program, tag("a", ctx, "source")), ctx) == "source"
    assert type(kept[0]) is not Tagged
    assert kept[0].__self__ == "a"
    assert not [held for held in gc.get_referents(kept[0]) if type(held) is Tagged]


def test_each_of_two_contexts_computes_its_own_metadata():
    class Other(Flowing):
        def computed(self, value, f, *arguments, **keywords):
            return len(allmetadata(self, *arguments, *keywords.values()))

    outer, inner = Flowing(), Other()

    def program(s, t):
        made = s + t
        return metadata(made, outer), metadata(made, inner)

    with outer:
        s = tag("a", outer, "source")
        assert overdub(inner, program, tag(s, inner, 0), tag("b", inner, 0)) == ("source", 2)


def test_iteration_over_something_not_iterable_raises_the_usual_error():
    def program(x):
        found = []
        for call in (",".join, sum, list, sorted, max, lambda value: "".join(value)):
            try:
                call(x)
            except TypeError as error:
                found.append(str(error))
        return found

    ctx = Flowing()
    assert overdub(ctx, program, tag(5, ctx, "source")) == program(5)


class Listed(list):
    def __iter__(self):
        raise AssertionError("iterated")


class Mapped(dict):
    def values(self):
        raise AssertionError("iterated")

    items = values


@pytest.mark.parametrize("context_type", [Flowing, type("Reporting", (Context,), {}, tagging=True)])
def test_search_for_metadata_in_containers_runs_no_method_of_theirs(context_type):
    ctx = context_type()

    def root(x):
        listed, mapped = Listed(), Mapped()
        listed.append(x)
        dict.__setitem__(mapped, "a", x)
        return str([listed, mapped]), repr(listed), repr(mapped)

    assert overdub(ctx, root, tag(1.5, ctx, "source")) == ("[[1.5], {'a': 1.5}]", "[1.5]", "{'a': 1.5}")
