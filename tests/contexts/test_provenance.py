"""The cells from which the numbers of a report were computed, in unmodified programs."""

import csv
import gc
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cassette_import import Tagged, install, overdub
from cassette_import.contexts import Provenance
from cassette_import.contexts.provenance import Cell
from examples import sales_report

EXAMPLES = Path(sales_report.__file__).parent
TABLE = ["item,price,count", "tea,2.5,3", "cake,4,1", "tea,2.75,2"]


def found(program, *arguments):
    """Return each part of the output with its cells, as text."""
    provenance = Provenance()
    overdub(provenance, program, *arguments)
    return [(text, [cell.place for cell in cells]) for line in provenance.lines for text, cells in line.parts]


def test_each_number_of_the_report_has_its_cells(capsys):
    provenance = Provenance()
    with install("examples.sales_report"):
        overdub(provenance, sales_report.main, str(EXAMPLES / "sales.csv"))
    printed = capsys.readouterr().out
    assert [line.text for line in provenance.lines] == printed.splitlines()
    amounts, counts = {f"B{line}" for line in (2, 3, 4)}, {f"C{line}" for line in (2, 3, 4)}
    parts = {
        (line.text.split()[0], text): {cell.place for cell in cells}
        for line in provenance.lines
        for text, cells in line.parts
    }
    assert parts == {
        ("cake", "4.00"): {"B3", "C3"},
        ("cake", "24%"): amounts | counts,
        ("tea", "13.00"): {"B2", "B4", "C2", "C4"},
        ("tea", "76%"): amounts | counts,
        ("average", "3.0833333333333335"): amounts,
    }
    assert {cell.file for line in provenance.lines for _, cells in line.parts for cell in cells} == {"sales.csv"}


def test_values_of_csv_reader_have_line_and_column():
    def program():
        for row in csv.reader(TABLE):
            print(row[1])

    assert found(program) == [("price", ["B1"]), ("2.5", ["B2"]), ("4", ["B3"]), ("2.75", ["B4"])]


def test_cells_of_a_dict_reader_have_the_columns_name():
    provenance = Provenance()

    def program():
        return next(csv.DictReader(TABLE))["count"]

    assert provenance.cells(overdub(provenance, program)) == [Cell("list", 2, 3, "count")]


def test_a_record_of_several_lines_is_where_it_ends():
    assert found(lambda: [print(row[1]) for row in csv.reader(['"a\n', 'b",1', "c,2"])]) == [
        ("1", ["B2"]),
        ("2", ["B3"]),
    ]


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda x, y: print(x, y), [("2.5", ["B2"]), ("3", ["C2"])]),
        (lambda x, y: print(x, y, sep="; "), [("2.5", ["B2"]), ("3", ["C2"])]),
        (lambda x, y: print(f"{x:>9}|{y}"), [("2.5", ["B2"]), ("3", ["C2"])]),
        (lambda x, y: print(x + "|" + y), [("2.5", ["B2"]), ("3", ["C2"])]),
        (lambda x, y: print("|".join([x, "-", y])), [("2.5", ["B2"]), ("3", ["C2"])]),
        (lambda x, y: print((f"{x}|{y}").rjust(20).strip()), [("2.5", ["B2"]), ("3", ["C2"])]),
        (lambda x, y: print("%s|%s" % (x, y)), [("2.5|3", ["B2", "C2"])]),
        (lambda x, y: print(float(x) * int(y)), [("7.5", ["B2", "C2"])]),
        (lambda x, y: print(round(float(x)) + 1), [("3", ["B2"])]),
        (lambda x, y: print(max(float(x), 1.0)), [("2.5", ["B2"])]),
        (lambda x, y: print(f"a\n{x}\n{y}"), [("2.5", ["B2"]), ("3", ["C2"])]),
        (lambda x, y: csv.writer(io.StringIO()).writerow([x, 1, y]), [("2.5", ["B2"]), ("3", ["C2"])]),
        (lambda x, y: csv.writer(io.StringIO()).writerows([[x], [y]]), [("2.5", ["B2"]), ("3", ["C2"])]),
        (
            lambda x, y: csv.DictWriter(io.StringIO(), ["b", "a"]).writerow({"a": x, "b": y}),
            [("3", ["C2"]), ("2.5", ["B2"])],
        ),
        (lambda x, y: print("nothing", 3.5), []),
    ],
)
def test_output_has_its_cells(write, expected):
    def program():
        row = next(csv.DictReader(TABLE))
        write(row["price"], row["count"])

    assert found(program) == expected


def test_a_text_file_is_a_report_too(tmp_path):
    def program():
        with open(tmp_path / "report.txt", "w") as file:
            for row in csv.DictReader(TABLE):
                file.write(f"{row['item']}: {row['price']}\n")

    assert found(program)[:2] == [("tea", ["A2"]), ("2.5", ["B2"])]


def test_a_long_sum_has_all_its_cells():
    lines = ["x", *["1"] * 20_000]

    def program():
        total = 0
        for row in csv.DictReader(lines):
            total += int(row["x"])
        print(total)

    provenance = Provenance()
    overdub(provenance, program)
    assert provenance.summary().splitlines() == ["provenance: 1 line", "20000", "  20000  list:A2-A20001"]


def test_other_readers_mark_their_values():
    class Sheets(Provenance):
        pass

    def sheet():
        return {"B2": 2.5}

    @Sheets.overdub.register(sheet)
    def _(ctx, f):
        return ctx.mark(2.5, "sheet!B2")

    sheets = Sheets()
    overdub(sheets, lambda: print(sheet() * 2))
    assert str(sheets.lines[0]) == "5.0\n  5.0  sheet!B2"


def test_no_wrapper_is_left_in_the_programs_objects():
    kept = []

    def program():
        rows = list(csv.DictReader(TABLE))
        kept.extend([rows, {row["item"]: float(row["price"]) for row in rows}, [*map(str.upper, rows[0].values())]])

    overdub(Provenance(), program)
    gc.collect()
    values = [value for row in kept[0] for value in row.values()] + [*kept[1].values(), *kept[1], *kept[2]]
    assert [value for value in values if type(value) is Tagged] == []


def run(tmp_path, *options):
    command = [sys.executable, "-m", "cassette_import", "run", "-c", *options]
    command += [str(EXAMPLES / "sales_report.py"), str(EXAMPLES / "sales.csv")]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)


def test_the_command_line_prints_the_cells(tmp_path):
    done = run(tmp_path, "provenance:limit=1")
    assert done.stdout.splitlines()[0] == "cake        4.00    24%"
    assert done.stderr.splitlines() == [
        "provenance: 3 lines",
        "cake        4.00    24%",
        "  4.00  sales.csv:B3, sales.csv:C3",
        "  24%   sales.csv:B2-B4, sales.csv:C2-C4",
        "… 2 further lines",
    ]


def test_the_report_is_written_as_json(tmp_path):
    assert run(tmp_path, "provenance", "-o", "cells.json").stderr == ""
    line = json.loads((tmp_path / "cells.json").read_text())["lines"][0]
    assert line["parts"][0] == {
        "text": "4.00",
        "cells": [
            {"file": "sales.csv", "line": 3, "column": 2, "name": "price"},
            {"file": "sales.csv", "line": 3, "column": 3, "name": "count"},
        ],
    }


def test_a_limit_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="limit is a number of lines"):
        Provenance(limit="many")


# ---- containers


def read_prices():
    return [float(row["price"]) for row in csv.DictReader(TABLE)]


def print_containers():
    prices = read_prices()
    print(prices)
    print({"a": prices[0], "b": "text"})
    print((prices[1], [1, prices[2]]), prices[0])
    print({prices[0]})
    looped = [prices[1]]
    looped.append(looped)
    print(looped)
    print([1, 2], {"a": 1})


def test_the_items_of_printed_containers_have_their_cells(capsys):
    assert found(print_containers) == [
        *[("2.5", ["B2"]), ("4.0", ["B3"]), ("2.75", ["B4"])],
        ("2.5", ["B2"]),
        *[("4.0", ["B3"]), ("2.75", ["B4"]), ("2.5", ["B2"])],
        ("{2.5}", ["B2"]),
        ("[4.0, [...]]", ["B3"]),
    ]


class Loud:
    def __init__(self):
        self.shown = 0

    def __repr__(self):
        self.shown += 1
        return "2.5"


def print_object(loud, number):
    print([loud, number])


def test_objects_in_containers_are_not_shown_for_the_parts(capsys):
    def program(loud):
        print_object(loud, read_prices()[0])

    loud = Loud()
    assert found(program, loud) == [("[2.5, 2.5]", ["B2"])]
    assert loud.shown == 1  # by print alone


def lines_of(prices, file):
    for price in prices:
        file.write("next\n")
        yield f"{price}\n"


def write_lines(path, make):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(make(read_prices(), file))


@pytest.mark.parametrize(
    "make",
    [
        lambda prices, file: [f"{price}\n" for price in prices],
        lambda prices, file: tuple(str(price) + "\n" for price in prices),
        lambda prices, file: (f"{price}\n" for price in prices),
        lambda prices, file: map("{}\n".format, prices),
        lines_of,
    ],
    ids=["list", "tuple", "generator expression", "map", "generator that writes"],
)
def test_lines_that_writelines_writes_have_their_cells(make, tmp_path):
    write_lines(tmp_path / "plain.txt", make)
    pieces = found(write_lines, tmp_path / "lines.txt", make)
    assert [(text.strip(), cells) for text, cells in pieces] == [("2.5", ["B2"]), ("4.0", ["B3"]), ("2.75", ["B4"])]
    assert (tmp_path / "lines.txt").read_text() == (tmp_path / "plain.txt").read_text()


def test_writelines_raises_as_in_plain_python(tmp_path):
    with pytest.raises(TypeError, match=r"write\(\) argument must be str"):
        found(write_lines, tmp_path / "lines.txt", lambda prices, file: prices)
    with pytest.raises(TypeError, match="not iterable"):
        found(write_lines, tmp_path / "lines.txt", lambda prices, file: prices[0])
