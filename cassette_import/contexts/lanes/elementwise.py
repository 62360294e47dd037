"""Functions of immutable values, for all active lanes: by NumPy where a rule is known, else lane by lane.

Lanes for which the function raises are dropped, so that the run goes on without them; if it raises for all of them,
the exception is raised, with the arguments that each lane would have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from cassette_import.contexts.lanes.columns import Mixed, is_immutable, joined, kind_of, listed, packed, same
from cassette_import.contexts.lanes.containers import ATOMS, apart, contains_lane, lane_in
from cassette_import.contexts.lanes.errors import EffectError, name_of, place
from cassette_import.contexts.lanes.lane import PORT, Lane
from cassette_import.contexts.lanes.lane_sets import Lanes, LaneSet
from cassette_import.contexts.lanes.nested_levels import computed_in_levels
from cassette_import.contexts.lanes.rules import RULES

__all__ = ["compute", "lane_of"]

_NUMBERS: Final = {float, int, bool}


def compute(function: Any, *operands: Any) -> Any:
    """The results of a function of immutable values: a `Lane`, or a plain value that all lanes share."""
    found: Lanes | None = None
    for one in operands:
        if type(one) is Lane:
            if one.annotation is not None:
                return computed_in_levels(function, operands)
            found = one.lanes
        elif type(one) not in ATOMS and contains_lane(one):
            return _compute_apart(function, operands)
    assert found is not None
    lanes = found
    while True:
        active = lanes.active
        data = [one.at(active) if type(one) is Lane else one for one in operands]
        if lanes.active is active:
            break
    log, lanes.log = lanes.log, lanes.log.begun()
    try:
        with np.errstate(all="ignore"):
            result, failed = _columns(function, data, active.size)
        where = lanes.log.outliving([result])
    finally:
        log, lanes.log = lanes.log, log
    if where is not None:
        log.undo()
        what = f"{name_of(function)} runs for each lane, and calls what changes an object that all lanes share"
        raise lanes.refuse(EffectError(f"{what}, at {where}: take the call out of the vectorized function"))
    if failed is not None and failed.any():
        if failed.all():
            _raise(lanes, function, data, active)
        lanes.drop(active.ids[failed])
        result = tuple(part[~failed] for part in result) if type(result) is tuple else result[~failed]
    if type(result) is tuple:
        return tuple(lane_of(lanes, lanes.active, part) for part in result)
    return lane_of(lanes, lanes.active, result)


PORT.compute = compute


def _compute_apart(function: Any, operands: Sequence[Any]) -> Any:
    """The results of a function of containers, of which each lane has its own."""
    found = apart(function, operands)
    if found is not None:
        return compute(found[0], *found[1])
    lane = lane_in(operands)
    assert lane is not None
    raise lane.lanes.refuse(
        EffectError(
            f"{name_of(function)} gets an object that keeps values which differ between lanes, and there is no rule "
            f"for it, at {place()}: give it the numbers, or take the call out of the vectorized function"
        )
    )


def lane_of(lanes: Lanes, members: LaneSet, column: Any) -> Any:
    """A column as a value of the program: plain if it has one lane, or one object in all lanes."""
    if len(column) == 1:
        return column.tolist()[0]
    if type(column) is np.ndarray and column.dtype.kind == "O":
        values = column.tolist()
        if all(same(values[0], value) for value in values):
            return values[0]
    return Lane(lanes, members, column)


def _columns(function: Any, data: Sequence[Any], size: int) -> tuple[Any, Any]:
    """The result as a column, or a tuple of columns; and a boolean array of the lanes that raise an exception."""
    kinds = "".join([kind_of(column) for column in data])
    if "M" in kinds:
        return _by_kinds(function, data, size)
    rules = RULES.get(function) if function.__hash__ is not None else None
    rule = rules.get(kinds) if rules is not None else None
    found = rule(*data) if rule is not None else None
    if found is None:
        return _by_lane(function, data, size)
    column, odd = found
    if odd is None or not odd.any():
        return column, None
    which, rest = np.flatnonzero(odd), np.flatnonzero(~odd)
    given, failed = _by_lane(function, _parts(data, which), len(which))
    if type(column) is tuple:
        if type(given) is not tuple:  # all odd lanes have failed
            given = tuple(given for _ in column)
        pairs = zip(column, given, strict=True)
        column = tuple(joined(size, [(rest, part[rest]), (which, other)]) for part, other in pairs)
    else:
        column = joined(size, [(rest, column[rest]), (which, given)])
    all_failed: Any = np.zeros(size, bool)
    all_failed[which] = failed
    return column, all_failed


def _parts(data: Sequence[Any], which: Any) -> list[Any]:
    return [column[which] if type(column) in (np.ndarray, Mixed) else column for column in data]


def _by_kinds(function: Any, data: Sequence[Any], size: int) -> tuple[Any, Any]:
    """Compute for the lanes with each combination of kinds by themselves."""
    codes: Any = np.zeros(size, np.int64)
    for column in data:
        if type(column) is Mixed:
            codes = codes * len(column.arrays) + column.codes
    results = []
    failed: Any = np.zeros(size, bool)
    for code in np.unique(codes).tolist():
        which = np.flatnonzero(codes == code)
        result, bad = _columns(function, _parts(data, which), len(which))
        results.append((which, result))
        if bad is not None:
            failed[which] = bad
    lengths = [len(result) for _, result in results if type(result) is tuple]
    if lengths:
        results = [
            (which, (result,) * lengths[0] if type(result) is not tuple and failed[which].all() else result)
            for which, result in results
        ]
        if not all(type(result) is tuple and len(result) == len(results[0][1]) for _, result in results):
            raise EffectError(f"{name_of(function)} returns tuples for some lanes only, at {place()}")
        columns = zip(*[result for _, result in results], strict=True)
        places = [which for which, _ in results]
        return tuple(joined(size, list(zip(places, parts, strict=True))) for parts in columns), failed
    return joined(size, results), failed


def _by_lane(function: Any, data: Sequence[Any], size: int) -> tuple[Any, Any]:
    columns = [listed(column, size) for column in data]
    try:
        values = list(map(function, *columns))
    except Exception:
        return _by_failing_lane(function, columns, size)
    kinds = set(map(type, values))
    if kinds <= _NUMBERS:
        return packed(values), None
    if kinds == {tuple} and len(set(map(len, values))) == 1:
        return tuple(map(packed, map(list, zip(*values, strict=True)))), None
    return _by_failing_lane(function, columns, size)


def _by_failing_lane(function: Any, columns: Sequence[Any], size: int) -> tuple[Any, Any]:
    values: list[Any] = []
    failed: Any = np.zeros(size, bool)
    for number, arguments in enumerate(zip(*columns, strict=True)):
        try:
            values.append(function(*arguments))
        except Exception:
            failed[number] = True
            values.append(None)
    good = [value for value, bad in zip(values, failed.tolist(), strict=True) if not bad]
    lengths = {len(value) if type(value) is tuple else -1 for value in good}
    if len(lengths) == 1 and -1 not in lengths:
        blank = (None,) * lengths.pop()
        rows = [blank if bad else value for value, bad in zip(values, failed.tolist(), strict=True)]
        return tuple(map(packed, map(list, zip(*rows, strict=True)))), failed
    if not all(map(is_immutable, good)):
        raise EffectError(f"the results of {name_of(function)} differ between lanes, and are no numbers, at {place()}")
    if failed.any() and good:
        values = [good[0] if bad else value for value, bad in zip(values, failed.tolist(), strict=True)]
    return packed(values), failed


def _raise(lanes: Lanes, function: Any, data: Sequence[Any], active: LaneSet) -> None:
    """Raise the exception that the function raises in all active lanes; lanes with another type are dropped."""
    errors: list[Exception] = []
    for arguments in zip(*[listed(column, active.size) for column in data], strict=True):
        try:
            function(*arguments)
        except Exception as error:
            errors.append(error.with_traceback(None))
    first = errors[0]
    alike = [type(one) is type(first) and len(one.args) == len(first.args) for one in errors]
    keep = np.array(alike)
    lanes.drop(active.ids[~keep])
    lanes.commit()
    rows = [error.args for error, kept in zip(errors, alike, strict=True) if kept]
    columns = [list(column) for column in zip(*rows, strict=True)]
    first.args = tuple(
        lane_of(lanes, lanes.active, packed(column)) if all(map(is_immutable, column)) else column[0]
        for column in columns
    )
    raise first
