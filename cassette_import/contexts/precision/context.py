"""The context `Precision`: each float has a shadow of high precision, and each expression the bits that it lost.

The metadata of a number is its `Shadow`: the exact value, and the expressions that lost bits on the way to it.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from threading import get_ident
from types import FunctionType
from typing import Any, ClassVar, Final, NamedTuple

from cassette_import.activation.tagging import NO_METADATA, metadata, tag
from cassette_import.contexts.precision.expressions import (
    ALL_BITS,
    Culprit,
    Losses,
    annotated_source,
    bits_between,
    culprit_lines,
)
from cassette_import.contexts.precision.rules import MPContext, exact
from cassette_import.errors import NotOverdubbable
from cassette_import.kits.numbers.lost_numbers import UNKNOWN, LosesNothing, unshared
from cassette_import.kits.numbers.sizes import COUNTS
from cassette_import.kits.options import check_number
from cassette_import.kits.reporting import Writer
from cassette_import.kits.text import plural, text_writer
from cassette_import.runtime.dispatch.call_sites import CallSite, nearest_site
from cassette_import.runtime.tagging.lost_metadata import leaf_name
from cassette_import.runtime.tagging.wrappers import plain

__all__ = ["REAL_NUMBERS", "Precision", "Shadow"]

REAL_NUMBERS: Final = (int, float, Fraction, Decimal)
_FEW_BITS: Final = 5.0
"""An expression is a culprit if it loses more bits than that: every rounding loses one."""
_NO_SITES: Final[frozenset[CallSite]] = frozenset()


class Shadow(NamedTuple):
    """The exact value of a number, and the call sites that lost bits on the way to it."""

    value: Any
    sites: frozenset[CallSite] = _NO_SITES


class Precision(LosesNothing, tagging=True):
    """Finds the expressions of a program that lose bits of their floats.

    Each float has a shadow: the value that exact arithmetic would give. The report lists the expressions whose result
    was wrong in more than five bits although their operands were right, as a cancellation is. A leaf for which no rule
    is known starts with the float that it returned; `escapes` lists it.

    Parameters
    ----------
    digits:
        The decimal digits of the arithmetic, at least 20: floats have up to 17.
    limit:
        How many expressions the list on the terminal shows. Files have all of them.

    Raises
    ------
    ValueError
        If an option is no number that makes sense. The message is one line.

    Example
    -------
    >>> from cassette_import import overdub
    >>> def small(x):
    ...     return (1 + x) - 1
    >>> precision = Precision()
    >>> overdub(precision, small, 1e-20)
    0.0
    >>> [round(culprit.bits) for culprit in precision.culprits]
    [53]
    """

    lost: ClassVar[str] = "report"

    def __init__(self, *, digits: int = 50, limit: int = 30) -> None:
        super().__init__()
        options: tuple[tuple[str, object, int], ...] = ("digits", digits, 20), ("limit", limit, 0)
        for name, value, least in options:
            check_number(name, value, least=least)
        self._limit = limit
        self.mp: Any = MPContext()
        self.mp.dps = digits
        self._losses = Losses()
        self._decisions: dict[CallSite, int] = {}
        self.composing: set[int] = set()
        """The threads that run a composition, which computes what a leaf does in another way than the leaf."""

    @property
    def culprits(self) -> list[Culprit]:
        """The expressions that lost bits; the one that lost most comes first."""
        return self._losses.culprits()

    @property
    def decisions(self) -> dict[CallSite, int]:
        """The comparisons and roundings that exact numbers would have decided otherwise, with how often."""
        return dict(self._decisions)

    def culprits_of(self, sites: frozenset[CallSite]) -> list[Culprit]:
        """The expressions at some call sites."""
        return self._losses.culprits(sites)

    def forked(self) -> None:
        """Start with no expressions in a forked process."""
        self._losses = Losses()
        self._decisions.clear()

    def input(self, value: float) -> Any:
        """A float of the arguments, tagged with itself."""
        return tag(unshared(value), self, Shadow(exact(self.mp, value)))

    def shadow_of(self, value: Any) -> Shadow:
        """The shadow of a number; that of a number without one is the number itself."""
        known = metadata(value, self)
        return known if isinstance(known, Shadow) else Shadow(exact(self.mp, plain(value)))

    def with_shadow(
        self, value: float, found: Any, operands: Sequence[Any], compute: Callable[[Sequence[Any]], Any]
    ) -> Any:
        """The result of an expression with its shadow.

        Parameters
        ----------
        value, found:
            The result, and the exact result.
        operands:
            The arguments.
        compute:
            The function for a list of floats.
        """
        shadows = [self.shadow_of(operand) for operand in operands]
        sites = self._sites_that_matter(value, operands, shadows, compute)
        local = self._local_error(found, operands, shadows, compute)
        return tag(value, self, Shadow(found, sites | self.note_loss(local)))

    def note_loss(self, bits: float) -> frozenset[CallSite]:
        """Note the bits that an expression has lost: its call site, if they are more than a few."""
        if bits <= _FEW_BITS or get_ident() in self.composing:
            return _NO_SITES
        site = nearest_site()
        self._losses.add(site, bits)
        return frozenset({site})

    def _local_error(self, found: Any, operands: Sequence[Any], shadows: list[Shadow], compute: Any) -> float:
        """The bits by which the result is wrong if all operands are right."""
        right = [_like(plain(operand), shadow.value) for operand, shadow in zip(operands, shadows, strict=True)]
        try:
            return bits_between(float(compute(right)), float(found))
        except (ArithmeticError, ValueError, TypeError):
            return ALL_BITS

    def _sites_that_matter(
        self, value: float, operands: Sequence[Any], shadows: list[Shadow], compute: Any
    ) -> frozenset[CallSite]:
        """The call sites of the operands whose error changes the result."""
        found = _NO_SITES
        values = [plain(operand) for operand in operands]
        for number, shadow in enumerate(shadows):
            if shadow.sites and not shadow.sites <= found:
                right = [*values[:number], _like(values[number], shadow.value), *values[number + 1 :]]
                try:
                    matters = bits_between(float(compute(right)), value) > 1
                except (ArithmeticError, ValueError):
                    matters = True
                if matters:
                    found |= shadow.sites
        return found

    def decided(self, value: Any, found: Any) -> None:
        """Note that a comparison or rounding had a result that exact numbers would not have given it."""
        if value != found:
            site = nearest_site()
            self._decisions[site] = self._decisions.get(site, 0) + 1

    def computed(self, value: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
        """What a leaf without a rule computes: its float is a new input, or the loss of the shadow is an error."""
        found = self.converted(f, arguments)
        if found is not NO_METADATA:
            return found
        if isinstance(value, bool) or id(f) in COUNTS:
            return NO_METADATA
        if self.lost == "error" and (value is None or isinstance(value, (numbers.Number, FunctionType))):
            raise self.no_exact_value(f, nearest_site())
        return UNKNOWN if self.lost == "error" else NO_METADATA

    def no_exact_value(self, f: Any, site: CallSite, reason: str = "no rule is known for it") -> NotOverdubbable:
        """The error for a call without exact values. It is raised again if the program catches it."""
        error = NotOverdubbable(
            f"there is no exact value of {leaf_name(f)}: {reason}, at {site}: {site.source}\n"
            "Compute the same with functions that have one, or, if it is Python, install its package"
        )
        self.refuse(error)
        return error

    def summary(self) -> str:
        """The expressions that lost bits, at most `limit` of them, and the decisions that would be others."""
        return self._text(self._limit)

    def _text(self, limit: int | None = None) -> str:
        culprits = self.culprits
        lines = [f"precision: {plural(len(culprits), 'expression')} that lost more than {_FEW_BITS:.0f} bits"]
        lines += culprit_lines(culprits[:limit])
        if limit is not None and len(culprits) > limit:
            lines.append(f"… {plural(len(culprits) - limit, 'further expression')}")
        for site, count in islice(self._decisions.items(), limit):
            lines.append(f"decided otherwise than exact numbers would, {plural(count, 'time')}: {site}: {site.source}")
        return "\n".join(lines)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the complete list, `.html` for the source with the bits that each line lost."""
        return {
            ".txt": text_writer(self._text, "backslashreplace"),
            ".html": text_writer(lambda: annotated_source(self.culprits, "Lost precision"), "backslashreplace"),
        }


def _like(value: Any, found: Any) -> Any:
    """An exact value as a number of the type that the program has: integers stay exact."""
    return value if isinstance(value, int) else float(found)
