"""Cells, and derivatives, of what `collections.Counter` and `statistics` compute."""

import collections
import csv
import statistics

import pytest

from cassette_import import overdub
from cassette_import.contexts import Provenance
from cassette_import.contexts.autodiff import derivative

TABLE = ["item,price,count", "tea,2.5,3", "cake,4,1", "tea,2.75,2"]


def rows():
    return list(csv.DictReader(TABLE))


def prices():
    return [float(row["price"]) for row in rows()]


def counts():
    return [int(row["count"]) for row in rows()]


def counted(*arguments, method="update", **keywords):
    counter = collections.Counter()
    getattr(counter, method)(*arguments, **keywords)
    return counter


COUNTERS = {
    "a mapping": (lambda: counted({"a": counts()[0]})["a"], ["C2"]),
    "keywords": (lambda: counted(a=counts()[1])["a"], ["C3"]),
    "another counter": (lambda: counted(collections.Counter(a=counts()[0]))["a"], ["C2"]),
    "elements": (lambda: counted(row["item"] for row in rows())["tea"], ["A2", "A4"]),
    "elements of a list": (lambda: counted([row["item"] for row in rows()])["cake"], ["A3"]),
    "a mapping and keywords": (lambda: counted({"a": prices()[0]}, a=prices()[1])["a"], ["B2", "B3"]),
    "subtract": (lambda: counted({"a": counts()[0]}, method="subtract")["a"], ["C2"]),
    "the constructor with a mapping": (lambda: collections.Counter({"a": counts()[0]})["a"], ["C2"]),
    "the constructor with elements": (lambda: collections.Counter(r["item"] for r in rows())["tea"], ["A2", "A4"]),
    "the constructor with keywords": (lambda: collections.Counter(a=counts()[2])["a"], ["C4"]),
    "a key that was not counted": (lambda: counted({"a": counts()[0], "b": 1})["b"], []),
}


@pytest.mark.parametrize("name", COUNTERS)
def test_a_count_has_the_cells_of_its_values(name):
    program, cells = COUNTERS[name]
    provenance = Provenance()
    assert [cell.place for cell in provenance.cells(overdub(provenance, program))] == cells


def test_counts_add_up_with_their_cells():
    def program():
        counter = collections.Counter()
        for row in rows():
            counter.update({row["item"]: float(row["price"])})
        return counter["tea"]

    provenance = Provenance()
    result = overdub(provenance, program)
    assert (result, [cell.place for cell in provenance.cells(result)]) == (5.25, ["B2", "B4"])


class Doubling(collections.Counter):
    def __missing__(self, key):
        return 10


PROGRAMS = {
    "nothing": lambda: dict(counted()),
    "none": lambda: dict(counted(None)),
    "text and keywords": lambda: dict(counted("aab", b=2)),
    "a subclass": lambda: (Doubling(a=counts()[0])["a"], Doubling()["b"]),
    "an item without a hash": lambda: counted([counts()[0], []]),
    "too many arguments": lambda: collections.Counter([1], [2]),
    "no iterable": lambda: counted(counts()[0]),
    "values that are no numbers": lambda: counted(collections.Counter(a=1), a=rows()[0]["item"]),
    "a key named iterable": lambda: counted(iterable=counts()[0])["iterable"],
}


def result_of(program):
    try:
        return program()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_counter_does_what_it_does_without_the_context(name):
    program = PROGRAMS[name]
    assert overdub(Provenance(), result_of, program) == result_of(program)


def test_elements_before_an_error_are_counted():
    def elements():
        yield rows()[0]["item"]
        raise KeyError(1)

    def program():
        counter = collections.Counter()
        try:
            counter.update(elements())
        except KeyError:
            return counter["tea"]

    assert overdub(Provenance(), program) == 1


def test_the_derivative_of_a_count_is_that_of_the_sum():
    def program(x):
        counter = collections.Counter()
        counter.update({"a": x})
        counter.update(a=x * x)
        counter.subtract(a=3 * x)
        return counter["a"]

    assert derivative(program, 2.0) == 2.0


AVERAGES = ["mean", "fmean", "geometric_mean", "harmonic_mean", "stdev", "pstdev", "variance", "pvariance"]


@pytest.mark.parametrize("name", AVERAGES)
@pytest.mark.parametrize("kind", [list, tuple, iter, lambda items: (item for item in items)])
def test_an_average_has_the_cells_of_all_items(name, kind):
    provenance = Provenance()
    result = overdub(provenance, lambda: getattr(statistics, name)(kind(prices())))
    assert [cell.place for cell in provenance.cells(result)] == ["B2", "B3", "B4"]
