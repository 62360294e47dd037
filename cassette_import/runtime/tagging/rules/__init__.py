"""The rules of leaves, one file for each kind: what happens to the metadata of arguments in a call of a leaf.

`RULES` is the table of all of them; importing this package fills it.
"""

from __future__ import annotations

from cassette_import.runtime.tagging.rule_table import RULES, RULES_OF_TYPES, Rule
from cassette_import.runtime.tagging.rules import (
    attributes,
    callables,
    concurrency,
    construction,
    container_constructors,
    containers,
    conversions,
    iteration,
    operators,
    reductions,
    sorting,
)

MODULES = (
    attributes, callables, concurrency, construction, container_constructors, containers, conversions, iteration,
    operators, reductions, sorting,
)  # fmt: skip
"""The files of rules."""

__all__ = ["MODULES", "RULES", "RULES_OF_TYPES", "Rule"]
