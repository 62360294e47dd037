"""Imports in `profile`, `trace`, `callgraph` and `call-types`: one event each, unless `imports` is given."""

import importlib
import io
import re

import pytest
from helpers.command_line import cassette

from cassette_import import install
from cassette_import.contexts import CallGraph, CallTypes, Noop, Profile, Record, Taint, Trace


@pytest.fixture
def name(make_package):
    made = make_package({"one.py": "from . import two\nabs(-1)\n", "two.py": "len([])\n"})
    install(made)
    importlib.import_module(made)
    return made


def import_in(context, name):
    with context:
        importlib.import_module(f"{name}.one")
    return context


def test_a_profile_has_a_row_for_each_import(name):
    profile = import_in(Profile(), name)
    rows = re.findall(rf"(\d+) +\S+ +\S+ +(\S+) .*?:1\(import {name}\.(\w+)\)", profile.summary())
    times = {module: float(cumulative) for _, cumulative, module in rows}
    assert {count for count, _, _ in rows} == {"1"}
    assert times["one"] >= times["two"] > 0


def test_a_profile_of_call_sites_has_the_line_of_the_import(name):
    assert f"one.py:1:1 in <module>: import {name}.two" in import_in(Profile(sites=True), name).summary()


def test_a_trace_has_a_line_for_each_import(name):
    file = io.StringIO()
    import_in(Trace(file=file), name)
    assert file.getvalue() == f"import {name}.one\n  import {name}.two -> None\n  -> None\n"


def test_a_trace_of_a_package_shows_its_imports(name):
    file = io.StringIO()
    import_in(Trace(file=file, package=f"{name}.two"), name)
    assert file.getvalue() == f"import {name}.two -> None\n"


def test_a_call_graph_has_a_node_for_each_import(name):
    graph = import_in(CallGraph(), name).graph()
    edges = [(caller.title.rpartition(".")[2], callee.title) for caller, callee in graph.calls]
    assert edges == [
        ("import_in", f"import {name}.one"),
        ("one", f"import {name}.two"),
    ]
    assert {callee.title for _, callee in graph.calls} <= {function.title for function in graph.functions}


def test_in_call_types_an_import_is_a_leaf(name):
    types = import_in(CallTypes(leaves=True), name)
    assert {line for line in types.summary().splitlines() if "×" in line} == {
        f"       1 × import {name}.one() -> None",
        f"       1 × import {name}.two() -> None",
    }
    assert f"{name}/one.py:1:1 in <module>" in types.summary()
    assert types.stubs() == {}


def test_call_types_without_leaves_list_no_import(name):
    assert import_in(CallTypes(), name).summary() == "call-types: nothing was called"


@pytest.mark.parametrize("kind", [Profile, Trace, CallGraph, CallTypes])
def test_the_option_brings_the_module_levels_back(kind, name):
    assert (kind().module_level, kind(imports=True).module_level) == (False, True)
    file = io.StringIO()
    import_in(Trace(file=file, imports=True), name)
    assert file.getvalue() == "len([]) -> 0\nabs(-1) -> 1\n"


@pytest.mark.parametrize("kind", [Noop, Record, Taint])
def test_other_contexts_have_the_module_levels(kind):
    assert kind.module_level


@pytest.mark.parametrize("value", ["true", "True"])
def test_the_option_on_the_command_line(value, tmp_path):
    (tmp_path / "app.py").write_text("import beside\n")
    (tmp_path / "beside.py").write_text("abs(-1)\n")
    done = cassette("run", "-c", "trace", "app.py", folder=tmp_path)
    assert done.stderr.splitlines()[0] == "import beside -> None"
    done = cassette("run", "-c", f"trace:imports={value}", "app.py", folder=tmp_path)
    assert done.stderr.splitlines()[0] == "abs(-1) -> 1"


def test_the_main_module_of_a_program_is_no_import(tmp_path):
    (tmp_path / "app.py").write_text("abs(-1)\n")
    assert cassette("run", "-c", "trace", "app.py", folder=tmp_path).stderr.splitlines()[0] == "abs(-1) -> 1"
