"""Which functions have overdubbed bodies: the queries of the runtime.

Specialisation connects its registry of code, which is above the runtime. Knows code objects; must not know how bodies
are compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Final, Protocol


class OverdubbedFile(Protocol):
    """A source file with functions that can be overdubbed."""

    @property
    def installed(self) -> bool:
        """Whether a module of the file is installed. If none is, the file is overdubbed as that of a root function."""


class CodeRegistry(Protocol):
    """The registry of code."""

    @property
    def records(self) -> Mapping[str, OverdubbedFile]:
        """The files by name."""

    def overdubbable(self, function: FunctionType) -> bool:
        """Whether the function has source and is not left alone."""


class OverdubbedCode:
    """What the connected registry answers."""

    def __init__(self) -> None:
        self.files: Mapping[str, OverdubbedFile] = {}
        self.overdubbable = _never

    def connect(self, registry: CodeRegistry) -> None:
        """Use this registry from now on."""
        self.files = registry.records
        self.overdubbable = registry.overdubbable


def _never(function: FunctionType) -> bool:
    """The answer while no registry is connected."""
    return False


OVERDUBBED: Final = OverdubbedCode()
