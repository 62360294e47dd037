"""A bar chart as SVG: the costs of ways to run a program, on a logarithmic scale."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping

from benchmarks.chart_page import beginning

_LEFT, _WIDTH, _BAR, _GAP, _TOP = 150, 560, 11, 8, 52
_CONTEXT_COLOURS, _OTHER_COLOURS = (
    ("#1f6feb", "#79b8ff", "#0b3d91", "#a5d0ff", "#2d333b"),
    ("#8c6d1f", "#d8b24a", "#5c4508", "#ecd9a0"),
)
_LARGEST = 10_000.0


def bars(title: str, values: Mapping[str, Mapping[str, float]], contexts: frozenset[str]) -> str:
    """One group of bars per row of `values`, one bar per column of it; contexts have other colours than tools."""
    columns = list(dict.fromkeys(column for row in values.values() for column in row))
    group = len(columns) * _BAR + _GAP
    height = _TOP + len(values) * group + 34
    most = min(_LARGEST, max((value for row in values.values() for value in row.values()), default=10.0) * 1.3)
    scale = _WIDTH / math.log10(max(most, 10.0) / 0.9)

    def across(value: float) -> float:
        return _LEFT + scale * math.log10(max(value, 0.9) / 0.9)

    parts = beginning(title, _LEFT + _WIDTH + 70, height)
    for number, column in enumerate(columns):
        x = 10 + 130 * number
        parts.append(
            f'<rect x="{x}" y="28" width="10" height="10" fill="{_CONTEXT_COLOURS[number % len(_CONTEXT_COLOURS)]}"/>'
        )
        parts.append(
            f'<rect x="{x + 11}" y="28" width="10" height="10" fill="{_OTHER_COLOURS[number % len(_OTHER_COLOURS)]}"/>'
        )
        parts.append(f'<text x="{x + 26}" y="37">{html.escape(column)}</text>')
    for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000):
        if tick <= most:
            x = across(tick)
            colour = "#444" if tick == 1 else "#ddd"
            parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 6}" y2="{height - 28}" stroke="{colour}"/>')
            parts.append(f'<text x="{x:.1f}" y="{height - 14}" text-anchor="middle">{tick}</text>')
    for place, (name, row) in enumerate(values.items()):
        top = _TOP + place * group
        middle = top + len(columns) * _BAR / 2 + 4
        parts.append(f'<text x="{_LEFT - 8}" y="{middle:.1f}" text-anchor="end">{html.escape(name)}</text>')
        colours = _CONTEXT_COLOURS if name in contexts else _OTHER_COLOURS
        for number, column in enumerate(columns):
            if column not in row:
                continue
            end, y = across(row[column]), top + number * _BAR
            colour = colours[number % len(colours)]
            parts.append(
                f'<rect x="{across(0.9):.1f}" y="{y}" width="{max(end - across(0.9), 1):.1f}" height="{_BAR - 1}" '
                f'fill="{colour}"/><text x="{end + 3:.1f}" y="{y + 9}" font-size="9">{row[column]:.2f}</text>'
            )
    return "\n".join([*parts, "</svg>", ""])
