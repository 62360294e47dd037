"""Bindings: the symbols of modules that are executed late."""

import pytest
from helpers.command_line import run

from cassette_import.runtime.bindings import LATE_SYMBOLS


@pytest.mark.parametrize(("module", "names"), LATE_SYMBOLS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_table_of_late_modules_has_all_their_symbols(module, names):
    assert set(names) == set(module.BINDINGS)


def test_a_late_module_is_executed_when_its_first_symbol_is_needed(tmp_path):
    text = """
import sys
from cassette_import import Context
from cassette_import.rewriting import symbols
from cassette_import.runtime.names import NAMES

print("cassette_import.runtime.syntax.iteration" in sys.modules, symbols.LOOP in NAMES)
loop, unpack = NAMES[symbols.LOOP], NAMES[symbols.UNPACK]
iteration = sys.modules["cassette_import.runtime.syntax.iteration"]
print(loop is iteration.loop, unpack is iteration.unpack, "@no such symbol" in NAMES)
"""
    outcome = run("-c", text, folder=tmp_path)
    assert (outcome.stdout, outcome.stderr) == ("False True\nTrue True False\n", "")
