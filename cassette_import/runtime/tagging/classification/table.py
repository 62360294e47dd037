"""The form of a table: the names of one module of the standard library by what its callables do with values.

Names are separated by blanks. A name that ends in a colon is that of a class, and the names after it are those of its
methods; `*` stands for all other methods of the class. Special methods that do the same in all classes are in
`special_methods`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

ITSELF = "the receiver becomes the result"
"""What is moved needs no rule: the result is the object whose method is called."""


class Table(NamedTuple):
    """The classification of the callables of one module."""

    moves: dict[str, str]
    """The names by what is moved where, in words."""
    computes: str = ""
    consumes: str = ""
    writes: str = ""
    """What consumes values by making text of them, or by writing them somewhere."""
    creates: str = ""


def names_in(text: str) -> Iterator[str]:
    """The qualified names in a text.

    >>> list(names_in("abs list: append pop"))
    ['abs', 'list.append', 'list.pop']
    """
    prefix = ""
    for word in text.split():
        if word.endswith(":"):
            prefix = word[:-1] + "."
        else:
            yield prefix + word
