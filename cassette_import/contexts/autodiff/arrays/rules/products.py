"""The products of NumPy, as data: the subscripts that `einsum` needs for each of them.

Imported only if the program imports NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _matmul(x: int, y: int) -> str:
    batch = _LETTERS[: max(x - 2, y - 2, 0)]
    left = (batch[len(batch) - (x - 2) :] if x > 2 else "") + ("XZ" if x > 1 else "Z")
    right = (batch[len(batch) - (y - 2) :] if y > 2 else "") + ("ZY" if y > 1 else "Z")
    return f"{left},{right}->{batch}{'X' if x > 1 else ''}{'Y' if y > 1 else ''}"


def _dot(x: int, y: int) -> str:
    if not (x and y):
        return f"{_LETTERS[:x]},{_LETTERS[:y]}->{_LETTERS[: x or y]}"
    left, right = _LETTERS[: x - 1], _LETTERS[x - 1 : x + y - 2]
    return f"{left}Z,{right[:-1]}Z{right[-1:]}->{left}{right}"


def _inner(x: int, y: int) -> str:
    if not (x and y):
        return _dot(x, y)
    left, right = _LETTERS[: x - 1], _LETTERS[x - 1 : x + y - 2]
    return f"{left}Z,{right}Z->{left}{right}"


def _tensordot(x: int, y: int, axes: Any = 2) -> str:
    if isinstance(axes, (int, numpy.integer)):
        axes = list(range(-int(axes), 0)), list(range(int(axes)))
    over = [[part] if isinstance(part, (int, numpy.integer)) else list(part) for part in axes]
    left, right = list(_LETTERS[:x]), list(_LETTERS[x : x + y])
    for one, other in zip(*over, strict=True):
        right[other] = left[one]
    return f"{''.join(left)},{''.join(right)}->{''.join(c for c in left + right if (c in left) != (c in right))}"


PRODUCTS: Final[dict[Any, Callable[..., str]]] = {
    numpy.matmul: _matmul,
    numpy.dot: _dot, numpy.ndarray.dot: _dot,
    numpy.inner: _inner,
    numpy.tensordot: _tensordot,
}  # fmt: skip
"""For each product, a function from the numbers of axes of both arrays to the subscripts for `einsum`."""


def explicit_subscripts(subscripts: Any, counts: list[int]) -> str | None:
    """Subscripts of `einsum` with `...` and the result written out, for operands with these numbers of axes.

    None if an operand has a letter twice, or the subscripts are no text.
    """
    if not isinstance(subscripts, str):
        return None
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    words = inputs.split(",")
    if len(words) != len(counts):
        return None
    free = [letter for letter in _LETTERS if letter not in subscripts]
    more = [
        count - len(word.replace("...", "")) if "..." in word else 0 for word, count in zip(words, counts, strict=True)
    ]
    rest = "".join(free[: max(more, default=0)])
    words = [word.replace("...", rest[len(rest) - count :]) for word, count in zip(words, more, strict=True)]
    if any(len({*word}) != len(word) for word in words):
        return None
    if not arrow:
        seen = "".join(words)
        output = rest + "".join(sorted(letter for letter in {*seen} if seen.count(letter) == 1 and letter not in rest))
    return f"{','.join(words)}->{output.replace('...', rest)}"
