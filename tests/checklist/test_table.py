"""The table of docs/checklist.md is complete, and the tests that it names exist and have its numbers."""

import ast
import functools
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs" / "checklist.md"
POINTS = {"F": 14, "C": 16, "D": 8, "S": 8, "R": 15, "V": 15, "N": 2, "P": 5, "M": 5, "B": 9}
NUMBERS = [f"{letter}{number}" for letter, last in POINTS.items() for number in range(1, last + 1)]
# The only points without a test.
REASONS = {"D5", "D8"}


def rows():
    found = re.findall(r"^\| ([A-Z]\d+) \| (.+?) \| (.+) \|$", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    return {number: (point, rest) for number, point, rest in found}


@functools.cache
def names_in(file):
    """Map the name of each test to the text with its number; programs of tables have it in their names."""
    (path,) = TESTS.rglob(file)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = f"{node.name} {ast.get_docstring(node) or ''}"
        elif isinstance(node, ast.Dict):
            found |= {key.value: key.value for key in node.keys if isinstance(key, ast.Constant)}
    return found


def test_the_table_has_every_point_in_order():
    assert list(rows()) == NUMBERS


@pytest.mark.parametrize("number", NUMBERS)
def test_the_tests_of_a_point_are_there_and_carry_its_number(number):
    _, rest = rows()[number]
    tests = re.findall(r"`(test_\w+\.py)::(\w+)`", rest)
    assert bool(tests) is (number not in REASONS)
    for file, name in tests:
        told = names_in(file)[name]
        assert re.search(rf"(?<![A-Za-z0-9]){number}(?!\d)", told.replace("_", " ")), (file, name)
