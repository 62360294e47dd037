"""A profile as one page of HTML: an interactive flame graph with tables, which needs nothing but the file itself.

Knows the figures of a profile and where the page's template is; must not know how they were measured.
"""

from __future__ import annotations

import html
import json
import os
import sys
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from cassette_import.contexts.common.function_names import Label
from cassette_import.contexts.common.reporting import short_path
from cassette_import.contexts.profile.call_tree import walk
from cassette_import.contexts.profile.statistics import Reading

if TYPE_CHECKING:
    from cassette_import.contexts.profile.context import Profile

__all__ = ["page", "write"]

_MOST_PATHS: Final = 100_000
"""With more, those that take less than a hundred thousandth of the time are left out: nobody would see them."""


def page(profile: Profile, title: str = "profile") -> str:
    """The page for a profile.

    Parameters
    ----------
    profile:
        What is shown; calls that are under way count as if they ended now.
    title:
        The heading.

    Example
    -------
    >>> from cassette_import.contexts import Profile
    >>> page(Profile(), "nothing").splitlines()[0]
    '<!DOCTYPE html>'
    """
    template = resources.files(__package__).joinpath("flamegraph.html").read_text(encoding="utf-8")
    # "</script>" in a name would end the element that the data is in.
    data = json.dumps(_data(profile), separators=(",", ":")).replace("<", "\\u003c")
    return template.replace("@title@", html.escape(title)).replace("@data@", data)


def write(profile: Profile, path: str) -> None:
    """Write the page to a file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(profile, os.path.basename(path).removesuffix(".html") or "profile"))


def _data(profile: Profile) -> dict[str, Any]:
    reading = Reading(profile)
    folders = [os.path.abspath(folder) for folder in (*sys.path, os.curdir)]
    labels: dict[Label, int] = {}
    paths = _paths(reading, labels)
    functions = reading.functions()
    roots = reading.roots()
    calls = sum(figures.calls for label, (figures, _) in functions.items() if label not in roots)
    summary = f"{calls} calls, {sum(paths['own']):.3f} s"
    if reading.left_out:
        summary += f" (measuring took {reading.left_out:.3f} s more)"
    return {
        "summary": summary,
        "frames": [(_name(label), _place(label, folders)) for label in labels],
        **paths,
        "functions": [
            (figures.calls, figures.own, figures.cumulative, _full(label, folders), _name(label))
            for label, (figures, _) in functions.items()
        ],
        "sites": [
            (
                figures.calls,
                figures.cumulative,
                f"{short_path(site.filename, folders)}:{site.line}:{site.column + 1} in {site.caller}: "
                f"{_name(site.label)}",
                _name(site.label),
            )
            for site, figures in reading.call_sites().items()
        ],
    }


def _paths(reading: Reading, labels: dict[Label, int]) -> dict[str, list[Any]]:
    """Function, depth, calls and own seconds of each path, in order; several threads stand below one root."""
    found: dict[str, list[Any]] = {"frame": [], "depth": [], "calls": [], "own": []}

    def add(label: Label, depth: int, calls: int, own: float) -> None:
        found["frame"].append(labels.setdefault(label, len(labels)))
        found["depth"].append(depth)
        found["calls"].append(calls)
        found["own"].append(round(own, 9))

    several = len(reading.threads) > 1
    if several:
        add(("~", 0, "<all threads>"), 0, len(reading.threads), 0.0)
    smallest = 0.0
    if sum(1 for thread in reading.threads for _ in walk(thread)) > 2 * _MOST_PATHS:
        smallest = sum(reading.time_of(thread.root).total for thread in reading.threads) / _MOST_PATHS
    for thread in reading.threads:
        depth = int(several)
        for node, leaving in walk(thread):
            depth -= leaving
            time = reading.time_of(node)
            if not leaving and time.total >= smallest:
                add(node.label, depth, max(1, time.calls), time.own)
            depth += not leaving
    return found


def _name(label: Label) -> str:
    return label[2]


def _place(label: Label, folders: list[str]) -> str:
    return "" if label[0] == "~" else f"{short_path(label[0], folders)}:{label[1]}"


def _full(label: Label, folders: list[str]) -> str:
    place = _place(label, folders)
    return f"{label[2]}  {place}" if place else label[2]
