"""Extensions in C: how those of cassette_import are loaded, and why one cannot be.

All of them are optional: each does what code in Python does as well. An extension is not there if the package was
installed without a C compiler, in a checkout where it was not built, and for free-threaded Python.

Knows how extensions are imported; must not know what is in them.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import Final

VARIABLE: Final = "CASSETTE_IMPORT_ACCELERATOR"
"""The environment variable: with ``0``, no extension is used."""


def extension(name: str, version: int) -> ModuleType | str:
    """An extension, or why it cannot be used.

    Parameters
    ----------
    name:
        The name of its module.
    version:
        The `VERSION` that its sources have: it may have been built from earlier ones.
    """
    if os.environ.get(VARIABLE) == "0":
        return f"{VARIABLE}=0 is set"
    try:
        module = import_module(name)
    except ModuleNotFoundError:
        return "it is not built; pip builds it where there are a C compiler and Python's headers"
    except ImportError as error:
        return str(error)
    if getattr(module, "VERSION", 0) != version:
        return "it was built from the sources of an earlier version; build it again"
    return module
