"""Small line charts as SVG: how costs grow, one chart for each quantity, one line for each Python."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence

from benchmarks.chart_page import beginning

_COLOURS = ("#1f6feb", "#d8b24a", "#0b3d91", "#8c6d1f", "#2d333b")
_WIDTH, _HEIGHT, _LEFT, _TOP, _GAP = 150, 120, 44, 64, 62
Points = Sequence[tuple[float, float]]


def lines(title: str, charts: Mapping[str, Mapping[str, Points]]) -> str:
    """One chart for each quantity: sizes across (logarithmic), ratios to plain Python upwards, from 0."""
    names = list(dict.fromkeys(name for series in charts.values() for name in series))
    width = _LEFT + len(charts) * (_WIDTH + _GAP)
    parts = beginning(title, width, _TOP + _HEIGHT + 40)
    for number, name in enumerate(names):
        x = 10 + 90 * number
        parts.append(f'<rect x="{x}" y="28" width="10" height="10" fill="{_COLOURS[number % len(_COLOURS)]}"/>')
        parts.append(f'<text x="{x + 15}" y="37">{html.escape(name)}</text>')
    for place, (quantity, series) in enumerate(charts.items()):
        parts += _chart(_LEFT + place * (_WIDTH + _GAP), quantity, series, names)
    return "\n".join([*parts, "</svg>", ""])


def _chart(left: int, quantity: str, series: Mapping[str, Points], names: Sequence[str]) -> list[str]:
    sizes = sorted({size for points in series.values() for size, _ in points})
    most = max(ratio for points in series.values() for _, ratio in points) * 1.1
    span = math.log10(sizes[-1] / sizes[0]) or 1.0
    bottom = _TOP + _HEIGHT

    def at(size: float, ratio: float) -> str:
        x = left + _WIDTH * math.log10(size / sizes[0]) / span
        return f"{x:.1f},{bottom - _HEIGHT * ratio / most:.1f}"

    parts = [f'<text x="{left}" y="{_TOP - 8}">{html.escape(quantity)}</text>']
    for ratio in (0.0, most / 2, most):
        y = bottom - _HEIGHT * ratio / most
        parts.append(f'<line x1="{left}" x2="{left + _WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end" font-size="9">{ratio:.1f}</text>')
    for size in sizes:
        x = at(size, 0).partition(",")[0]
        parts.append(f'<text x="{x}" y="{bottom + 14}" text-anchor="middle" font-size="9">{size:g}</text>')
    for name, points in series.items():
        colour = _COLOURS[names.index(name) % len(_COLOURS)]
        path = " ".join(at(size, ratio) for size, ratio in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{place.partition(",")[0]}" cy="{place.partition(",")[2]}" r="2.5" fill="{colour}"/>'
            for place in path.split()
        ]
    return parts
