"""Each decision on unknown values is a guard, also where the interpreter or a function in C decides without an event.

For each first argument, the residual program has the function's results for all others.
"""

import functools
import heapq
import itertools
import operator
import textwrap

import pytest

from cassette_import.contexts.graph import NotRepresentable, inline

TEXTS = ["abc", "", "a", "cab", "b", "12", "a b", "ccc", "bba", "C"]
NUMBERS = [0.5, -0.5, 0.0, 1.0, 2.5, -7.0]


def items(text):
    return list(map(ord, text)), list(zip(text, text[2:], strict=False)), tuple(text), list(itertools.chain(text, "!"))


def folded(text):
    return functools.reduce(lambda one, other: other + one, text, ""), sum(map(ord, text)), tuple(text) < ("b",)


def backwards(text):
    return list(map(str.upper, reversed(text)))


def conversions(text):
    return f"{text!r:>10}{text!s}{text!a}{text!r}{len(text):03d}"


def chained(text):
    return "a" < text < "c"


def alternatives(text):
    return [character.upper() for character in text if character != "b"], "x" if text else "y", text and text[-1]


def unpacked(text):
    first, *rest = text
    return first, rest


def searched(text):
    return text.find("a") if "a" in text else None, any(character == "a" for character in text)


def shortened(text):
    return textwrap.shorten(text, 10), text.split("a"), text.partition("b")[2] or "none", text == text[::-1]


def consumed(text):
    out = ""
    while text:
        out, text = text[0] + out, text[1:]
    return out


def chains_of_numbers(x):
    return 0.0 < x < 1.0, 0.0 <= x <= 1.0 <= x, not (0.0 < x < 1.0), [0 < x < 2 > 1]


def truth_of_numbers(x):
    return x and 1.0, x or 2.0, x if x else 3.0, [x][0] and "yes"


def conversions_of_numbers(x):
    return f"{x!r:>12}|{x!s}|{x:.3f}|{round(x)!r}"


def slices_of_known_containers(x):
    numbers, n = [1, 2, 3], int(x)
    copy = list(numbers)
    del copy[n:]
    numbers[n:] = [9]
    return [1, 2, 3][:n], "abc"[n:], (1, 2, 3)[:: n + 3], copy, numbers, [x, 2, 3][:n]


def counts(x):
    n = int(x > 0.0)
    chosen = operator.itemgetter(n)([5, 6]), list(itertools.islice([1, 2, 3], n)), list(enumerate("ab", n))
    return chosen, list(itertools.repeat(x, n)), list(enumerate("ab", start=n)), f"{x:{n + 5}}"


class Card:
    def __init__(self, value, name):
        self.value, self.name = value, name

    def __repr__(self):
        return self.name

    def __lt__(self, other):
        return self.value < other.value

    def __eq__(self, other):
        return self.value == other.value

    __hash__ = None


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sorted([Card(x, "a"), Card(0.6, "b")])[0].name,
        lambda x: max(Card(x, "a"), Card(0.6, "b")).name,
        lambda x: [Card(x, "a")].index(Card(0.5, "b")),
        lambda x: Card(x, "a") in [Card(0.5, "b")],
        lambda x: [Card(x, "a")] == [Card(0.5, "b")],
        lambda x: heapq.nsmallest(1, [Card(x, "a"), Card(0.6, "b")])[0].name,
    ],
)
def test_comparisons_by_methods_of_the_program_in_c_are_refused_or_exact(f):
    try:
        program = inline(f, 0.5)
    except NotRepresentable:
        return
    for x in (0.5, 0.75, -1.0):
        assert outcome(program, x) == outcome(f, x)


def outcome(f, *arguments):
    try:
        return f(*arguments)
    except ValueError as error:
        return repr(error)


PAIRS = [
    *itertools.product(
        [items, folded, backwards, conversions, chained, alternatives, searched, shortened, consumed], TEXTS[:4]
    ),
    *itertools.product([unpacked], TEXTS[:1]),
    *itertools.product(
        [chains_of_numbers, truth_of_numbers, conversions_of_numbers, slices_of_known_containers, counts], NUMBERS
    ),
]


@pytest.mark.parametrize(("f", "first"), PAIRS, ids=lambda one: getattr(one, "__name__", repr(one)))
def test_a_residual_program_decides_as_the_function_does(f, first):
    program = inline(f, first)
    for value in TEXTS if type(first) is str else NUMBERS:
        assert repr(outcome(program, value)) == repr(outcome(f, value))


def test_an_exception_of_a_conversion_that_the_program_catches_is_refused():
    def number(text):
        try:
            return int(text)
        except ValueError:
            return -1

    assert inline(number, "12")("7") == 7
    with pytest.raises(NotRepresentable, match="the program catches ValueError"):
        inline(number, "a")
