"""`fuzz` finds inputs that random changes do not find, and writes what is compared where it comes from."""

import gc
import io
import re
import sys
import textwrap
import types
import weakref
from dataclasses import dataclass
from typing import ClassVar

import pytest
from programs import fuzzed

from cassette_import.contexts.fuzz import TooSlow, findings, fuzz
from cassette_import.contexts.fuzz.coverage import _Traced
from cassette_import.contexts.fuzz.desired_values import examples
from cassette_import.runtime.tagging.wrappers import Tagged

NEEDS_BRANCHES = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="on 3.11, lines are counted: parts of a condition on one line are no progress"
)


def raised(found):
    """The names of the exceptions."""
    return sorted(type(one.exception).__name__ for one in found)


@pytest.mark.parametrize(
    ("function", "seed", "executions", "allowed"),
    [
        (fuzzed.nested_magic, "", 12000, ValueError),
        (fuzzed.protected, b"", 2500, ()),
        (fuzzed.computed, 0, 400, ()),
        (fuzzed.drawing, {}, 4000, (KeyError, TypeError)),
        (fuzzed.ordered, "", 2000, ()),
    ],
)
def test_values_that_are_compared_are_written_into_the_input(function, seed, executions, allowed):
    (found,) = fuzz(function, [seed], executions=executions, allowed=allowed)
    assert found.callsite.function == function.__name__
    with pytest.raises(type(found.exception)):
        function(found.input)


@pytest.mark.parametrize(
    ("function", "seed", "executions", "types"),
    [
        (fuzzed.commanded, "", 1000, ["KeyError", "RuntimeError"]),
        pytest.param(fuzzed.structured, {}, 3000, ["KeyError", "RuntimeError"], marks=NEEDS_BRANCHES),
        pytest.param(fuzzed.starred, {}, 1000, ["KeyError", "RuntimeError"], marks=NEEDS_BRANCHES),
        (fuzzed.numbered, b"", 1000, ["RuntimeError"]),
    ],
)
def test_what_the_patterns_of_a_match_statement_want_is_written_into_the_input(function, seed, executions, types):
    assert raised(fuzz(function, [seed], executions=executions)) == types


def test_the_parts_of_a_split_text_are_known_each_at_its_place():
    def third(line):
        fields = line.split(",")
        if fields[2:] and fields[2] == "urgent" and fields[0] == "from":
            raise RuntimeError("found")

    (found,) = fuzz(third, ["a,a,a"], executions=800)
    assert found.input == "from,,urgent"


def test_a_text_is_written_where_startswith_begins_to_look():
    def tagged(text):
        if len(text) > 6 and text.startswith("<!--", 3) and re.compile(r"\[\d\]").match(text, 8):
            raise RuntimeError("found")

    (found,) = fuzz(tagged, ["a" * 12], executions=1500)
    assert found.input[3:7] == "<!--"
    assert re.fullmatch(r"\[\d\]", found.input[8:11])


@NEEDS_BRANCHES
def test_what_is_read_of_a_file_in_memory_is_known_by_its_place():
    def unpacked(data):
        file = io.BytesIO(data)
        if file.read(4) == b"\x7fBIN":
            size = int.from_bytes(file.read(2), "little")
            body = file.read(size)
            if len(body) == size and size == 7 and file.read(3) == b"END":
                raise RuntimeError("found")

    (found,) = fuzz(unpacked, [b""], executions=12000)
    assert found.input[:6] == b"\x7fBIN\x07\0"
    assert found.input[13:] == b"END"


def test_names_of_methods_that_are_looked_up_are_written_into_the_input():
    class Visitor:
        def visit_first(self): ...

        def visit_second(self):
            raise RuntimeError("found")

    def visit(text):
        method = getattr(Visitor(), "visit_" + text[2:], None)
        if method is not None:
            method()

    (found,) = fuzz(visit, ["a node"], executions=600)
    assert found.input[2:] == "second"


def test_the_type_that_isinstance_asks_for_is_written_into_the_input():
    def total(order):
        if isinstance(order["price"], list) and isinstance(order["price"][0], dict):
            raise RuntimeError("found")

    (found,) = fuzz(total, [{"price": 1}], executions=1000, allowed=(KeyError, IndexError))
    assert found.input == {"price": [{}]}


def test_a_bug_of_a_parser_is_found():
    found = fuzz(fuzzed.parsed, ["[1,2]"], executions=1200, allowed=(fuzzed.BadText, RecursionError))
    places = {(type(one.exception).__name__, one.callsite.function) for one in found}
    assert ("ValueError", "Parser.space") in places


def test_a_division_by_zero_and_a_recursion_without_end_are_found():
    found = fuzz(fuzzed.evaluated, ["1+(2)"], executions=4500, seed=2, allowed=fuzzed.BadText)
    assert raised(found) == ["RecursionError", "ZeroDivisionError"]
    assert {one.input for one in found} > {"0/0"}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="branches are pairs of lines where there is no sys.monitoring")
def test_the_branches_are_those_of_the_source():
    found = fuzz(fuzzed.two_errors, ["a", "b", "c"], executions=300)
    assert found.tagged > 0
    assert found.branches == 4


def test_findings_are_one_for_each_call_site_and_as_small_as_possible():
    found = fuzz(fuzzed.two_errors, ["an apple", "a pear", "a plum"], executions=2000)
    assert {(type(one.exception), one.input) for one in found} == {(IndexError, "a"), (KeyError, "b")}


def test_a_search_is_the_same_for_the_same_seed():
    first, second = (fuzz(fuzzed.ordered, ["x"], executions=700, seed=3) for _ in range(2))
    assert first.corpus == second.corpus
    assert (first.branches, first.tagged) == (second.branches, second.tagged)


def test_exceptions_that_are_allowed_are_no_findings():
    assert raised(fuzz(fuzzed.two_errors, [""], executions=1000, allowed=IndexError)) == ["KeyError"]


def test_an_execution_that_does_not_end_is_a_finding():
    (found,) = fuzz(fuzzed.endless, [""], executions=260, timeout=0.1)
    assert found.input == "loop"
    assert isinstance(found.exception, TooSlow)


@pytest.mark.skipif(sys.platform != "linux", reason="address space is bounded on Linux")
def test_memory_is_bounded():
    (found,) = fuzz(fuzzed.greedy, [0], executions=600, allowed=OverflowError)
    assert isinstance(found.exception, MemoryError)


@dataclass(frozen=True, eq=False)
class Declined(Exception):
    """An exception of a program, which counts those that are alive."""

    alive: ClassVar = weakref.WeakSet()

    def __post_init__(self):
        self.alive.add(self)


def declines(number):
    try:
        raise Declined
    except Declined:
        if number == 0:
            return 0
        raise Declined from None


@pytest.mark.parametrize("options", [{"allowed": Declined}, {}], ids=["allowed", "findings"])
def test_an_exception_that_is_not_kept_is_freed_at_once(options):
    gc.collect()
    gc.disable()  # their frames make cycles
    try:
        found = fuzz(declines, [0], executions=300, **options)
        assert len(Declined.alive) <= 4 * len(found)  # that of a finding and that which led to it, and their contexts
    finally:
        gc.enable()


def wrappers():
    """The values with metadata that are alive."""
    gc.collect()
    return [one for one in gc.get_objects() if type(one) is Tagged]


@pytest.mark.skipif(sys.platform != "linux", reason="address space is bounded on Linux")
def test_no_metadata_is_left_if_a_program_runs_out_of_memory():
    before = len(wrappers())
    assert fuzz(fuzzed.greedy, [0], executions=600, allowed=OverflowError).tagged
    assert len(wrappers()) <= before


def test_the_argument_of_the_function_may_be_changed_by_it():
    found = fuzz(lambda items: items.clear(), [["a", "b"]], executions=200)
    assert found == []
    assert found.corpus[0] == ["a", "b"]


def test_numbers_that_are_floats_are_found():
    (found,) = fuzz(lambda x: 1 / 0 if 3.25 < x < 3.26 else 0, [0.0], executions=600)
    assert 3.25 < found.input < 3.26


def test_lines_are_covered_where_there_is_no_monitoring(monkeypatch):
    monkeypatch.setattr("cassette_import.contexts.fuzz.fuzzing.coverage", _Traced)
    (found,) = fuzz(fuzzed.computed, [0], executions=400)
    assert found.input == 10000001


@pytest.mark.parametrize("pattern", [r"(GET|PUT) /\d+", r"[^a-z]\s*x?", rb"\w{3}[:=].", r"(?i)ab+(?:c|d)"])
def test_examples_of_a_pattern_match_it(pattern):
    compiled = re.compile(pattern)
    assert examples(compiled)
    assert all(compiled.fullmatch(text) for text in examples(compiled))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((fuzzed.ordered, []), "there are no seeds"),
        ((fuzzed.ordered, [("a",)]), "an input is a str, bytes, int or float, or lists and dicts"),
        ((len, [""]), "it has no Python source; name the packages whose branches count"),
        (("text", [""]), "the function must be callable"),
    ],
)
def test_what_cannot_be_fuzzed_is_refused(arguments, message):
    with pytest.raises((ValueError, TypeError, RuntimeError), match=message):
        fuzz(*arguments, executions=10)


def test_a_function_whose_name_has_another_meaning_by_now_cannot_be_imported():
    importable = findings.importable
    assert importable(textwrap.dedent) == ("textwrap", "dedent")
    other = types.FunctionType(textwrap.dedent.__code__, vars(textwrap))
    assert importable(other) is None


@pytest.mark.parametrize("seeds", ["abc", b"abc"])
def test_a_single_input_as_seeds_is_an_error(seeds):
    with pytest.raises(TypeError, match=r"give \[b?'abc'\]"):
        fuzz(str, seeds, executions=1)
