"""Which functions have overdubbed bodies: the queries of the runtime.

Specialisation connects its registry of code, which is above the runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Final

from cassette_import.interpreter.records import Protocol


class OverdubbedFile(Protocol):
    """A source file with functions that can be overdubbed."""

    @property
    def filename(self) -> str:
        """Its name, as activations have it among their roots."""

    @property
    def module_name(self) -> str:
        """The module that is executed from it."""

    @property
    def installed(self) -> bool:
        """Whether a module of the file is installed. If none is, the file is overdubbed as that of a root function."""


class CodeRegistry(Protocol):
    """The registry of code."""

    @property
    def records(self) -> Mapping[str, OverdubbedFile]:
        """The files by name."""

    def record_with(self, code: CodeType) -> OverdubbedFile | None:
        """The file that some code belongs to: its own, or that of the module that it was generated for."""

    def overdubbable(self, function: FunctionType) -> bool:
        """Whether the function has source and is not left alone."""

    def reason_left_alone(self, function: FunctionType) -> str | None:
        """Why the function is left alone; None if it is not."""

    def qualified_name(self, code: CodeType) -> str:
        """The qualified name of the function that has the code."""

    def plain_code_of(self, code: CodeType) -> CodeType:
        """The code that Python compiled, for a code object in any state."""

    def leave_alone(self, function: FunctionType, reason: str) -> None:
        """Never overdub a function; restore its plain code."""


class OverdubbedCode:
    """What the connected registry answers."""

    def __init__(self) -> None:
        self.files: Mapping[str, OverdubbedFile] = {}
        self.record_with = _nowhere
        self.overdubbable = _never
        self.runs_overdubbed: Callable[[FunctionType], bool] = _never
        self.reason_left_alone = _no_reason
        self.plain_code_of = _itself
        self.qualified_name = _own_name
        self.leave_alone = _ignore

    def connect(self, registry: CodeRegistry, runs_overdubbed: Callable[[FunctionType], bool]) -> None:
        """Use this registry from now on; the function says whether a call runs a compiled body."""
        self.runs_overdubbed = runs_overdubbed
        self.files = registry.records
        self.record_with = registry.record_with
        self.overdubbable = registry.overdubbable
        self.reason_left_alone = registry.reason_left_alone
        self.plain_code_of = registry.plain_code_of
        self.qualified_name = registry.qualified_name
        self.leave_alone = registry.leave_alone

    def is_installed(self, function: FunctionType) -> bool:
        """Whether a function is of an installed module, and is not left alone."""
        record = self.record_with(function.__code__)
        return record is not None and record.installed and self.overdubbable(function)


def _nowhere(code: CodeType) -> OverdubbedFile | None:
    """The answer while no registry is connected."""
    return None


def _never(function: FunctionType) -> bool:
    """The answer while no registry is connected."""
    return False


def _no_reason(function: FunctionType) -> str | None:
    """The reason while no registry is connected."""
    return None


def _itself(code: CodeType) -> CodeType:
    """The plain code while no registry is connected."""
    return code


def _own_name(code: CodeType) -> str:
    """The qualified name while no registry is connected."""
    return code.co_qualname


def _ignore(function: FunctionType, reason: str) -> None:
    """Nothing is overdubbed while no registry is connected."""


OVERDUBBED: Final = OverdubbedCode()
