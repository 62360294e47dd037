"""The table of allocations: call sites with bytes, what is left and kept, and the peak with its calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cassette_import.contexts.allocations.memory import Memory
from cassette_import.contexts.allocations.statistics import Site, SiteAllocations, peak_of, sites_of
from cassette_import.contexts.common.text import file_size, plural, search_folders, short_path

__all__ = ["ORDERS", "site_text", "table"]

ORDERS: Final[dict[str, Callable[[SiteAllocations], int]]] = {
    "bytes": lambda site: site.bytes,
    "cumulative": lambda site: site.cumulative,
    "left": lambda site: site.left,
    "kept": lambda site: site.kept,
    "peak": lambda site: site.peak,
    "alive": lambda site: site.alive,
}
"""What the table can be sorted by, by the name that the option `sort` takes."""
_CALLS_OF_PEAK: Final = 8
"""How many of the innermost calls in progress at the peak are shown."""


def table(memory: Memory, sort: str, limit: int | None = None) -> str:
    """The call sites, one on each line, those with the largest values first; at most `limit` of them."""
    sites = sites_of(memory)
    if not any(site.calls or site.kept or site.alive for site in sites.values()):
        return "allocations: nothing was called"
    folders = search_folders()
    order = ORDERS[sort]
    rows = sorted(sites.items(), key=lambda entry: (-order(entry[1]), -entry[1].bytes, entry[0]))
    kept, blocks = sum(site.kept for _, site in rows), sum(site.blocks for _, site in rows)
    lines = [
        f"allocations: {file_size(sum(site.bytes for _, site in rows))} in {plural(len(rows), 'call site')}, "
        f"kept at the end: {file_size(kept)} in {plural(blocks, 'block')}; sorted by {sort}",
        *_notes(memory),
        "",
        *_peak(memory, folders),
        "",
        f"{'calls':>9} {'bytes':>12} {'cumulative':>12} {'left':>12} {'peak':>12} {'alive':>12} {'kept':>12} "
        f"{'blocks':>8}  call site",
    ]
    lines += [_row(site, found, folders) for site, found in rows[:limit]]
    if limit is not None and limit < len(rows):
        lines.append(f"{'…':>9} {plural(len(rows) - limit, 'further row')}")
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
    for filename, line, name in shown:
        lines.append(f"  {name if filename == '~' else f'{short_path(filename, folders)}:{line}({name})'}")
    return lines


def _row(site: Site, found: SiteAllocations, folders: list[str]) -> str:
    return (
        f"{found.calls:>9} {found.bytes:>12} {found.cumulative:>12} {found.left:>12} {found.peak:>12} "
        f"{found.alive:>12} {found.kept:>12} {found.blocks:>8}  {site_text(site, found, folders)}"
    )


def site_text(site: Site, found: SiteAllocations, folders: list[str]) -> str:
    """A call site with its function and its source."""
    if site.file == "~":
        return found.function
    place = f"{short_path(site.file, folders)}:{site.line}" + (f" in {found.function}" if found.function else "")
    text = site.text
    return f"{place}: {text}" if text else place
