"""The table of rules: complete once `rules` is imported, and each rule registered in a file of that package."""

import operator
import pkgutil

import pytest

from cassette_import.runtime.tagging import rules
from cassette_import.runtime.tagging.fast_path import RULED_ALWAYS


def test_all_files_of_rules_are_imported():
    found = {module.name for module in pkgutil.iter_modules(rules.__path__)}
    assert found == {module.__name__.rpartition(".")[2] for module in rules.MODULES}


def test_each_handler_is_defined_in_a_file_of_rules():
    assert {rule.rule_function.__module__ for rule in rules.RULES.values()} <= {
        module.__name__ for module in rules.MODULES
    }


def test_functions_whose_rules_apply_always_have_rules():
    assert rules.RULES.keys() >= RULED_ALWAYS.keys()


@pytest.mark.parametrize(
    ("function", "file"),
    [
        (list.sort, "sorting"), (list.append, "containers"), (dict.update, "containers"), (set.add, "containers"),
        (getattr, "attributes"), (operator.getitem, "containers"), (operator.add, "operators"), (map, "iteration"),
        (next, "iteration"), (max, "reductions"), (float, "conversions"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)  # fmt: skip
def test_the_rule_of_a_function_is_in_the_file_of_its_kind(function, file):
    rule = rules.RULES[id(function)]
    assert rule.function == function
    assert rule.rule_function.__module__ == f"{rules.__name__}.{file}"
