"""Random changes of inputs: parts of texts, numbers, and the structure of lists and dicts."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from cassette_import.contexts.fuzz.inputs import Edit, applied, copied, is_huge, leaves

__all__ = ["CHARACTERS", "Mutator", "minimised"]

# ---- smaller inputs that still show a finding: parts are left out, then what is left is made plain


def minimised(value: Any, shown: Callable[[Any], Any], most: int) -> Any:
    """A smaller input with the same finding.

    Parameters
    ----------
    value:
        The input.
    shown:
        Returns the input, or one much like it, if that shows the finding; otherwise None.
    most:
        How often `shown` may be called.

    Returns
    -------
    The smallest input that was found; the input itself if there is none.

    >>> minimised("some 42 text", lambda text: text if "4" in text else None, 100)
    '4'
    """
    left, step, improved = most, 0, False
    while left > 0:
        for number, candidate in enumerate(_candidates(value)):
            if number < step:
                continue
            if left <= 0:
                return value
            left -= 1
            found = shown(candidate)
            if found is not None:
                value, step, improved = found, number, True
                break
        else:
            if not improved:
                return value
            step, improved = 0, False
    return value


def _candidates(value: Any) -> Iterator[Any]:
    """Inputs that are smaller or plainer, the smallest ones first."""
    for path, part in leaves(value):
        for new in _smaller(part):
            yield new if not path else applied(value, Edit(path, None, None, new))


def _smaller(part: Any) -> Iterator[Any]:
    if type(part) in (str, bytes):
        yield from _shorter(part)
        yield from _plainer(part)
    elif type(part) is list:
        yield from _shorter(part)
    elif type(part) is dict:
        for key in part:
            yield {other: item for other, item in part.items() if other != key}
    elif type(part) in (int, float):
        yield from (new for new in (type(part)(0), type(part)(1), _half(part)) if abs(new) < abs(part))


def _half(number: Any) -> Any:
    try:
        return (
            type(number)(int(number / 2))
            if type(number) is float
            else int(abs(number) // 2) * (1 if number > 0 else -1)
        )
    except (OverflowError, ValueError):
        return type(number)(1)


def _shorter(part: Any) -> Iterator[Any]:
    size = len(part)
    while size:
        for start in range(0, len(part), size):
            yield part[:start] + part[start + size :]
        size //= 2


def _plainer(text: Any) -> Iterator[Any]:
    """The text with one character made plain, each in its turn."""
    plain = ("0", "a") if type(text) is str else (b"0", b"a")
    for place in range(min(len(text), 100)):
        for one in plain:
            if text[place : place + 1] not in plain[: plain.index(one) + 1]:
                yield text[:place] + one + text[place + 1 :]


# ---- random changes of inputs: parts of texts, numbers, and the structure of lists and dicts

T = TypeVar("T")

_INTERESTING: Final = (
    0, 1, -1, 2, 7, 8, 10, 16, 100, 127, 128, 255, 256, 1000, 32767, 65535, 2**31 - 1, 2**31, 2**63, -(2**31),
)  # fmt: skip
_FLOATS: Final = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, 1e9, 1e308, 5e-324, math.inf, -math.inf, math.nan)
CHARACTERS: Final = "0123456789aAbzZ_ \n\t\r.,:;+-*/%=<>!?&|^~#@$\\'\"`()[]{}\0é€\U0001f600"
_SEPARATORS: Final = ("\n", "\n", "\n", " ", ",", ",", ";", "=", ".", ":", "&", "/", "(", ")", "[", "]", "{", "}", '"')
_SEPARATORS_OF_BYTES: Final = tuple(one.encode() for one in (*_SEPARATORS, "\0"))
_SHARE_OF_PIECES: Final = 0.2
_WAYS_OF_PIECES: Final = ("copy", "copy", "move", "drop", "replace", "replace", "insert")
_REPEATS: Final = (*(2,) * 7, *(3,) * 5, *(8,) * 4, 40, 40, 400, 400)


class Mutator:
    """Makes new inputs of old ones.

    Attributes
    ----------
    tokens:
        Texts, bytes and numbers that are written into inputs.
    """

    def __init__(self, chance: random.Random, longest: int) -> None:
        self.chance = chance
        self._fraction = chance.random
        self.longest = longest
        self.tokens: list[Any] = []
        self._known: set[Any] = set()

    def pick(self, items: Sequence[T]) -> T:
        """One of the items at random: `random.choice` takes twice as long."""
        return items[int(self._fraction() * len(items))]

    def add_token(self, token: Any) -> None:
        """Write a value into inputs from now on."""
        key = type(token), token
        if type(token) is int and is_huge(token):
            return
        if key not in self._known and len(self.tokens) < 2000:
            self._known.add(key)
            self.tokens.append(token)

    def mutated(self, value: Any, other: Any) -> Any:
        """A changed copy; `other` is an input of which parts may be taken."""
        made = copied(value)
        for _ in range(1 << self.pick((0, 0, 1, 1, 2, 3))):
            made = self._changed(made, other)
        return made

    def _changed(self, value: Any, other: Any) -> Any:
        if type(value) in (str, bytes):
            return self._text(value, other)
        path, part = self.pick(list(leaves(value)))
        if path and self.chance.random() < 0.1:
            return applied(value, Edit(path, None, None, self._new_part(other)))
        change = _CHANGES.get(type(part))
        new = self._new_part(other) if change is None else change(self, part, other)
        return new if not path else applied(value, Edit(path, None, None, new))

    def _new_part(self, other: Any) -> Any:
        """A part of another input, a token, or a small value."""
        if self.chance.random() < 0.5:
            return copied(self.pick(list(leaves(other)))[1])
        if self.tokens and self.chance.random() < 0.5:
            return self.pick(self.tokens)
        return copied(self.pick((0, 1, -1, 0.5, "", "a", True, None, [], {})))

    # ---- numbers

    def _integer(self, number: int, other: Any) -> int:
        way = self.chance.randrange(5)
        if way == 0:
            return self.pick(_INTERESTING)
        if way == 1:
            return number ^ (1 << self.chance.randrange(64))
        if way == 2 and self.tokens:
            token = self.pick(self.tokens)
            return token if type(token) is int else -number
        return number + self.pick((1, -1)) * self.pick((1, 2, 10, 100, self.chance.randrange(1 << 16)))

    def _float(self, number: float, other: Any) -> float:
        way = self.chance.randrange(5)
        if way == 0 or not math.isfinite(number):
            return self.pick(_FLOATS)
        if way == 1:
            return number * self.pick((-1.0, 0.5, 2.0, 10.0, 0.1))
        if way == 2 and self.tokens:
            token = self.pick(self.tokens)
            return float(token) if type(token) in (int, float) and abs(token) < 1e300 else math.floor(number) * 1.0
        return number + self.chance.uniform(-1, 1) * self.pick((1, 100, 1e6))

    # ---- texts

    def _text(self, text: Any, other: Any) -> Any:
        if text and self._fraction() < _SHARE_OF_PIECES:
            return self._pieces(text, other)[: self.longest]
        way = self.pick(_WAYS)
        start = int(self._fraction() * (len(text) + 1))
        end = min(len(text), start + self.pick((0, 1, 1, 1, 2, 2, 4, 8, 8, len(text))))
        new = way(self, text, start, end, other)
        made = text[:start] + new + text[end:]
        return made[: self.longest]

    def _pieces(self, text: Any, other: Any) -> Any:
        """The text with a line, a field or another piece between separators copied, moved, left out or replaced."""
        known = _SEPARATORS if type(text) is str else _SEPARATORS_OF_BYTES
        present = [one for one in known if one in text]
        separator: Any = self.pick(present or known)
        pieces = text.split(separator)
        place, target = self._below(len(pieces)), self._below(len(pieces) + 1)
        way = self.pick(_WAYS_OF_PIECES)
        if way == "copy":
            pieces.insert(target, pieces[place])
        elif way == "move":
            pieces.insert(target, pieces.pop(place))
        elif way == "drop":
            del pieces[place]
        elif type(other) is type(text):
            others = other.split(separator)
            new = others[self._below(len(others))]
            if way == "replace":
                pieces[place] = new
            else:
                pieces.insert(target, new)
        return separator.join(pieces)

    def _below(self, bound: int) -> int:
        return int(self._fraction() * bound)

    def _characters(self, text: Any, start: int, end: int, other: Any) -> Any:
        return _as(text, "".join(self.chance.choices(CHARACTERS, k=self.pick((1, 1, 1, 2, 4)))), self.chance)

    def _nothing(self, text: Any, start: int, end: int, other: Any) -> Any:
        return text[:0]

    def _token(self, text: Any, start: int, end: int, other: Any) -> Any:
        return _as(text, self.pick(self.tokens), self.chance) if self.tokens else text[:0]

    def _repeated(self, text: Any, start: int, end: int, other: Any) -> Any:
        return text[start:end] * self.pick(_REPEATS)

    def _own_part(self, text: Any, start: int, end: int, other: Any) -> Any:
        begin = int(self._fraction() * (len(text) + 1))
        return text[begin : begin + self.pick((1, 2, 4, 8, 16))] + text[start:end]

    def _other_part(self, text: Any, start: int, end: int, other: Any) -> Any:
        parts = [other] if type(other) in (str, bytes) else [part for _, part in leaves(other)]
        parts = [part for part in parts if type(part) is type(text) and part]
        if not parts:
            return text[start:end]
        part = self.pick(parts)
        begin = self.chance.randrange(len(part))
        return part[begin : begin + self.pick((1, 4, 16, len(part)))]

    def _number(self, text: Any, start: int, end: int, other: Any) -> Any:
        return _as(text, str(self.pick(_INTERESTING)), self.chance)

    # ---- structures

    def _list(self, items: list[Any], other: Any) -> list[Any]:
        way = self.chance.randrange(4)
        made = list(items)
        place = self.chance.randrange(len(made) + 1)
        if way == 0 and made:
            del made[place % len(made)]
        elif way == 1 and made:
            made[place % len(made)], made[0] = made[0], made[place % len(made)]
        elif way == 2 and made and len(made) < 200:
            made[place:place] = [copied(self.pick(made)) for _ in range(self.pick((1, 1, 4)))]
        else:
            made.insert(place, self._new_part(other))
        return made

    def _dict(self, items: dict[str, Any], other: Any) -> dict[str, Any]:
        made = dict(items)
        if made and self.chance.random() < 0.4:
            del made[self.pick(list(made))]
            return made
        texts = [token for token in self.tokens if type(token) is str]
        key = self.pick(texts) if texts and self.chance.random() < 0.7 else self.pick("abcxyz")
        made[key] = self._new_part(other)
        return made


def _picked(chance: random.Random, items: Sequence[T]) -> T:
    return items[int(chance.random() * len(items))]


def _as(text: Any, token: Any, chance: random.Random) -> Any:
    """A token as text of the type of another text."""
    if type(text) is str:
        return token.decode("latin-1") if type(token) is bytes else str(token)
    if type(token) is int and chance.random() < 0.5:
        size = _picked(chance, (1, 2, 4, 8))
        return (token & (1 << 8 * size) - 1).to_bytes(size, _picked(chance, ("big", "little")))
    return token if type(token) is bytes else str(token).encode("utf-8", "surrogatepass")


_CHANGES: Final[dict[type, Callable[..., Any]]] = {
    str: Mutator._text,
    bytes: Mutator._text,
    int: Mutator._integer,
    float: Mutator._float,
    list: Mutator._list,
    dict: Mutator._dict,
}
_WAYS: Final[Sequence[Callable[..., Any]]] = (
    *(Mutator._characters, Mutator._characters, Mutator._characters, Mutator._nothing, Mutator._nothing),
    *(Mutator._token, Mutator._token, Mutator._token, Mutator._repeated, Mutator._own_part),
    *(Mutator._other_part, Mutator._other_part, Mutator._number),
)
