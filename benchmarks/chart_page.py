"""The beginning of a chart as SVG: its size, a white ground and its title. It knows nothing of what the chart shows."""

from __future__ import annotations

import html


def beginning(title: str, width: float, height: float) -> list[str]:
    """The lines of an SVG file up to the title; the chart appends its own lines, and `</svg>`."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">',
        f"<title>{html.escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="10" y="18" font-size="13" font-weight="bold">{html.escape(title)}</text>',
    ]
