"""Reports of call sites: as text, and as entries for JSON."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from cassette_import.contexts.call_types.annotations import Annotations
from cassette_import.contexts.call_types.sites import Outcome, Site
from cassette_import.kits.text import plural, printable, search_folders, short_path

__all__ = ["entries", "merged", "text"]

_CallsByPlace: TypeAlias = dict[tuple[str, int, int, str, str], Counter[str]]
"""The calls by file, line, column, caller and function; each with its number."""


def entries(sites: Iterable[Site], types: Mapping[int, type]) -> list[dict[str, Any]]:
    """The call sites, sorted by file and line, each with its calls, the most frequent ones first."""
    annotations = Annotations(types)
    folders = search_folders()
    calls_by_place: _CallsByPlace = {}
    for site in sites:
        key = short_path(site.code.co_filename, folders), *site.position, site.caller, site.name
        calls = calls_by_place.setdefault(key, Counter())
        for outcome, count in list(site.outcomes.items()):
            calls[_call_text(site.name, outcome, annotations)] += count
    return _listed(calls_by_place)


def merged(parts: Iterable[Iterable[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The entries of several processes as one list, in the same order; the numbers of equal calls are added up."""
    calls_by_place: _CallsByPlace = {}
    for entry in itertools.chain.from_iterable(parts):
        key = entry["file"], entry["line"], entry["column"], entry["caller"], entry["function"]
        calls = calls_by_place.setdefault(key, Counter())
        for call in entry["calls"]:
            calls[call["types"]] += call["count"]
    return _listed(calls_by_place)


def _listed(calls_by_place: _CallsByPlace) -> list[dict[str, Any]]:
    return [
        {
            "file": file,
            "line": line,
            "column": column,
            "caller": caller,
            "function": function,
            "calls": [{"types": shown, "count": count} for shown, count in _most_frequent_first(calls)],
        }
        for (file, line, column, caller, function), calls in sorted(calls_by_place.items())
    ]


def _most_frequent_first(calls: Counter[str]) -> list[tuple[str, int]]:
    return sorted(calls.items(), key=lambda item: (-item[1], item[0]))


def _call_text(function: str, outcome: Outcome | None, annotations: Annotations) -> str:
    if outcome is None:
        return f"{function}(…)"
    arguments, keywords, raised, result = outcome
    given = [annotations.shape(shape) for shape in arguments]
    given += [f"{printable(name)}={annotations.shape(shape)}" for name, shape in keywords]
    return f"{function}({', '.join(given)}) {'raises' if raised else '->'} {annotations.shape(result)}"


def text(found: list[dict[str, Any]], limit: int | None = None) -> str:
    """The entries of call sites, each followed by its calls; at most `limit` call sites."""
    if not found:
        return "call-types: nothing was called"
    calls = sum(call["count"] for entry in found for call in entry["calls"])
    functions = len({entry["function"] for entry in found})
    counts = plural(calls, "call"), plural(len(found), "call site"), plural(functions, "function")
    lines = ["call-types: {} at {} of {}".format(*counts)]
    shown = found if limit is None else found[:limit]
    for entry in shown:
        lines += ["", f"{entry['file']}:{entry['line']}:{entry['column']} in {entry['caller']}"]
        lines += [f"{call['count']:>8} × {call['types']}" for call in entry["calls"]]
    if len(shown) < len(found):
        lines += ["", f"… {plural(len(found) - len(shown), 'further call site')}"]
    return "\n".join(lines)
