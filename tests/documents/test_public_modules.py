"""The import paths that the documentation names: each offers the objects of the module that defines them."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cassette_import.contexts

DOCUMENTED = {
    "boundaries": {
        "recording.external_functions": "BOUNDARY CALLBACK_TAKERS ENVIRONMENT GROUPS boundary leading_outside",
    },
    "encoding": {
        "recording.values": "BadValue Decoder located VALUES Encoder reference shortened",
    },
    "intervals_rules": {"intervals.rules": "CHOICES DECISIONS FOLDS RULES bounds"},
    "masking": {"recording.masking": "USUAL_SECRETS Mask"},
    "named": {"lookup": "ENTRY_POINTS UnknownContext context_named context_types entry_points importable_from"},
    "record": {"recording.record": "Record"},
    "replay": {"recording.replay": "Replay"},
    "taint_rules": {"taint.rules": "SANITIZERS SINKS SOURCES Sanitizer Sink"},
}
"""By public module of `cassette_import.contexts`: the modules that define its names."""


def of_contexts(name):
    if name == "intervals_rules":
        pytest.importorskip("flint")
    return importlib.import_module(f"cassette_import.contexts.{name}")


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_a_documented_module_offers_the_objects_themselves(name):
    public = of_contexts(name)
    for home, names in DOCUMENTED[name].items():
        for one in names.split():
            assert getattr(public, one) is getattr(of_contexts(home), one), one


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_a_documented_module_offers_nothing_else(name):
    names = " ".join(DOCUMENTED[name].values()).split()
    assert sorted(of_contexts(name).__all__) == sorted(names)


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_a_documented_module_may_be_the_first_import_of_a_program(name):
    of_contexts(name)
    subprocess.run([sys.executable, "-c", f"import cassette_import.contexts.{name}"], check=True)


def test_the_classes_of_ready_made_contexts_are_in_their_documented_modules():
    for name, target in cassette_import.contexts.READY_MADE.items():
        module, _, _ = target.partition(":")
        assert module == f"cassette_import.contexts.{name.replace('-', '_')}"


PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = [
    *sorted((PROJECT / "cassette_import" / "contexts").glob("*/__init__.py")),
    PROJECT / "cassette_import" / "distributed" / "__init__.py",
]


def listed_in(file):
    """The names in the `__all__` of a module, which may need packages that are not installed."""
    for statement in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return ast.literal_eval(statement.value)
    return []


@pytest.mark.parametrize("file", PACKAGES, ids=lambda file: file.parent.name)
def test_the_reference_has_what_the_package_of_a_context_offers(file):
    text = (PROJECT / "docs" / "reference.md").read_text(encoding="utf-8")
    documented = {name.rpartition(".")[2] for name in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)}
    assert {*listed_in(file)} - documented == set()
