"""A profile as one HTML page that works offline: an interactive flame graph with tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from cassette_import.contexts.profile.call_tree import CallTrees, walk
from cassette_import.contexts.profile.statistics import Statistics
from cassette_import.kits.calls.flamegraph import page_of
from cassette_import.kits.function_names import Label, modules_by_file
from cassette_import.kits.text import search_folders, short_path

__all__ = ["page", "write"]

_MOST_PATHS: Final = 100_000
"""With more paths than this, those that take less than a hundred thousandth of the time are left out: their frames
would be too narrow to see."""


def page(profile: CallTrees, title: str = "profile") -> str:
    """The page for a profile.

    Parameters
    ----------
    profile:
        The profile. Calls in progress count as if they ended now.
    title:
        The heading.

    Example
    -------
    >>> from cassette_import.contexts import Profile
    >>> page(Profile(), "nothing").splitlines()[0]
    '<!DOCTYPE html>'
    """
    return page_of(_data(profile), title)


def write(profile: CallTrees, path: str) -> None:
    """Write the page to a file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(profile, os.path.basename(path).removesuffix(".html") or "profile"))


def _data(profile: CallTrees) -> dict[str, Any]:
    """What the page's script reads."""
    statistics = Statistics(profile)
    folders = search_folders()
    labels: dict[Label, int] = {}
    paths = _paths(statistics, labels)
    functions = statistics.functions()
    roots = statistics.roots()
    modules = modules_by_file()
    calls = sum(found.calls for label, (found, _) in functions.items() if label not in roots)
    summary = f"{calls} calls, {sum(paths['self']):.3f} s"
    if statistics.overhead:
        summary += f" (overhead subtracted: {statistics.overhead:.3f} s)"
    return {
        "unit": "seconds",
        "own": "self time",
        "of_site": "time",
        "summary": summary,
        "frames": [(_name(label), _place(label, folders), _module(label, modules, folders)) for label in labels],
        **paths,
        "functions": [
            (found.calls, found.self_time, found.cumulative, _name_and_place(label, folders), _name(label))
            for label, (found, _) in functions.items()
        ],
        "sites": [
            (
                found.calls,
                found.cumulative,
                f"{short_path(site.filename, folders)}:{site.line}:{site.column + 1} in {site.caller}: "
                f"{_name(site.label)}",
                _name(site.label),
            )
            for site, found in statistics.call_sites().items()
        ],
    }


def _paths(statistics: Statistics, labels: dict[Label, int]) -> dict[str, list[Any]]:
    """Function, depth, calls and self time of each path, parents first. Several threads share one root."""
    paths: dict[str, list[Any]] = {"frame": [], "depth": [], "calls": [], "self": []}

    def add(label: Label, depth: int, calls: int, self_time: float) -> None:
        paths["frame"].append(labels.setdefault(label, len(labels)))
        paths["depth"].append(depth)
        paths["calls"].append(calls)
        paths["self"].append(round(self_time, 9))

    threads = statistics.threads
    if len(threads) > 1:
        add(("~", 0, "<all threads>"), 0, len(threads), 0.0)
    smallest = 0.0
    if sum(1 for thread in threads for _ in walk(thread)) > 2 * _MOST_PATHS:
        smallest = sum(statistics.time_of(thread.root).cumulative for thread in threads) / _MOST_PATHS
    for thread in threads:
        depth = int(len(threads) > 1)
        for node, leaving in walk(thread):
            depth -= leaving
            time = statistics.time_of(node)
            if not leaving and time.cumulative >= smallest:
                add(node.label, depth, max(1, time.calls), time.self_time)
            depth += not leaving
    return paths


def _name(label: Label) -> str:
    return label[2]


def _place(label: Label, folders: list[str]) -> str:
    return "" if label[0] == "~" else f"{short_path(label[0], folders)}:{label[1]}"


def _module(label: Label, modules: Mapping[str, str], folders: list[str]) -> str:
    """The module of a function; for the program's own one, its file."""
    return "" if label[0] == "~" else modules.get(label[0]) or short_path(label[0], folders)


def _name_and_place(label: Label, folders: list[str]) -> str:
    place = _place(label, folders)
    return f"{label[2]}  {place}" if place else label[2]
