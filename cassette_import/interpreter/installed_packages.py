"""Whether a package is installed, without importing it, and what to install if it is not."""

from __future__ import annotations

import importlib.util

__all__ = ["is_installed", "needs"]


def is_installed(name: str) -> bool:
    """Whether a package is there that has code.

    A folder without code is none, although it can be imported: a program may have a folder of data with the same name.
    """
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # the program has put something else in its place
        return False
    return spec is not None and spec.origin is not None


def needs(feature: str, package: str, extra: str) -> str:
    """The message that a feature needs a package that is not installed: it names the extra that installs it.

    >>> needs("lanes", "NumPy", "lanes")
    'lanes needs NumPy: install cassette_import[lanes]'
    """
    return f"{feature} needs {package}: install cassette_import[{extra}]"
