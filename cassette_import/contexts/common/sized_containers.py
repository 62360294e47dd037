"""Containers that can be asked for their size and their items at will: code in C answers, and none of the program."""

from __future__ import annotations

from types import WrapperDescriptorType
from typing import Any

__all__ = ["is_a_container"]


def is_a_container(value: Any) -> bool:
    """Whether an object has a size, and items that can be read more than once, without code of the program.

    >>> is_a_container([1]), is_a_container(range(2)), is_a_container(iter([1])), is_a_container({1: 2}.values())
    (True, True, False, True)
    """
    methods = [getattr(type(value), name, None) for name in ("__len__", "__iter__")]
    return all(type(method) is WrapperDescriptorType for method in methods)
