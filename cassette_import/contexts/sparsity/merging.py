"""Merging: one value for several sides of a branch, with the dependences of all."""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any

import numpy as np

from cassette_import.contexts.common.sequences import sequence_like
from cassette_import.contexts.sparsity.arrays import Array, array, dependences_of, owner_of, plain
from cassette_import.contexts.sparsity.number import Number, dependence_of, number
from cassette_import.contexts.sparsity.run import VARIES, Executions, Run, joined
from cassette_import.passes.if_conversion.converted_code import UNBOUND

__all__ = ["Piece", "merged"]

Piece = tuple[Executions, Any]


def merged(run: Run, pieces: list[Piece]) -> Any:
    """The value for the executions of all pieces. The value itself is that for the given inputs.

    Raises
    ------
    SparsityError
        If the values are no numbers, arrays or structures of these, or have different structures.
    """
    if not pieces:
        return None
    live = next((value for executions, value in pieces if executions.live), pieces[0][1])
    values = [value for _, value in pieces]
    if all(value is live for value in values) or all(_same(value, live) for value in values):
        return live
    bound = [(executions, value) for executions, value in pieces if value is not UNBOUND]
    if len(bound) < len(pieces):
        return UNBOUND if live is UNBOUND or not bound else merged(run, bound)
    if all(map(_is_number, values)):
        return number(run, plain(live), joined(map(dependence_of, values)) | VARIES)
    if all(isinstance(value, np.ndarray) or _is_number(value) for value in values):
        return _array(run, live, values)
    if all(type(value) is type(live) for value in values):
        found = _structure(run, live, pieces)
        if found is not None:
            return found
    kinds = ", ".join(sorted({type(value).__name__ for value in values}))
    raise run.refuse_branch(f"a value is another object ({kinds}) on each side of a branch that depends on the inputs")


def _is_number(value: Any) -> bool:
    return type(value) is Number or isinstance(value, (numbers.Number, np.generic))


def _same(value: Any, other: Any) -> bool:
    kind = type(value)
    if kind is not type(other) or kind not in (int, float, bool, complex, str, bytes):
        return False
    return bool(value == other)


def _array(run: Run, live: Any, values: list[Any]) -> Any:
    if len({np.shape(plain(value)) for value in values}) > 1:
        raise run.refuse_branch("an array has another shape on each side of a branch that depends on the inputs")
    for value in values:
        if isinstance(value, np.ndarray):
            _keep(run, owner_of(plain(value)))
    found = dependences_of(values[0])
    for value in values[1:]:
        found = np.bitwise_or(found, dependences_of(value))
    made = array(run, np.array(plain(live)), np.bitwise_or(found, VARIES))
    if type(made) is Array:
        _keep(run, owner_of(made.value))
    return made


def _keep(run: Run, value: Any) -> None:
    run.aliased[id(value)] = value


def _structure(run: Run, live: Any, pieces: list[Piece]) -> Any:
    """Lists, tuples and dicts of the same shape, and frozen dataclasses."""

    def part(get: Any) -> Any:
        return merged(run, [(executions, get(value)) for executions, value in pieces])

    if isinstance(live, tuple) and all(len(value) == len(live) for _, value in pieces):
        parts = [part(lambda value, at=at: value[at]) for at in range(len(live))]
        return sequence_like(live, parts)
    if type(live) is list and all(len(value) == len(live) for _, value in pieces):
        made: Any = [part(lambda value, at=at: value[at]) for at in range(len(live))]
    elif type(live) is dict and all(list(value) == list(live) for _, value in pieces):
        made = {key: part(lambda value, key=key: value[key]) for key in live}
    elif dataclasses.is_dataclass(live) and getattr(live, "__dataclass_params__").frozen:  # noqa: B009
        made = object.__new__(type(live))
        slots = [field.name for field in dataclasses.fields(live) if hasattr(live, field.name)]
        for name in {**getattr(live, "__dict__", {}), **dict.fromkeys(slots)}:
            object.__setattr__(made, name, part(lambda value, name=name: getattr(value, name)))
        return made
    else:
        return None
    for value in (made, *(value for _, value in pieces)):
        _keep(run, value)
    return made
