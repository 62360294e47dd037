"""`Provenance`: what a program writes is the same as without the context, and is recorded whichever call writes it."""

import io
import sys
import traceback

import pytest

from cassette_import import overdub
from cassette_import.contexts import Provenance

BEGIN = """
from csv import writer
from sys import stdout
import csv, decimal, enum, fractions, json, pathlib, pprint, sys

class Counted:
    made = 0
    def __str__(self):
        Counted.made += 1
        return f"{Counted.made}."

class Shown:
    made = 0
    def __repr__(self):
        Shown.made += 1
        return f"{Shown.made}."

class Text(str):
    def __str__(self):
        return "another"

class Bad:
    def __str__(self):
        raise ValueError("bad")

class Wrong:
    def __str__(self):
        return 5

class Nested:
    def __str__(self):
        print("nested")
        return "outer"

class Row:
    def __iter__(self):
        yield "a"
        raise KeyError("row")

class Priced:
    def __init__(self, price):
        self.price = price
    def __str__(self):
        return f"{self.price}"

class Level(enum.IntEnum):
    LOW = 1

def prices():
    return [float(row["price"]) for row in csv.DictReader(["item,price", "tea,2.5", "cake,4.25"])]

"""
SAME = {
    "an object is printed": "print(Counted(), Counted())",
    "an object in a list is printed": "print([Shown()], {1: [Shown()]}, (Shown(),), {Shown()})",
    "objects are printed beside cells": "print(prices(), Counted(), [prices(), [Shown()]])",
    "a subclass of str is printed": "print(Text('a'), [Text('b')])",
    "a subclass of str is written": "sys.stdout.write(Text('a'))",
    "a subclass of str is in a row": "writer(stdout).writerow([Text('a')])",
    "objects are in a row": "writer(stdout).writerow([Counted(), Shown(), prices()[0]])",
    "objects are in rows of dicts": "csv.DictWriter(stdout, ['a', 'b'], 'c').writerows([{'a': Counted()}, {'b': 1}])",
    "numbers are not quoted": "writer(stdout, quoting=2).writerow([Level.LOW, Counted(), None, decimal.Decimal(1)])",
    "rows are read once": "writer(stdout).writerows(iter([(n for n in 'ab'), {1: 2}, 'cd']))",
    "the text of an object fails": "print('before', Bad())",
    "the text of an object is none": "print(Wrong())",
    "the text of an object prints": "print(Nested(), 1)",
    "a row fails": "writer(stdout).writerow(Row())",
    "a row of rows fails": "writer(stdout).writerows([[1], Row()])",
    "an object in a row fails": "writer(stdout).writerow([1, Bad()])",
    "a row is no row": "writer(stdout).writerow(5)",
    "a row of rows is no row": "writer(stdout).writerows([[1], 5])",
    "rows are no rows": "writer(stdout).writerows(5)",
    "a dict has another field": "csv.DictWriter(stdout, ['a']).writerow({'b': 1})",
    "no text is written": "sys.stdout.write(Bad())",
    "a separator is no text": "print(1, sep=5)",
    "an object cannot be dumped": "json.dump([1, Bad()], sys.stdout)",
    "a dump has no file": "json.dump([1])",
}


def outcome(call, capsys):
    """What a call prints, and how it ends."""
    try:
        ended = call()
    except Exception:
        ended = traceback.format_exc()
        ended = ended[ended.index("in main") :]
    return capsys.readouterr().out, ended


@pytest.mark.parametrize("name", SAME)
def test_the_output_and_the_traceback_are_the_same_if(make_program, capsys, name):
    program, other = (make_program(f"{BEGIN}def main():\n    return {SAME[name]}\n") for _ in range(2))
    expected = outcome(program.main, capsys)
    output, ended = outcome(lambda: overdub(Provenance(), other.main), capsys)
    assert output == expected[0]
    assert str(ended).replace(other.__name__, program.__name__) == str(expected[1])


RECORDED = {
    "a row is a generator": ("writer(stdout).writerow(p for p in prices())", "2.5,4.25"),
    "a row is a map": ("writer(stdout).writerow(map(str, prices()))", "2.5,4.25"),
    "a row is a view of a dict": ("writer(stdout).writerow(dict(enumerate(prices())).values())", "2.5,4.25"),
    "rows are a generator": ("writer(stdout).writerows(row for row in [prices()])", "2.5,4.25"),
    "rows are zipped": ("writer(stdout).writerows(zip(*[[price] for price in prices()]))", "2.5,4.25"),
    "rows are dicts of a generator": (
        "csv.DictWriter(stdout, [0, 1]).writerows(dict(enumerate(row)) for row in [prices()])",
        "2.5,4.25",
    ),
    "a row has an empty value": ("writer(stdout).writerow([None, *prices()])", ",2.5,4.25"),
    "an object has its text from cells": ("print(*map(Priced, prices()))", "2.5 4.25"),
    "a row has objects": ("writer(stdout).writerow(map(Priced, prices()))", "2.5,4.25"),
    "the separator is a cell": ("print(*prices(), 1, sep=str(prices()[0]))", "2.52.54.252.51"),
    "the end is a cell": ("print(prices()[0], end=' ' + str(prices()[1]))", "2.5 4.25"),
    "a path is written": ("pathlib.Path('found').write_text(f'{prices()}')", "[2.5, 4.25]"),
    "a document is dumped": ("json.dump(prices(), open('found', 'w'))", "[2.5, 4.25]"),
    "a container is printed by pprint": ("pprint.pprint(prices())", "[2.5, 4.25]"),
}


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_cells_of_a_line_are_recorded_if(make_program, monkeypatch, tmp_path, name):
    code, text = RECORDED[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "utf-8"))
    program = make_program(f"{BEGIN}def main():\n    {code}\n")
    provenance = Provenance()
    overdub(provenance, program.main)
    (line,) = provenance.lines
    assert line.text == text
    assert {cell.place for _, cells in line.parts for cell in cells} == {"B2", "B3"}
