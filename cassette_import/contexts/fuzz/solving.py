"""From a comparison to changes of the input: the other operand is written where its counterpart came from.

An operand is rarely in the input as it is compared: `int` has read digits, `struct` four bytes, `lower` a text. So it
is searched in the part of the input in each encoding, and its counterpart is written in the one that is found.
"""

from __future__ import annotations

import base64
import contextlib
import math
import operator
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final, NamedTuple

from cassette_import.contexts.fuzz.desired_values import DesiredValue, desired_values, shared_start
from cassette_import.contexts.fuzz.inputs import LEAVES, Edit, Path, is_huge, leaf_at
from cassette_import.contexts.fuzz.observer import Comparison
from cassette_import.contexts.fuzz.origins import Span

__all__ = ["edits", "exact_edits", "extrapolated", "is_checksum", "number_at"]

# ---- numbers that are computed from the input before they are compared


class Number(NamedTuple):
    """A number in an input: a leaf, or digits in a text."""

    span: Span
    value: Any
    leaf: Any

    def edit(self, number: Any) -> Edit:
        """The change that writes another number there."""
        if type(self.leaf) in (int, float):
            return Edit(self.span.path, None, None, type(self.leaf)(number))
        text = str(number)
        return Edit(self.span.path, self.span.start, self.span.end, text.encode() if type(self.leaf) is bytes else text)


def number_at(value: Any, span: Span) -> Number | None:
    """The number at a place, or None if there is none."""
    leaf = leaf_at(value, span.path)
    if type(leaf) in (int, float):
        return Number(span, leaf, leaf)
    if type(leaf) in (str, bytes):
        try:
            return Number(span, int(leaf[span.start : span.end]), leaf)
        except ValueError:
            return None
    return None


def extrapolated(number: Number, shifted: Any, before: Any, after: Any, wanted: Any) -> Iterator[Edit]:
    """The changes for which a computed number becomes the wanted one, if it depends on the input linearly.

    Parameters
    ----------
    number, shifted:
        The number in the input, and what it was in the second run.
    before, after:
        What was computed from both.
    wanted:
        What should be computed.
    """
    try:
        rise = Fraction(after) - Fraction(before)
        if rise:
            exact = (
                Fraction(number.value)
                + (Fraction(wanted) - Fraction(before)) * (Fraction(shifted) - Fraction(number.value)) / rise
            )
            if type(number.value) is float:
                yield number.edit(float(exact))
            else:
                yield from (number.edit(int(exact) + step) for step in ((0, 1, -1) if exact.denominator > 1 else (0,)))
    except (OverflowError, ValueError):  # not finite
        return


# ---- from a comparison to changes of the input: the other operand is written where its counterpart came from

_LONGEST: Final = 4096

Encoding = Callable[[Any, int], Any]
"""A value and the width of its place to text or bytes; an exception or None where the encoding has none."""


def edits(comparison: Comparison, value: Any) -> Iterator[Edit]:
    """The changes of an input that may give the arguments of a comparison their desired values."""
    for desired in desired_values(comparison.function, comparison.arguments):
        if desired.number >= len(comparison.arguments):
            continue
        if desired.how == "key":
            path = comparison.paths[desired.number]
            if path is not None and type(desired.value) is str and type(leaf_at(value, path)) is dict:
                for new in _NEW_VALUES:
                    yield Edit((*path, desired.value), None, None, new)
            continue
        path = comparison.paths[desired.number]
        if path is not None:
            yield from _edits_of_container(desired, leaf_at(value, path), path)
        for span in comparison.origins[desired.number]:
            yield from _edits_of_span(desired, comparison.arguments[desired.number], span, value)


_NEW_VALUES: Final[tuple[Any, ...]] = (0, "a", [], {}, [{}])
"""The values that a new key of a dict may have."""


def _edits_of_container(desired: DesiredValue, container: Any, path: Path) -> Iterator[Edit]:
    """A list or dict of the input becomes another value, or a list of another size."""
    if desired.how == "be" and path and type(desired.value) in _MADE:
        yield Edit(path, None, None, desired.value)
    elif desired.how == "size" and type(container) is list:
        for item in (1, "a"):
            more = [item] * (desired.value - len(container))
            yield Edit(path, None, None, [*container, *more][: desired.value])
            if container and more:  # what the end is compared with stays there
                yield Edit(path, None, None, [*container[:-1], *more, container[-1]])


_MADE: Final = (*LEAVES, list, dict)


def exact_edits(comparison: Comparison, value: Any) -> Iterator[Edit]:
    """The changes that write one operand in the encoding in which the other one is in the input."""
    if len(comparison.arguments) != 2:
        return
    for index in (0, 1):
        operand, other = comparison.arguments[index], comparison.arguments[1 - index]
        for span in comparison.origins[index]:
            leaf = leaf_at(value, span.path)
            if type(leaf) in (str, bytes):
                yield from _rewritten(operand, other, span, leaf)
            elif type(leaf) is type(other) and leaf == operand:
                yield Edit(span.path, None, None, other)


def is_checksum(comparison: Comparison, value: Any) -> bool:
    """Whether one operand is in the input and the other one is computed from another part of it."""
    if comparison.function not in (operator.eq, operator.ne) or not all(comparison.origins):
        return False
    found = []
    for operand, origin in zip(comparison.arguments, comparison.origins, strict=True):
        places = ((span, leaf_at(value, span.path)) for span in origin)
        found.append(any(_is_in(operand, span, leaf) for span, leaf in places))
    return found.count(True) == 1


def _is_in(operand: Any, span: Span, leaf: Any) -> bool:
    if type(leaf) in (str, bytes):
        return next(_rewritten(operand, operand, span, leaf), None) is not None
    return type(leaf) is type(operand) and bool(leaf == operand)


def _edits_of_span(desired: DesiredValue, operand: Any, span: Span, value: Any) -> Iterator[Edit]:
    leaf = leaf_at(value, span.path)
    if type(leaf) in (int, float):
        with contextlib.suppress(OverflowError):  # an integer is too large for a float
            for number in _numbers(desired, operand, leaf):
                yield Edit(span.path, None, None, number)
    elif type(leaf) in (str, bytes):
        yield from _texts(desired, operand, span, leaf)
    is_other_type = type(desired.value) in _MADE and type(desired.value) is not type(leaf)
    if is_other_type and span.path and desired.how == "be" and type(operand) is type(leaf) and operand == leaf:
        yield Edit(span.path, None, None, desired.value)


# ---- numbers


def _numbers(desired: DesiredValue, operand: Any, leaf: Any) -> Iterator[Any]:
    """Numbers for a leaf from which the operand was computed: the same, shifted or scaled."""
    wanted = desired.value
    if isinstance(wanted, (str, bytes)):
        try:
            wanted = type(leaf)(wanted)
        except ValueError:
            return
    if not _are_numbers(operand, wanted) or desired.how != "be":
        return
    yield _as(leaf, wanted)
    if operand != leaf:
        yield _as(leaf, leaf + (wanted - operand))
        yield _as(leaf, leaf - (wanted - operand))
        if operand:
            yield _as(
                leaf, leaf * wanted // operand if type(leaf) is int and type(wanted) is int else leaf * wanted / operand
            )
        if operand == leaf * leaf and wanted >= 0:
            yield _as(leaf, math.isqrt(int(wanted)) if type(leaf) is int else math.sqrt(wanted))


def _are_numbers(*values: Any) -> bool:
    return all(type(one) in (int, float) and (type(one) is int or math.isfinite(one)) for one in values)


def _as(leaf: Any, number: Any) -> Any:
    return int(number) if type(leaf) is int else float(number) if abs(number) < 1e300 else leaf


# ---- texts


def _texts(desired: DesiredValue, operand: Any, span: Span, leaf: Any) -> Iterator[Edit]:
    region = leaf[span.start : span.end]
    path, start, end = span
    if desired.how == "longer":
        for more in ("0", "a0", "a" * 16):
            yield Edit(path, end, end, _like(leaf, more))
        return
    if desired.how == "size":
        for separator in (" ", ",", "\n"):
            yield Edit(path, end, end, _like(leaf, f"{separator}a" * (desired.value - len(operand))))
        return
    written = _written(leaf, desired.value)
    if desired.how in ("begin", "end", "contain"):
        if written is None:
            return
        if desired.start and len(operand) == len(region):
            start += min(desired.start, len(region))
        if desired.how != "end":
            yield Edit(path, start, min(start + len(written), end), written)
            yield Edit(path, start, start, written)
        if desired.how != "begin":
            yield Edit(path, max(start, end - len(written)), end, written)
            yield Edit(path, end, end, written)
        return
    yield from _rewritten(operand, desired.value, span, leaf)
    if written is not None:
        yield Edit(path, start, end, written)
    yield from _resized(desired, operand, span, region)


def _rewritten(operand: Any, wanted: Any, span: Span, leaf: Any) -> Iterator[Edit]:
    """The operand, where it is found in the span in some encoding, is overwritten in this encoding."""
    region = leaf[span.start : span.end]
    pairs = list(_encoded_pairs(operand, wanted, leaf, len(region)))
    if type(operand) is type(wanted) and type(operand) in (str, bytes):
        pairs += _encoded_pairs(*_differing(operand, wanted), leaf, len(region))
    for old, new in pairs:
        place = region.find(old)
        while place >= 0:
            start = span.start + place
            yield Edit(span.path, start, start + len(old), new)
            if len(new) > len(old):  # the width of the format is kept: more of what follows is overwritten
                yield Edit(span.path, start, start + len(new), new)
            place = region.find(old, place + 1)
            if len(old) < 2:
                break


def _differing(one: Any, other: Any) -> tuple[Any, Any]:
    """Two texts without what both begin and end with: a program may have added it to a part of the input."""
    before = shared_start(one, other)
    one, other = one[before:], other[before:]
    after = shared_start(one[::-1], other[::-1])
    return one[: len(one) - after], other[: len(other) - after]


def _resized(desired: DesiredValue, operand: Any, span: Span, region: Any) -> Iterator[Edit]:
    """If the operand may be the length of the region: a region of the desired length."""
    size = desired.value
    if type(operand) is int and operand == len(region) and type(size) is int and 0 <= size <= _LONGEST:
        repeated = region * (size // len(region) + 1) if region else _like(region, "a" * size)
        yield Edit(span.path, span.start, span.end, repeated[:size])


def _like(leaf: Any, text: str) -> Any:
    return text.encode("utf-8", "surrogatepass") if type(leaf) is bytes else text


def _written(leaf: Any, value: Any) -> Any:
    """A value as text of the leaf's type."""
    if isinstance(value, bool) or value is None or (type(value) is int and is_huge(value)):
        return None
    if type(value) is bytes:
        return value if type(leaf) is bytes else value.decode("latin-1")
    try:
        return _like(leaf, str(value))
    except Exception:  # it is an object of the program, which cannot be shown
        return None


def _encoded_pairs(operand: Any, wanted: Any, leaf: Any, width: int) -> Iterator[tuple[Any, Any]]:
    """The operand and the desired value, in each encoding that both have."""
    seen = set()
    for encoding in _ENCODINGS.get(_kind(operand), ()) if _kind(operand) == _kind(wanted) else ():
        try:
            pair = _written(leaf, encoding(operand, width)), _written(leaf, encoding(wanted, width))
        except (ValueError, OverflowError, TypeError):
            continue
        if pair[0] and pair[1] is not None and pair not in seen:
            seen.add(pair)
            yield pair


def _kind(value: Any) -> str:
    return {str: "text", bytes: "bytes", int: "int", float: "float"}.get(type(value), "")


def _of_size(size: int, order: Any) -> Encoding:
    return lambda value, _: (
        (value & (1 << 8 * size) - 1).to_bytes(size, order) if value.bit_length() <= 8 * size else None
    )


def _in_case(change: Callable[[str], str]) -> Encoding:
    return lambda value, _: change(value)


_ENCODINGS: Final[dict[str, tuple[Encoding, ...]]] = {
    "text": (
        *(_in_case(change) for change in (str.__str__, str.upper, str.lower, str.swapcase)),
        lambda value, _: value.encode().hex(),
        lambda value, _: base64.b64encode(value.encode()),
        lambda value, _: value[::-1],
    ),
    "bytes": (
        lambda value, _: value,
        lambda value, _: value.hex(),
        lambda value, _: value.hex().upper(),
        lambda value, _: base64.b64encode(value),
        lambda value, _: value[::-1],
    ),
    "int": (
        *(_of_size(size, order) for size in (8, 4, 2) for order in ("big", "little")),
        lambda value, width: f"{value:0{width}d}",
        lambda value, width: f"{value:0{width}x}",
        lambda value, width: f"{value:0{width}X}",
        lambda value, _: str(value),
        lambda value, _: f"{value:x}",
        lambda value, _: _one_character(value),
    ),
    "float": (lambda value, _: repr(value), lambda value, _: f"{value:g}"),
}


def _one_character(value: int) -> Any:
    """The character or byte with a number, as `ord` and subscripts of bytes give it."""
    return bytes([value]) if value < 256 else chr(value)
