"""Results as ratios, and their text: tables, and the sections of a document."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.ways import WAYS

SECTIONS: Final = ("own", "beginning", "growth", "tagging", "driver")
SKELETON: Final = "# Performance\n" + "".join(f"\n<!-- {name}: begin -->\n<!-- {name}: end -->\n" for name in SECTIONS)


class Results:
    """Ratios to plain Python by workload and way, and the errors."""

    def __init__(self, ways: Sequence[str]) -> None:
        self.ways = [way for way in ways if way != "plain"]
        self.seconds: dict[str, float] = {}
        self.ratios: dict[str, dict[str, float]] = {}
        self.notes: list[str] = []

    def mean(self, way: str) -> float | None:
        """The geometric mean over the workloads that ran in this way."""
        found = [ratios[way] for ratios in self.ratios.values() if way in ratios]
        return statistics.geometric_mean(found) if found else None

    def measured(self) -> list[str]:
        """The ways in which some workload ran."""
        return [way for way in self.ways if self.mean(way) is not None]

    def table(self) -> str:
        """Return a Markdown table: a row for each workload, a column for each way."""
        ways = self.measured()
        lines = [
            f"| workload | plain, s | {' | '.join(ways)} |",
            f"|---|--:|{'--:|' * len(ways)}",
            f"| **geometric mean** | | {' | '.join(f'**{_number(self.mean(way))}**' for way in ways)} |",
        ]
        for workload, ratios in self.ratios.items():
            cells = [f"{ratios[way]:.2f}" if way in ratios else "failed" for way in ways]
            lines.append(f"| {workload} | {self.seconds[workload]:.4f} | {' | '.join(cells)} |")
        return "\n".join(lines)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def summary(found: Mapping[str, Results]) -> str:
    """Return a Markdown table of geometric means: a row for each way, a column for each Python."""
    ways = dict.fromkeys(way for results in found.values() for way in results.measured())
    lines = [f"| | what runs | {' | '.join(found)} |", f"|---|---|{'--:|' * len(found)}"]
    for way in ways:
        cells = " | ".join(_number(results.mean(way)) for results in found.values())
        lines.append(f"| {way} | {WAYS[way].what} | {cells} |")
    return "\n".join(lines)


def side_by_side(found: Mapping[str, Sequence[Sequence[str]]], head: Sequence[str], keys: int = 1) -> str:
    """Return a Markdown table: a row for each key, which is the first cells; the other cells of each Python."""
    columns = [f"{name}, {python}" if len(found) > 1 else name for python in found for name in head[keys:]]
    by_key: dict[tuple[str, ...], dict[str, Sequence[str]]] = {}
    for python, rows in found.items():
        for row in rows:
            by_key.setdefault(tuple(row[:keys]), {})[python] = row[keys : len(head)]
    lines = [f"| {' | '.join([*head[:keys], *columns])} |", f"|{'---|' * keys}{'--:|' * len(columns)}"]
    for key, by_python in by_key.items():
        cells = [cell for python in found for cell in by_python.get(python, ["–"] * (len(head) - keys))]
        lines.append(f"| {' | '.join([*key, *cells])} |")
    return "\n".join(lines)


def section(title: str, command: str, how: str, body: str, notes: Sequence[str]) -> str:
    """Return the text between the marks of one section, which another one may have the command of."""
    wrong = "".join(f"\n- {note}" for note in notes)
    shown = ("```console", f"$ {command}", "```", "") if command else ()
    return "\n".join(
        (
            f"## {title}",
            "",
            *shown,
            how,
            "",
            body,
            *(("", f"Problems:\n{wrong}") if notes else ()),
        )
    )


def put_into(document: Path, name: str, text: str) -> None:
    """Replace a section of the document, or add it at its end; everything outside the marks stays."""
    whole = document.read_text(encoding="utf-8") if document.exists() else SKELETON
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if begin not in whole:
        whole = f"{whole.rstrip()}\n\n{begin}\n{end}\n"
    found = re.search(f"{re.escape(begin)}.*?{re.escape(end)}", whole, re.DOTALL)
    if found is None:
        raise SystemExit(f"{document}: there is no {begin} … {end}")
    document.write_text(f"{whole[: found.start()]}{begin}\n{text}\n{end}{whole[found.end() :]}", encoding="utf-8")
