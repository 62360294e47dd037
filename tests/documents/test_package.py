"""The package itself: its names are imported on first access, and all of them can be imported."""

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from helpers.command_line import environment

import cassette_import
import cassette_import.contexts


def block_for_type_checkers(module):
    """The statements of a module that only type checkers read."""
    statements = ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body
    (block,) = [one for one in statements if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING"]
    return block.body


def imports_for_type_checkers(module):
    """The module of each name that a type checker finds in a module which imports its names lazily."""
    return {
        alias.name: statement.module
        for statement in block_for_type_checkers(module)
        if isinstance(statement, ast.ImportFrom) and statement.module.startswith("cassette_import")
        for alias in statement.names
    }


ROOT = Path(__file__).parents[2]
IMPORTS = imports_for_type_checkers(cassette_import)
DEFINED_HERE = {name for name in cassette_import.__all__ if name.endswith("_ipython_extension")}


@pytest.fixture(scope="module")
def found():
    """The public names that are the same object in both modules, in a process in which nothing else was imported."""
    code = f"""
import cassette_import, importlib
for name, home in {IMPORTS!r}.items():
    if getattr(cassette_import, name) is getattr(importlib.import_module(home), name):
        print(name)
"""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, env=environment(), capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize("name", sorted({*cassette_import.__all__} - DEFINED_HERE))
def test_a_public_name_can_be_imported_from_where_a_type_checker_finds_it(name, found):
    assert name in found


def test_what_a_type_checker_finds_is_public():
    assert set(IMPORTS) <= set(cassette_import.__all__)


def test_type_checkers_and_programs_find_the_same_names_in_the_same_modules():
    lazily = {
        name: f"cassette_import.{module}"
        for module, names in cassette_import._DEFINED_IN.items()
        for name in names.split()
    }
    assert set(cassette_import._PUBLIC_MODULES) == {name for name in IMPORTS if name not in lazily}
    for name, module in cassette_import._PUBLIC_MODULES.items():
        lazily[name] = f"cassette_import.{module}".rpartition(".")[0]
    assert lazily == IMPORTS


def test_type_checkers_and_programs_find_the_same_contexts_in_the_same_modules():
    contexts = cassette_import.contexts
    assert imports_for_type_checkers(contexts) == contexts._MODULES
    (listed,) = [one for one in block_for_type_checkers(contexts) if isinstance(one, ast.Assign)]
    assert {*contexts._MODULES, "READY_MADE"} == {*ast.literal_eval(listed.value)}


@pytest.mark.parametrize("missing", [(), ("flint",), ("flint", "numpy")])
def test_all_contexts_are_imported_whose_packages_are_installed(missing):
    code = f"import sys; sys.modules.update(dict.fromkeys({missing!r})); from cassette_import.contexts import *; "
    expected = {*cassette_import.contexts._MODULES} - ({"Intervals"} if missing else set())
    if importlib.util.find_spec("flint") is None:
        expected.discard("Intervals")
    check = f"assert {{*{expected!r}, 'READY_MADE'}} == {{name for name in globals() if name[0].isupper()}}"
    subprocess.run([sys.executable, "-c", code + check], check=True, env=environment())


def ancestors_and_self(module):
    names = module.split(".")
    return {".".join(names[:count]) for count in range(1, len(names) + 1)}


def test_every_ready_made_context_is_in_the_contract_of_independence():
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = configuration["tool"]["importlinter"]["contracts"]
    (independent,) = [set(one["modules"]) for one in contracts if one["type"] == "independence"]
    contexts = ROOT / "cassette_import" / "contexts"
    packages = {f"cassette_import.contexts.{file.parent.name}" for file in contexts.glob("*/__init__.py")}
    assert packages <= independent
    for name, target in cassette_import.contexts.READY_MADE.items():
        if name == "intervals":
            pytest.importorskip("flint")
        context_type = getattr(cassette_import.contexts, target.partition(":")[2])
        assert ancestors_and_self(context_type.__module__) & independent, name


def test_no_folder_of_tests_hides_that_a_package_is_not_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = sum(project["optional-dependencies"].values(), project["dependencies"])
    packages = {re.match(r"\w+", requirement).group() for requirement in required}
    assert packages.isdisjoint(folder.name for folder in (ROOT / "tests").iterdir())


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'cassette_import' has no attribute 'nonsense'"):
        _ = cassette_import.nonsense
