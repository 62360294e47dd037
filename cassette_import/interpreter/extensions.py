"""Extensions in C: how those of cassette_import are loaded, and why one cannot be.

All of them are optional: each does what code in Python does as well. An extension is not there if the package was
installed without a C compiler, in a checkout where it was not built, and for free-threaded Python.
"""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import Final

from cassette_import.interpreter.own_files import PACKAGE_FOLDER

VARIABLE: Final = "CASSETTE_IMPORT_ACCELERATOR"
"""The environment variable: with ``0``, no extension is used."""
NOT_BUILT: Final = (
    f"it is not built in {PACKAGE_FOLDER}; pip builds it where there are a C compiler and Python's headers"
)
"""Why an extension cannot be used that is not there."""


def extension(name: str) -> ModuleType | str:
    """An extension, or why it cannot be used; `name` is that of its module."""
    if os.environ.get(VARIABLE) == "0":
        return f"{VARIABLE}=0 is set"
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return NOT_BUILT
    except ImportError as error:
        return str(error)


def problem_of(module: ModuleType, version: int) -> str:
    """Why an extension does not fit; empty if it does. `version` is the `VERSION` of its sources."""
    fits = getattr(module, "VERSION", 0) == version
    return "" if fits else "it was built from the sources of an earlier version; build it again"
