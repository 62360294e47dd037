"""All rules by function and kinds of operands: those of real numbers, of `math`, and of complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.lanes.complex_rules import COMPLEX_RULES
from cassette_import.contexts.lanes.math_rules import MATH_RULES
from cassette_import.contexts.lanes.number_rules import NUMBER_RULES

__all__ = ["RULES"]

_TABLES: Final = (NUMBER_RULES, MATH_RULES, COMPLEX_RULES)

RULES: Final[dict[Any, dict[str, Callable[..., Any]]]] = {
    function: {kinds: rule for table in _TABLES for kinds, rule in table.get(function, {}).items()}
    for function in {one: None for table in _TABLES for one in table}
}
"""By function, and by the kinds of the operands."""
