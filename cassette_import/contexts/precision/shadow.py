"""The function `shadow`: how exact the result of an unmodified function is, and which expressions lost the bits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cassette_import.activation.tagging import metadata
from cassette_import.activation.verbs import overdub
from cassette_import.contexts.precision.context import (
    FOLDS,
    RULES,
    Culprit,
    Precision,
    Shadow,
    annotated_source,
    culprit_lines,
)
from cassette_import.errors import NotOverdubbable
from cassette_import.kits.events import CallSite
from cassette_import.kits.numbers.compositions import COMPOSITIONS
from cassette_import.kits.numbers.numeric_values import array_types, is_array
from cassette_import.kits.numbers.ruled_numbers import check_function
from cassette_import.kits.tagged_containers import with_items_read, with_items_tagged
from cassette_import.kits.tagging import plain
from cassette_import.kits.text import plural

__all__ = ["Shadowed", "shadow"]


class _Strict(Precision):
    """A leaf without a rule is an error."""

    lost = "error"


@dataclass(frozen=True)
class Shadowed:
    """The result of a function, and how exact it is.

    Attributes
    ----------
    value:
        The result of the function.
    exact:
        The exact result, in the same structure, with numbers of mpmath.
    relative_error:
        The error relative to the exact result, a float; of several numbers, the largest one.
    culprits:
        The expressions that lost the bits, the worst first.
    decisions:
        The call sites of comparisons and roundings that exact numbers would have decided otherwise, with how often.

    Example
    -------
    >>> found = shadow(lambda x: (x + 1.0) - x, 1e16)
    >>> found.value, found.relative_error
    (0.0, 1.0)
    """

    value: Any
    exact: Any
    relative_error: float
    culprits: list[Culprit]
    decisions: dict[CallSite, int]

    def __str__(self) -> str:
        lines = [f"{self.value!r}, relative error {self.relative_error:.2g}"]
        lines += culprit_lines(self.culprits)
        for site, count in self.decisions.items():
            lines.append(f"decided otherwise than exact numbers would, {plural(count, 'time')}: {site}: {site.source}")
        return "\n".join(lines)

    def html(self) -> str:
        """The source of the culprits as a page of HTML, with the bits that each line lost."""
        return annotated_source(self.culprits, "Lost precision")


def shadow(f: Callable[..., Any], *args: Any, digits: int = 50) -> Shadowed:
    """Run an unmodified function, with a shadow of high precision for each float.

    Parameters
    ----------
    f:
        A function of numbers. Its own module and installed packages are overdubbed.
    args:
        The arguments. Floats count as the binary numbers that they are.
    digits:
        The decimal digits of the shadows, at least 20: floats have up to 17.

    Returns
    -------
    The result with its exact value, its error, and the expressions that lost the bits. The function takes the branches
    that its floats decide on.

    Raises
    ------
    NotOverdubbable
        If a function without a rule computes a number from one with a shadow.
    ValueError
        If the result has no float.

    >>> import math
    >>> found = shadow(lambda x: math.sqrt(x + 1) - math.sqrt(x), 1e12)
    >>> found.value, float(found.exact)
    (5.00003807246685e-07, 4.99999999999875e-07)
    >>> [round(culprit.bits) for culprit in found.culprits]
    [35]
    """
    refusal = f"there is no exact value of {f!r}: it has no Python source, and no rule is known for it"
    check_function(f, (RULES, FOLDS, COMPOSITIONS), refusal)
    arrays = _arrays()
    ctx = _Strict(digits=digits) if arrays is None else arrays.ArrayPrecision(digits=digits)
    with ctx.checked():
        result = overdub(ctx, f, *[_given(ctx, argument) for argument in args])
    return _report(ctx, result)


def _arrays() -> Any:
    """The module for arrays, if the program has imported NumPy; otherwise None."""
    if not array_types():
        return None
    from cassette_import.contexts.precision import arrays

    return arrays


def _given(ctx: Precision, value: Any) -> Any:
    """An argument, with a shadow for each float."""
    if isinstance(value, float):
        return ctx.input(value)
    if is_array(value):
        arrays = _arrays()
        if value.dtype != "float64" or not isinstance(value, arrays.np.ndarray):
            raise NotOverdubbable(f"there are no shadows of arrays of {value.dtype}: give arrays of float64")
        return arrays.shadowed(ctx, value)
    return with_items_tagged(ctx, value, functools.partial(_given, ctx))


def _report(ctx: Precision, result: Any) -> Shadowed:
    found: list[tuple[float, Shadow]] = []
    exact = _read(ctx, result, found)
    if not found:
        raise ValueError(f"the function returned {plain(result)!r}, which contains no float")
    errors = [_relative_error(ctx, value, shadow.value) for value, shadow in found]
    sites = frozenset(
        site for (_, shadow), error in zip(found, errors, strict=True) if error > _SMALL for site in shadow.sites
    )
    return Shadowed(plain(result), exact, max(errors), ctx.culprits_of(sites), ctx.decisions)


_SMALL = 2.0**-50
"""The relative error of a result that is as good as right."""


def _relative_error(ctx: Precision, value: float, exact: Any) -> float:
    if not ctx.mp.isfinite(value):
        return float("inf")
    difference = abs(ctx.mp.mpf(value) - exact)
    return float(difference / abs(exact)) if exact else float("inf" if difference else 0.0)


def _read(ctx: Precision, value: Any, found: list[tuple[float, Shadow]]) -> Any:
    """A result with exact numbers; `found` gets its floats with their shadows."""
    bare = plain(value)
    if isinstance(bare, float):
        known = metadata(value, ctx)
        shadow = known if isinstance(known, Shadow) else ctx.shadow_of(bare)
        found.append((bare, shadow))
        return _of_mpmath(shadow.value)
    if is_array(bare) and bare.dtype == "float64":
        return _read_array(ctx, value, bare, found)
    return with_items_read(ctx, value, lambda part: _read(ctx, part, found))


def _read_array(ctx: Precision, value: Any, bare: Any, found: list[tuple[float, Shadow]]) -> Any:
    """The exact elements of an array, in an array of objects."""
    arrays = _arrays()
    known = metadata(value, ctx)
    if not isinstance(known, arrays.ArrayShadow):
        return bare
    exact = known.values.copy()
    for index, element in arrays.np.ndenumerate(bare):
        found.append((float(element), Shadow(known.values[index], known.sites)))
        exact[index] = _of_mpmath(known.values[index])
    return exact


def _of_mpmath(number: Any) -> Any:
    """A number of mpmath's own context, with all digits."""
    import mpmath

    return mpmath.mp.make_mpf(number._mpf_)
