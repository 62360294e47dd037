"""Inputs as trees of leaves: texts, bytes and numbers, alone or in lists and dicts; and how they are kept in files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

__all__ = [
    "Edit",
    "Path",
    "applied",
    "checked",
    "copied",
    "decoded",
    "encoded",
    "is_huge",
    "leaf_at",
    "leaves",
    "suffix_of",
]

Path = tuple[Any, ...]
"""The keys and indices that lead to a leaf; that of an input which is a leaf itself is empty."""

LEAVES: Final = (str, bytes, int, float, bool, type(None))
_BYTES: Final = "\0bytes"
_INTEGER: Final = "\0int"
_DEEPEST: Final = 50
_MOST_BITS: Final = 2000


class Edit(NamedTuple):
    """A change of an input: a part of a text is replaced, or a leaf, or a dict gets a key.

    Attributes
    ----------
    path:
        Where the leaf is.
    start, end:
        The part of a text or of bytes; None where the whole leaf is replaced.
    new:
        What is written there.
    """

    path: Path
    start: int | None
    end: int | None
    new: Any


def checked(value: Any, depth: int = 0) -> Any:
    """The value, if it can be an input; otherwise raise a `TypeError` that says what can be one."""
    if type(value) in LEAVES:
        return value
    if type(value) is list and depth < _DEEPEST:
        for item in value:
            checked(item, depth + 1)
        return value
    if type(value) is dict and depth < _DEEPEST and all(type(key) is str for key in value):
        for item in value.values():
            checked(item, depth + 1)
        return value
    raise TypeError(
        f"an input is a str, bytes, int or float, or lists and dicts of these whose keys are texts, and not {value!r}"
    )


def copied(value: Any) -> Any:
    """A copy, so that the function under test may change its argument."""
    if type(value) is list:
        return [copied(item) for item in value]
    if type(value) is dict:
        return {key: copied(item) for key, item in value.items()}
    return value


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The leaves and containers of an input with their paths; the input itself comes first."""
    yield path, value
    if type(value) is list:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif type(value) is dict:
        for key, item in value.items():
            yield from leaves(item, (*path, key))


def leaf_at(value: Any, path: Path) -> Any:
    """The part of an input at a path."""
    for key in path:
        value = value[key]
    return value


def applied(value: Any, edit: Edit) -> Any:
    """The input with a change made; the old one stays as it is."""
    made = copied(value)
    if not edit.path:
        return _changed(made, edit)
    owner = leaf_at(made, edit.path[:-1])
    key = edit.path[-1]
    owner[key] = _changed(owner[key], edit) if edit.start is not None else edit.new
    return made


def _changed(leaf: Any, edit: Edit) -> Any:
    return edit.new if edit.start is None else leaf[: edit.start] + edit.new + leaf[edit.end :]


def suffix_of(value: Any) -> str:
    """How the names of files end that keep such inputs."""
    return ".txt" if type(value) is str else ".bin" if type(value) is bytes else ".json"


def encoded(value: Any) -> bytes:
    """The contents of the file that keeps an input."""
    if type(value) is bytes:
        return value
    if type(value) is str:
        return value.encode("utf-8", "surrogatepass")
    try:
        return json.dumps(value, default=_as_json, sort_keys=False).encode()
    except ValueError:
        return json.dumps(_with_huge_numbers(value), default=_as_json, sort_keys=False).encode()


def decoded(contents: bytes, suffix: str) -> Any:
    """The input that a file keeps.

    Raises
    ------
    ValueError
        If the file does not keep one.
    """
    if suffix == ".bin":
        return contents
    if suffix == ".txt":
        return contents.decode("utf-8", "surrogatepass")
    return json.loads(contents, object_hook=_from_json)


def _as_json(value: bytes) -> dict[str, str]:
    return {_BYTES: value.decode("latin-1")}


def is_huge(number: int) -> bool:
    """Whether an integer has so many digits that the interpreter may refuse to write them."""
    return number.bit_length() > _MOST_BITS


def _with_huge_numbers(value: Any) -> Any:
    """A copy with huge integers in hexadecimal digits, which have no limit."""
    made = copied(value)
    for path, part in list(leaves(value)):
        if type(part) is int and is_huge(part):
            made = applied(made, Edit(path, None, None, {_INTEGER: hex(part)}))
    return made


def _from_json(found: dict[str, Any]) -> Any:
    """A dict, or what is written as one."""
    if len(found) == 1:
        [(key, text)] = found.items()
        if key == _BYTES and type(text) is str:
            return text.encode("latin-1")
        if key == _INTEGER and type(text) is str:
            return int(text, 16)
    return found
