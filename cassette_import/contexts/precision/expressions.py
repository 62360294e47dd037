"""The expressions of a program, and the bits that each one lost.

An expression loses bits if its operands are right to the last bit and its result is not: the *local error* of
Herbgrind (Sanchez-Stern and others, "Finding root causes of floating point error", 2018), in bits of the 53 that a
float has.
"""

from __future__ import annotations

import html
import linecache
import math
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cassette_import.kits.text import search_folders, short_path
from cassette_import.runtime.dispatch.call_sites import CallSite

__all__ = ["Culprit", "Losses", "annotated_source", "bits_between", "culprit_lines"]

ALL_BITS = 53.0
"""The bits of a float: all are lost where numbers have other magnitudes, or one of them is NaN or infinite."""


class Culprit(NamedTuple):
    """An expression that lost bits.

    Attributes
    ----------
    file, line, text:
        Where it is, and its source text.
    bits:
        The most bits that it lost in one evaluation.
    calls:
        In how many evaluations it lost bits.
    callsite:
        The call site, with columns and the function.

    Example
    -------
    >>> from cassette_import.contexts.precision import shadow
    >>> worst = shadow(lambda x: (x + 1.0) - x, 1e16).culprits[0]
    >>> round(worst.bits), worst.calls
    (53, 1)
    """

    file: str
    line: int
    text: str
    bits: float
    calls: int
    callsite: CallSite


def bits_between(one: float, other: float) -> float:
    """How many bits of two floats differ: the logarithm of the number of floats between them, at most `ALL_BITS`.

    More floats are between numbers of other magnitudes or signs, such as 0.0 and 1e-20: no bit of the 53 is right then.

    >>> bits_between(1.0, 1.0), bits_between(1.0, 1.0 + 2**-52), bits_between(1.0, -1.0)
    (0.0, 1.0, 53.0)
    """
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    if not (math.isfinite(one) and math.isfinite(other)):
        return ALL_BITS
    return min(ALL_BITS, math.log2(1 + abs(_ordinal(one) - _ordinal(other))))


def _ordinal(number: float) -> int:
    """The number of floats between zero and a float, negative for negative ones."""
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    return int(bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF))


class Losses:
    """The bits that each call site has lost so far."""

    def __init__(self) -> None:
        self._losses: dict[CallSite, list[float]] = {}

    def add(self, site: CallSite, bits: float) -> None:
        """Note that an evaluation lost bits."""
        known = self._losses.setdefault(site, [0.0, 0.0])
        known[0] = max(known[0], bits)
        known[1] += 1

    def culprits(self, sites: Iterable[CallSite] | None = None) -> list[Culprit]:
        """The call sites, or some of them, as culprits; the one that lost most bits comes first."""
        chosen = list(self._losses) if sites is None else [site for site in self._losses if site in set(sites)]
        found = [
            Culprit(site.filename, site.lineno, site.source, self._losses[site][0], int(self._losses[site][1]), site)
            for site in chosen
        ]
        return sorted(found, key=lambda culprit: -culprit.bits)


def culprit_lines(culprits: Sequence[Culprit]) -> list[str]:
    """A line for each culprit: bits, place and expression."""
    folders = search_folders()
    return [
        f"{culprit.bits:5.1f} bits  {short_path(culprit.file, folders)}:{culprit.line} in"
        f" {culprit.callsite.function}: {' '.join(culprit.text.split())}"
        for culprit in culprits
    ]


def annotated_source(culprits: Sequence[Culprit], title: str) -> str:
    """A page of HTML with the source of all files that contain culprits; the lines show the bits that they lost."""
    parts = [_HEAD.format(title=html.escape(title))]
    folders = search_folders()
    for file in dict.fromkeys(culprit.file for culprit in culprits):
        lost: dict[int, list[Culprit]] = {}
        for culprit in culprits:
            if culprit.file == file:
                lost.setdefault(culprit.line, []).append(culprit)
        parts.append(f"<h2>{html.escape(short_path(file, folders))}</h2>\n<table>")
        for number, text in enumerate(linecache.getlines(file), 1):
            bits = max((culprit.bits for culprit in lost.get(number, ())), default=0.0)
            shown = f"{bits:.1f}" if bits else ""
            note = "; ".join(f"{culprit.text}: {culprit.bits:.1f} bits" for culprit in lost.get(number, ()))
            parts.append(
                f'<tr style="background: rgba(220, 40, 40, {min(bits / 80, 0.7):.2f})" title="{html.escape(note)}">'
                f"<td>{shown}</td><td>{number}</td><td><pre>{html.escape(text.rstrip())}</pre></td></tr>"
            )
        parts.append("</table>")
    return "\n".join([*parts, "</body></html>"])


_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font-family: sans-serif; color: #222; background: #fff }}
table {{ border-collapse: collapse; font-size: 13px }}
td {{ padding: 0 8px; text-align: right; white-space: nowrap }}
td:last-child {{ text-align: left }}
pre {{ margin: 0 }}
@media (prefers-color-scheme: dark) {{ body {{ color: #ddd; background: #1b1b1b }} }}
</style></head><body>
<h1>{title}</h1>
<p>Bits lost by the expressions of each line, of the 53 of a float.</p>"""
