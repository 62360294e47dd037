"""Whether a package is installed, without importing it.

Knows how Python finds packages; must not know which packages are needed, nor what for.
"""

from __future__ import annotations

import importlib.util

__all__ = ["is_installed"]


def is_installed(name: str) -> bool:
    """Whether a package is there that has code.

    A folder without code is none, although it can be imported: a program may have a folder of data with the same name.
    """
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # the program has put something else in its place
        return False
    return spec is not None and spec.origin is not None
