"""The package itself: its names are imported on first access, and all of them can be imported."""

import ast
import importlib
from pathlib import Path

import pytest

import cassette_import

IMPORTS = {
    alias.name: statement.module
    for statement in ast.walk(ast.parse(Path(cassette_import.__file__).read_text(encoding="utf-8")))
    if isinstance(statement, ast.ImportFrom) and statement.module.startswith("cassette_import")
    for alias in statement.names
}


DEFINED_HERE = {name for name in cassette_import.__all__ if name.endswith("_ipython_extension")}


@pytest.mark.parametrize("name", sorted({*cassette_import.__all__} - DEFINED_HERE))
def test_a_public_name_can_be_imported_from_where_a_type_checker_finds_it(name):
    home = importlib.import_module(IMPORTS[name])
    assert getattr(cassette_import, name) is getattr(home, name)


def test_what_a_type_checker_finds_is_public():
    assert set(IMPORTS) <= set(cassette_import.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'cassette_import' has no attribute 'nonsense'"):
        _ = cassette_import.nonsense
