"""The table of a profile: functions with calls, self time and cumulative time; then call sites, if they were
recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from cassette_import.contexts.profile.statistics import CallStatistics, Statistics, SummedStatistics
from cassette_import.kits.function_names import Label
from cassette_import.kits.text import plural, search_folders, short_path

__all__ = ["ORDERS", "label_text", "table"]


class _Order(NamedTuple):
    title: str
    key: Callable[[CallStatistics], float]


ORDERS: Final[dict[str, _Order]] = {
    "own": _Order("self time", lambda statistics: statistics.self_time),
    "cumulative": _Order("cumulative time", lambda statistics: statistics.cumulative),
    "calls": _Order("calls", lambda statistics: statistics.calls),
}
"""What the table can be sorted by, by the name that the option `sort` takes."""

_WORTH_SHOWING: Final = 0.5
"""The seconds for module levels and bodies from the cache from which on they are shown."""


def table(statistics: Statistics | SummedStatistics, sort: str, limit: int | None = None) -> str:
    """The functions, one on each line, those with the largest values first; at most `limit` of them."""
    functions = [(found, label) for label, found in statistics.totals().items()]
    roots = statistics.roots()
    if all(label in roots for _, label in functions):
        return "profile: nothing was called"
    order = ORDERS[sort]
    functions.sort(key=lambda row: (-order.key(row[0]), row[1]))
    calls = sum(found.calls for found, _ in functions)
    primitive = sum(found.primitive for found, _ in functions)
    seconds = sum(found.self_time for found, _ in functions)
    subtracted = f"; overhead subtracted: {statistics.overhead:.3f}" if statistics.overhead else ""
    specialising = _specialising(statistics, seconds)
    folders = search_folders()
    lines = [
        f"profile: {plural(calls, 'call')} ({primitive} primitive) of {plural(len(functions), 'function')} "
        f"in {seconds:.3f} seconds, sorted by {order.title}{subtracted}{specialising}",
        "",
        f"{'calls':>12} {'self':>10} {'per call':>10} {'cumulative':>10} {'per call':>10}  function",
    ]
    lines += [_row(found, label_text(label, folders)) for found, label in functions[:limit]]
    if limit is not None and limit < len(functions):
        lines.append(f"{'…':>12} {plural(len(functions) - limit, 'further row')}")
    return "\n".join(lines + _call_sites(statistics, folders, limit))


def _specialising(statistics: Statistics | SummedStatistics, seconds: float) -> str:
    """How much of the run specialising was; empty if no function was compiled, and the rest took little time."""
    whole = seconds + statistics.overhead
    share = min(1.0, statistics.specialising / whole) if whole else 0.0
    if not statistics.specialised and statistics.specialising < _WORTH_SHOWING:
        return ""
    functions = plural(statistics.specialised, "function")
    return f"; specialising: {functions}, {statistics.specialising:.3f} seconds, {share:.0%} of the run"


def _row(found: CallStatistics, name: str) -> str:
    count = str(found.calls)
    if found.calls != found.primitive:
        count += f"/{found.primitive}"
    return (
        f"{count:>12} {found.self_time:10.6f} {found.self_time / found.calls:10.6f} {found.cumulative:10.6f} "
        f"{found.cumulative / max(1, found.primitive):10.6f}  {name}"
    )


def _call_sites(statistics: Statistics | SummedStatistics, folders: list[str], limit: int | None) -> list[str]:
    sites = sorted(statistics.call_sites().items(), key=lambda entry: (-entry[1].cumulative, entry[0]))
    if not sites:
        return []
    lines = ["", f"{'calls':>12} {'time':>10} {'per call':>10}  call site"]
    for site, found in sites[:limit]:
        place = f"{short_path(site.filename, folders)}:{site.line}:{site.column + 1} in {site.caller}"
        per_call = found.cumulative / found.calls
        lines.append(f"{found.calls:>12} {found.cumulative:10.6f} {per_call:10.6f}  {place}: {site.label[2]}")
    if limit is not None and limit < len(sites):
        lines.append(f"{'…':>12} {plural(len(sites) - limit, 'further call site')}")
    return lines


def label_text(label: Label, folders: list[str]) -> str:
    """A label as `pstats` prints it, with a short path."""
    filename, line, name = label
    return f"{short_path(filename, folders)}:{line}({name})"
