"""A text that is one object in several places is untrusted in each of them, whatever the program did with it before."""

import html
from operator import itemgetter

import pytest

from cassette_import import Context, escapes, metadata, overdub, tag
from cassette_import.contexts import Taint
from cassette_import.contexts.taint import Sink


def given():
    return "abc-def"


def taken(value):
    return value


def shown(value):
    return value


def allowed(text):
    return text


NOT_OVERDUBBED: dict = {}
exec("def pieces(names):\n    q = names.read('q')\n    yield 'select '\n    yield format(q)\n", NOT_OVERDUBBED)


class Environment:
    def __init__(self, **variables):
        self.variables = variables

    def read(self, name):
        return self.variables[name]


def rendered(text):
    """As a template engine renders: its generated code asks for the text, and is not overdubbed."""
    return "".join(NOT_OVERDUBBED["pieces"](Environment(q=text)))


SAME = {
    "f-string": lambda text: f"{text}",
    "part of an f-string": lambda text: f"a{text}b",
    "%": lambda text: "%s" % text,
    "str": str,
    "format": format,
    "join": lambda text: "".join([text]),
    "strip": str.strip,
    "replace": lambda text: text.replace("?", given()),
    "slice": lambda text: text[:],
    "sum": lambda text: "" + text,
    "translate": lambda text: text.expandtabs(),
    "item": lambda text: itemgetter(0)([f"{text}"]),
}

KEPT: list = []


def findings(program, **options):
    taint = Taint(
        [f"{__name__}.given"],
        [f"{__name__}.taken", Sink(f"{__name__}.shown", "HTML")],
        [f"{__name__}.allowed", "html.escape"],
        **options,
    )
    overdub(taint, program)
    return taint.findings


@pytest.mark.parametrize("same", SAME.values(), ids=SAME)
def test_a_text_is_found_after_the_same_object_came_by_another_path(same):
    def program():
        text = given()
        KEPT[:] = [same(text)]
        taken(rendered(text))

    (finding,) = findings(program)
    assert finding.source.endswith("given")


@pytest.mark.parametrize("same", SAME.values(), ids=SAME)
def test_the_object_is_found_by_both_paths(same):
    def program():
        text = given()
        other = same(text)
        KEPT[:] = [text, other]
        taken(rendered(text))
        taken(rendered(other))

    assert len(findings(program)) == 2


SANITIZERS = {"one for all sinks": allowed, "html.escape": html.escape}


@pytest.mark.parametrize("sanitizer", SANITIZERS.values(), ids=SANITIZERS)
def test_a_text_is_found_after_a_sanitizer_has_returned_the_same_object(sanitizer):
    def program():
        text = given()
        KEPT[:] = [text, sanitizer(text)]
        taken(rendered(text))

    assert len(findings(program)) == 1


@pytest.mark.parametrize("sanitizer", SANITIZERS.values(), ids=SANITIZERS)
def test_the_text_that_a_sanitizer_has_returned_is_safe_wherever_it_is(sanitizer):
    def program():
        text = given()
        KEPT[:] = [text, sanitizer(text)]
        safe = KEPT[1]
        assert safe == text
        taken(rendered(text))
        shown(rendered(safe))
        shown(safe)

    assert [finding.sink for finding in findings(program)] == [f"{__name__}.taken"]


def test_bytes_that_a_sanitizer_has_returned_are_safe_and_those_that_it_got_are_not():
    def program():
        text = given().encode()
        KEPT[:] = [text, allowed(text)]
        taken(KEPT[1])
        taken(KEPT[0])

    (finding,) = findings(program)
    assert finding.value == "b'abc-def'"


def test_other_objects_that_a_sanitizer_returns_are_the_arguments_themselves():
    def program():
        text = given()
        items, empty = [text], ""
        assert allowed(items) is items
        assert allowed(empty) is empty
        assert allowed(rendered) is rendered

    assert findings(program) == []


# ---- contexts of other kinds


def elsewhere(value):
    return (lambda given=value: given).__defaults__


class Followed(Context, tagging=True):
    recognised_types = (float,)


class Joined(Followed):
    def joined(self, one, other):
        return f"{one} or {other}"


def in_two_places(ctx, value):
    def program(one, other):
        places = elsewhere(one), elsewhere(other)
        return (lambda given=value: given).__defaults__[0], places

    return overdub(ctx, lambda one, other: program(one, other)[0], tag(value, ctx, "one"), tag(value, ctx, "other"))


def test_a_context_type_may_join_the_metadata_of_an_object():
    ctx = Joined()
    assert metadata(in_two_places(ctx, float("2.5")), ctx) == "one or other"


def test_a_context_that_cannot_join_metadata_reports_the_loss():
    ctx = Followed()
    assert metadata(in_two_places(ctx, float("2.5")), ctx, None) is None
    assert "an object that has different metadata in different places" in str(escapes(ctx))
