"""The context `Precision`: each float has a shadow of high precision, and each expression the bits that it lost.

The metadata of a number is its `Shadow`: the exact value, and the expressions that lost bits on the way to it.
"""

from __future__ import annotations

import functools
import html
import linecache
import math
import numbers
import operator
import struct
from collections.abc import Callable, Container, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from threading import get_ident
from types import FunctionType
from typing import Any, ClassVar, Final, NamedTuple

from cassette_import.activation.tagging import NO_METADATA, allmetadata, metadata, tag
from cassette_import.errors import NotOverdubbable
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.installed_packages import needs
from cassette_import.kits.events import CallSite, nearest_site
from cassette_import.kits.numbers.composed_calls import compose
from cassette_import.kits.numbers.compositions import COMPOSITIONS
from cassette_import.kits.numbers.lost_numbers import REAL_NUMBERS, UNKNOWN, LosesNothing, unshared
from cassette_import.kits.numbers.overloads import call_without_overload, fold_call, runs_own_method, without_modulus
from cassette_import.kits.numbers.row import Row
from cassette_import.kits.numbers.table import COUNTS, NUMBERS, row_of
from cassette_import.kits.options import check_number
from cassette_import.kits.reporting import Writer
from cassette_import.kits.tagging import leaf_name, plain
from cassette_import.kits.text import plural, search_folders, short_path, text_writer

__all__ = [
    "ALL_BITS", "DECISIONS", "FOLDS", "OF_NUMBERS", "RULES", "Culprit", "MPContext", "Precision", "Shadow",
    "annotated_source", "bits_between", "culprit_lines", "exact", "rule_of", "with_sign_of_zero",
]  # fmt: skip


# ---- the rules of functions of numbers, as data: the exact result for exact arguments, in mpmath's arithmetic
#
# Each rule gets mpmath's context, which has the working precision, and the arguments as its numbers.

try:
    from mpmath.ctx_mp import MPContext
except ModuleNotFoundError as error:  # pragma: no cover - without the extra
    raise ModuleNotFoundError(needs("precision", "mpmath", "precision"), name="mpmath") from error


Rule = Callable[..., Any]


def exact(mp: Any, number: Any) -> Any:
    """A number of the program as a number of mpmath; floats and integers are not rounded."""
    if isinstance(number, Fraction):
        return mp.mpf(number.numerator) / number.denominator
    return mp.mpf(str(number)) if isinstance(number, Decimal) else mp.convert(number)


def _round(mp: Any, x: Any, digits: Any = None) -> Any:
    scale = mp.mpf(10) ** (digits or 0)
    return mp.nint(x * scale) / scale


def _by(function: Callable[..., Any]) -> Rule:
    return lambda mp, *arguments: function(*arguments)


class Digits:
    """The arithmetic in which the column `value` of the table of functions is the exact result.

    Functions that are not methods here are those of mpmath.
    """

    __slots__ = ("_mp",)

    def __init__(self, mp: Any) -> None:
        self._mp = mp

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mp, name)

    def number(self, value: int) -> Any:
        """An integer as a number."""
        return self._mp.mpf(value)

    def power(self, x: Any, y: Any) -> Any:
        """A power; one with an integer as the exponent is a product."""
        return x ** int(y) if self._mp.isint(y) and abs(y) < 10**6 else x**y

    def exp2(self, x: Any) -> Any:
        """A power of two."""
        return self._mp.mpf(2) ** x

    def log2(self, x: Any) -> Any:
        """The binary logarithm."""
        return self._mp.log(x, 2)

    def lgamma(self, x: Any) -> Any:
        """The logarithm of the size of the gamma function."""
        return self._mp.log(abs(self._mp.gamma(x)))

    def cbrt(self, x: Any) -> Any:
        """The cube root."""
        return -self._mp.cbrt(-x) if x < 0 else self._mp.cbrt(x)

    def trunc(self, x: Any) -> Any:
        """A number without its fraction."""
        return self._mp.floor(x) if x >= 0 else self._mp.ceil(x)

    def nearest(self, x: Any) -> Any:
        """The nearest integer; of two, the even one."""
        return self._mp.nint(x)

    def is_negative(self, x: Any) -> bool:
        """Whether a number is below zero."""
        return bool(x < 0)


def rule_of(row: Row) -> Rule:
    """The rule for the column `value` of a row."""
    value = row.value
    assert value is not None
    if isinstance(value, str):
        return lambda mp, *arguments: getattr(Digits(mp), value)(*arguments)
    return lambda mp, *arguments: value(Digits(mp), *arguments)


def with_sign_of_zero(row: Row | None, operands: Sequence[Any], value: float, found: Any) -> Any:
    """An exact result with the sign that a zero among the operands gives it: exact numbers have no negative zero."""
    if row is None or row.sign_of is None or operands[row.sign_of] != 0:
        return found
    return abs(found) if math.copysign(1.0, value) > 0 else -abs(found)


RULES: Final[dict[Any, Rule]] = {
    **{function: rule_of(row) for row in NUMBERS if row.value is not None for function in row.functions},
    round: _round,
}
"""Functions whose result is a float, for at least some arguments."""

DECISIONS: Final[dict[Any, Rule]] = {
    **{getattr(operator, name): _by(getattr(operator, name)) for name in ("lt", "le", "eq", "ne", "ge", "gt")},
    math.floor: lambda mp, x: int(mp.floor(x)),
    math.ceil: lambda mp, x: int(mp.ceil(x)),
    math.trunc: lambda mp, x: int(x),
    int: lambda mp, x: int(x),
    float.is_integer: lambda mp, x: mp.isint(x),
    math.isclose: lambda mp, x, y: abs(x - y) <= mp.mpf(1e-9) * max(abs(x), abs(y)),
    operator.truth: lambda mp, x: x != 0,
    bool: lambda mp, x: x != 0,
    operator.not_: lambda mp, x: x == 0,
}
"""Functions whose result is a truth value or an integer: floats may decide otherwise than exact numbers."""


def _extreme(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Sequence[Any]], Any]:
    return lambda mp, items: functools.reduce(lambda x, y: y if compare(y, x) else x, items)


def _product(mp: Any, items: Sequence[Any]) -> Any:
    return functools.reduce(operator.mul, items, mp.mpf(1))


FOLDS: Final[dict[Any, Callable[[Any, Sequence[Any]], Any]]] = {
    sum: lambda mp, items: mp.fsum(items),
    math.fsum: lambda mp, items: mp.fsum(items),
    math.prod: _product,
    min: _extreme(operator.lt),
    max: _extreme(operator.gt),
}
"""Functions of the items of an iterable."""


# ---- the expressions of a program, and the bits that each one lost
#
# An expression loses bits if its operands are right to the last bit and its result is not: the *local error* of
# Herbgrind (Sanchez-Stern and others, "Finding root causes of floating point error", 2018), in bits of the 53 that a
# float has.

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


# ---- the context `Precision`: each float has a shadow of high precision, and each expression the bits that it lost

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
        self._losses: dict[CallSite, tuple[float, int]] = {}
        """The most bits that the expression at each call site has lost, and how often it has."""
        self._decisions: dict[CallSite, int] = {}
        self.composing: set[int] = set()
        """The threads that run a composition, which computes what a leaf does in another way than the leaf."""

    @property
    def culprits(self) -> list[Culprit]:
        """The expressions that lost bits; the one that lost most comes first."""
        return self.culprits_of(self._losses)

    @property
    def decisions(self) -> dict[CallSite, int]:
        """The comparisons and roundings that exact numbers would have decided otherwise, with how often."""
        return dict(self._decisions)

    def culprits_of(self, sites: Container[CallSite]) -> list[Culprit]:
        """The expressions at some call sites; the one that lost most comes first."""
        culprits = [
            Culprit(site.filename, site.lineno, site.source, bits, calls, site)
            for site, (bits, calls) in list(self._losses.items())
            if site in sites
        ]
        return sorted(culprits, key=lambda culprit: -culprit.bits)

    def forked(self) -> None:
        """Start with no expressions in a forked process."""
        self._losses.clear()
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
        most, calls = self._losses.get(site, (0.0, 0))
        self._losses[site] = max(most, bits), calls + 1
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


# ---- the overloads of `Precision` for functions of numbers, folds and sorting
#
# Importing the module registers them. The overloads are hidden frames, because the program may inspect its callers.


@hidden
def _apply(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    values = [plain(argument) for argument in arguments]
    if keywords or not _are_numbers(values) or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    value = f(*values)
    if not isinstance(value, float):
        return value
    operands = [ctx.shadow_of(argument).value for argument in arguments]
    try:
        found = with_sign_of_zero(row_of(f), operands, value, RULES[f](ctx.mp, *operands))
    except (ArithmeticError, ValueError, TypeError):
        return value  # outside of the domain of exact numbers: the float is a new input
    if not ctx.mp.isfinite(found) or isinstance(found, ctx.mp.mpc):
        return value
    return ctx.with_shadow(value, found, arguments, lambda given: f(*given))


@hidden
def _decide(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    values = [plain(argument) for argument in arguments]
    if keywords or not allmetadata(ctx, *arguments) or not _are_numbers(values) or runs_own_method(f, arguments):
        return call_without_overload(f, arguments, keywords)
    value = f(*values)
    ctx.decided(value, DECISIONS[f](ctx.mp, *(ctx.shadow_of(argument).value for argument in arguments)))
    return value


def _are_numbers(values: list[Any]) -> bool:
    return all(isinstance(value, REAL_NUMBERS) for value in values)


@hidden
def _fold(ctx: Any, f: Any, items: Any, *more: Any, **keywords: Any) -> Any:
    call = fold_call(f, items, more, keywords)
    operands = call.operands
    values = [plain(operand) for operand in operands]
    if (
        not any(isinstance(value, float) for value in values)
        or set(keywords) - {"start"}
        or not _are_numbers(values)
        or runs_own_method(f, operands)
    ):
        return call_without_overload(f, call.arguments, keywords)
    value = call.value_of(values)
    if not isinstance(value, float):
        return value
    found = FOLDS[f](ctx.mp, [ctx.shadow_of(operand).value for operand in operands])
    return ctx.with_shadow(value, found, operands, call.value_of)


@hidden
def _compose(ctx: Any, f: Any, *arguments: Any, **keywords: Any) -> Any:
    thread = get_ident()
    if thread in ctx.composing:
        return compose(ctx, f, *arguments, **keywords)
    ctx.composing.add(thread)
    try:
        return compose(ctx, f, *arguments, **keywords)
    finally:
        ctx.composing.discard(thread)


OF_NUMBERS: Final[dict[Any, Callable[..., Any]]] = {**dict.fromkeys(RULES, _apply), **dict.fromkeys(DECISIONS, _decide)}
"""The overload of each function of numbers."""

for _function, _overload in OF_NUMBERS.items():
    Precision.overdub.register(_function)(_overload)
Precision.overdub.register(pow)(without_modulus(_apply))
for _function in FOLDS:
    Precision.overdub.register(_function)(_fold)
for _function in COMPOSITIONS:
    if _function not in RULES:
        Precision.overdub.register(_function)(_compose)
