"""Counts results: a test that accepts an error in place of a result must not pass where everything is an error."""

from collections.abc import Callable, Iterable
from typing import Any

from cassette_import import CassetteError


def share_of_results(compute: Callable[[Any], Any], programs: Iterable[Any]) -> float:
    """The share of programs for which a computation has a result, from 0 to 1; others are refused by an error."""
    has_result = [_has_result(compute, program) for program in programs]
    return sum(has_result) / len(has_result)


def _has_result(compute: Callable[[Any], Any], program: Any) -> bool:
    try:
        return compute(program) is not None
    except CassetteError:
        return False
