"""Text that special methods make while an object is formatted is untrusted if they read it from a source."""

import collections
import contextlib
import csv
import dataclasses
import io
import json
import logging
import pprint
import reprlib
import string
import textwrap
import traceback
import types

import pytest

from cassette_import import overdub
from cassette_import.contexts import Taint


def ask():
    return "x' OR '1'='1"


def query(text):
    return None


class Holding:
    def __init__(self):
        self.text = ask()


class StrOfAttribute(Holding):
    def __str__(self):
        return f"name = {self.text}"


class ReprOfAttribute(Holding):
    def __repr__(self):
        return f"name = {self.text}"


class FormatOfAttribute(Holding):
    def __format__(self, specification):
        return f"name = {self.text}"


class StrOfSource:
    def __str__(self):
        return ask()


class ReprOfSource:
    def __repr__(self):
        return ask()


class FormatOfSource:
    def __format__(self, specification):
        return ask()


class StrOfText(str):
    def __str__(self):
        return ask()


class Failure(Exception):
    def __str__(self):
        return ask()


@dataclasses.dataclass
class Row:
    part: object


class Clean:
    def __repr__(self):
        return "".join(["cle", "an"])


def written(write):
    buffer = io.StringIO()
    write(buffer)
    return buffer.getvalue()


def redirected(thing):
    with contextlib.redirect_stdout(io.StringIO()) as buffer:
        print(thing)
    return buffer.getvalue()


WAYS = {
    "str": str,
    "repr": repr,
    "ascii": ascii,
    "format": format,
    "f-string": lambda o: f"{o}",
    "f-string with repr": lambda o: f"{o!r:>50}",
    "print": lambda o: written(lambda file: print(o, file=file)),
    "print of two": lambda o: written(lambda file: print(o, Clean(), sep="-", file=file)),
    "print of a list": lambda o: written(lambda file: print([o], file=file)),
    "print to standard output": redirected,
    "separator": lambda o: written(lambda file: print(1, 2, sep=str(o), file=file)),
    "str.format": lambda o: "{}".format(o),
    "str.format with repr": lambda o: "{!r}".format(o),
    "str.format of an item": lambda o: "{0[0]}".format([o]),
    "format_map": lambda o: "{a}".format_map({"a": o}),
    "percent": lambda o: "%s" % (o,),
    "percent with repr": lambda o: "%r" % (o,),
    "percent of a dict": lambda o: "%(a)s" % {"a": o},
    "percent of a list": lambda o: "%s" % [o],
    "Template": lambda o: string.Template("$a").substitute(a=o),
    "Formatter": lambda o: string.Formatter().vformat("{a}", (), {"a": o}),
    "message of a record": lambda o: logging.LogRecord("n", 10, "p", 1, "%s", (o,), None).getMessage(),
    "join": lambda o: "".join([str(o)]),
    "join of mapped": lambda o: "".join(map(str, [o, Clean()])),
    "join of formatted": lambda o: ",".join(map("{}".format, [o])),
    "textwrap": lambda o: textwrap.fill(f"{o}"),
    "pformat": lambda o: pprint.pformat([o]),
    "json": lambda o: json.dumps({"a": [o, 1]}, default=str),
    "csv": lambda o: written(lambda file: csv.writer(file).writerow([o, Clean()])),
    "text of an error": lambda o: str(ValueError(o)),
    "text of an error of two": lambda o: str(ValueError(1, o)),
    "traceback": lambda o: traceback.format_exception_only(ValueError(o))[0],
    "list": lambda o: str([o]),
    "dict": lambda o: repr({1: o, 2: Clean()}),
    "values": lambda o: str({1: o}.values()),
    "deque": lambda o: str(collections.deque([o])),
    "namespace": lambda o: repr(types.SimpleNamespace(a=o)),
    "dataclass": lambda o: str(Row(o)),
    "reprlib": lambda o: reprlib.repr([o]),
    "method": lambda o: o.__str__(),
    "object.__format__": lambda o: object.__format__(o, ""),
}  # fmt: skip
THINGS = [
    ask, StrOfAttribute, ReprOfAttribute, FormatOfAttribute, StrOfSource, ReprOfSource, FormatOfSource,
    lambda: StrOfText("a"), Failure, lambda: [ReprOfAttribute()], lambda: Row(ReprOfSource()),
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_text_of_a_source_is_found_however_it_is_formatted(way):
    missed = []
    for thing in THINGS:
        if "OR" not in way(thing()):
            continue  # the way does not call the method
        taint = Taint(sources=[f"{__name__}.ask"], sinks=[f"{__name__}.query"])
        overdub(taint, lambda make=thing: query(way(make())))
        if not taint.findings:
            missed.append(thing)
    assert missed == []


class Slotted:
    __slots__ = ("text",)

    def __init__(self):
        self.text = ask()


@dataclasses.dataclass
class Fields:
    text: str


HOLDERS = {
    "an object": Holding,
    "an object with slots": Slotted,
    "a dataclass": lambda: Fields(ask()),
    "a namespace": lambda: types.SimpleNamespace(text=ask()),
    "an object in a namespace": lambda: types.SimpleNamespace(text=types.SimpleNamespace(text=ask())),
}
FIELDS = {
    "by number": lambda one: "{0.text} {1}".format(one, 2),
    "by the next number": lambda one: "{} {.text} {}".format(1, one, 2),
    "by name": lambda one: "{one.text} {other}".format(one=one, other=2),
    "in a dict": lambda one: "{0[one].text} {1}".format({"one": one}, 2),
    "in a list": lambda one: "{0[0].text} {1}".format([one], 2),
    "in a mapping": lambda one: "{one.text} {other}".format_map({"one": one, "other": 2}),
}


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("way", FIELDS)
def test_attributes_that_the_fields_of_a_format_name_are_followed(way, holder):
    taint = Taint(sources=[f"{__name__}.ask"], sinks=[f"{__name__}.query"])
    overdub(taint, lambda: query(FIELDS[way](HOLDERS[holder]())))
    assert len(taint.findings) == 1


def test_attributes_that_the_fields_of_a_format_do_not_name_are_no_part_of_its_text():
    def clean():
        one = Holding()
        one.other = "clean"
        query("{0.other} {1}".format(one, 2))
        one.text = "clean"
        query("{0.text} {1}".format(one, 2))

    taint = Taint(sources=[f"{__name__}.ask"], sinks=[f"{__name__}.query"])
    overdub(taint, clean)
    assert taint.findings == []


@pytest.mark.parametrize("text", ["{0[one]} {1}", "{1} {0}", "{0[one].text}{1}"])
def test_objects_in_containers_are_part_of_the_text_of_a_format(text):
    taint = Taint(sources=[f"{__name__}.ask"], sinks=[f"{__name__}.query"])
    overdub(taint, lambda: query(text.format({"one": types.SimpleNamespace(text=ask())}, 2)))
    assert len(taint.findings) == 1
