"""The classification of the standard library is complete: each callable and method is of one kind."""

import importlib
import types

import pytest

from cassette_import.runtime.tagging.classification import TABLES, UNCLASSIFIED, classification, is_output, way_of
from cassette_import.runtime.tagging.classification.tables import names_in

METHODS = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.ClassMethodDescriptorType, classmethod, staticmethod,
)  # fmt: skip


def callables_of(module_name):
    """The public callables of a module and the methods of its classes, with their names."""
    module = importlib.import_module(module_name)
    public = getattr(module, "__all__", [name for name in vars(module) if not name.startswith(("_", "@"))])
    special = [name for name in vars(module) if name.startswith("__") and module_name in ("builtins", "operator")]
    for name in sorted({*public, *special}):
        found = getattr(module, name)
        if not callable(found) or isinstance(found, types.ModuleType):
            continue
        home = getattr(found, "__module__", None)
        if isinstance(home, str) and home.partition(".")[0].lstrip("_") not in (module_name, "", "builtins"):
            continue  # imported from another module
        yield name, found
        if isinstance(found, type) and not issubclass(found, BaseException):
            for method_name, method in vars(found).items():
                if isinstance(method, METHODS):
                    yield f"{name}.{method_name}", method


@pytest.mark.parametrize("module_name", TABLES)
def test_each_callable_of_the_module_is_classified(module_name):
    missing = [name for name, found in callables_of(module_name) if classification(found) == UNCLASSIFIED]
    assert missing == []


@pytest.mark.parametrize("module_name", TABLES)
def test_no_name_is_in_two_columns(module_name):
    table = TABLES[module_name]
    columns = [*table.moves.values(), table.computes, table.consumes, table.writes, table.creates]
    names = [name for column in columns for name in names_in(column)]
    assert [name for name in names if names.count(name) > 1] == []


def test_a_mover_says_what_it_moves_where():
    assert way_of([].append) == "the argument becomes an item"
    assert way_of(len) == ""


def test_a_function_that_writes_text_is_told_from_other_consumers():
    assert is_output(print)
    assert not is_output(len)


def test_a_function_of_the_program_is_unclassified():
    assert classification(lambda: 0) == UNCLASSIFIED


def test_an_exception_of_the_program_moves_its_arguments():
    assert way_of(type("Failed", (ValueError,), {})) == "arguments become items of the attribute `args`"
