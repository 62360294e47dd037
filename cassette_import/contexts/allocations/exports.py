"""Allocations as a table of call sites, and as a call tree whose weights are bytes, for the files."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from cassette_import.contexts.allocations.memory import Memory, Site, SiteAllocations, peak_of, sites_of, trees_of
from cassette_import.kits.calls.trees import CallStatistics, CallTrees, SiteRow, label_text, table_lines
from cassette_import.kits.function_names import Label
from cassette_import.kits.text import file_size, plural, search_folders, short_path

__all__ = ["ORDERS", "AllocatedBytes", "table"]

# ---- the table of allocations: call sites with bytes, what is left and kept, and the peak with its calls

ORDERS: Final = ("bytes", "cumulative", "left", "kept", "peak", "alive")
"""What the table can be sorted by."""
_COLUMNS: Final = (
    *(("calls", 9), ("bytes", 12), ("cumulative", 12), ("left", 12), ("peak", 12), ("alive", 12), ("kept", 12)),
    ("blocks", 8),
)
"""The numbers of a call site that the table shows, with the widths of their columns."""
_CALLS_OF_PEAK: Final = 8
"""How many of the innermost calls in progress at the peak are shown."""


def table(memory: Memory, sort: str, limit: int | None = None) -> str:
    """The call sites, one on each line, those with the largest values first; at most `limit` of them."""
    sites = sites_of(memory)
    if not any(site.calls or site.kept or site.alive for site in sites.values()):
        return "allocations: nothing was called"
    folders = search_folders()
    rows = sorted(sites.items(), key=lambda entry: (-getattr(entry[1], sort), -entry[1].bytes, entry[0]))
    kept, blocks = sum(site.kept for _, site in rows), sum(site.blocks for _, site in rows)

    def row(entry: tuple[Site, SiteAllocations]) -> tuple[object, ...]:
        site, found = entry
        return *(getattr(found, title) for title, _ in _COLUMNS), _site_text(site, found, folders)

    lines = [
        f"allocations: {file_size(sum(site.bytes for _, site in rows))} in {plural(len(rows), 'call site')}, "
        f"kept at the end: {file_size(kept)} in {plural(blocks, 'block')}; sorted by {sort}",
        *_notes(memory),
        "",
        *_peak(memory, folders),
        "",
        *table_lines(_COLUMNS, "call site", rows, row, limit),
    ]
    return "\n".join(lines)


def _notes(memory: Memory) -> list[str]:
    """What the numbers lack."""
    found = []
    if memory.is_interrupted:
        found.append(
            "the program has stopped tracemalloc: what happened after that is not measured, and kept is not known"
        )
    if memory.shared.own:
        found.append(
            f"{file_size(memory.shared.own)} belong to one of several threads: they were allocated between an event of "
            f"one and an event of another"
        )
    return found


def _peak(memory: Memory, folders: list[str]) -> list[str]:
    peak = peak_of(memory)
    lines = [f"peak: {file_size(peak.bytes)}, {file_size(peak.alive)} of it alive at an event; in"]
    shown = peak.stack[-_CALLS_OF_PEAK:]
    if len(shown) < len(peak.stack):
        lines.append(f"  … {plural(len(peak.stack) - len(shown), 'call')} further out")
    for label in shown:
        lines.append(f"  {label[2] if label[0] == '~' else label_text(label, folders)}")
    return lines


def _site_text(site: Site, found: SiteAllocations, folders: list[str]) -> str:
    """A call site with its function and its source."""
    if site.file == found.function:
        return found.function
    line = f":{site.line}" if site.line else ""
    place = f"{short_path(site.file, folders)}{line}" + (f" in {found.function}" if found.function else "")
    text = site.text
    return f"{place}: {text}" if text else place


# ---- the call tree


class AllocatedBytes(CallTrees):
    """The calls of all threads, with the bytes that each of them has allocated."""

    name = "allocations"
    unit = "bytes"
    own_title = "bytes"
    site_title = "kept"
    names_scripts = False

    def __init__(self, memory: Memory) -> None:
        self.trees = trees_of(memory)
        self._memory = memory

    @functools.cached_property
    def _sites(self) -> dict[Site, SiteAllocations]:
        return sites_of(self._memory)

    def headline(self, totals: Mapping[Label, CallStatistics], own: float) -> str:
        """The line above the flame graph, from the statistics of the functions and the sum of the weights."""
        peak, kept = peak_of(self._memory).bytes, sum(site.kept for site in self._sites.values())
        return f"{file_size(int(own))} allocated, peak {file_size(peak)}, kept at the end: {file_size(kept)}"

    def site_rows(self, folders: list[str]) -> list[SiteRow]:
        """The call sites that keep memory, with paths relative to the folders."""
        return [
            (found.calls, found.kept, _site_text(site, found, folders), found.function)
            for site, found in self._sites.items()
            if found.kept
        ]
