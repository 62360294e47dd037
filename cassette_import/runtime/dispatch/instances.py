"""Whether a value has one of some types: `value in InstancesOf(types)`, which the extension in C does without
a call.
"""

from __future__ import annotations

from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.runtime.dispatch.accelerator import DISPATCH


class InstancesInPython:
    """Contains the instances of some types, not those of their subclasses.

    Parameters
    ----------
    types:
        The types.
    """

    __slots__ = ("types",)

    @hidden
    def __init__(self, types: tuple[type, ...]) -> None:
        self.types = types

    @hidden
    def __contains__(self, value: object) -> bool:
        return id(type(value)) in map(id, self.types)


InstancesOf: Final[Any] = InstancesInPython if DISPATCH.reason else DISPATCH.InstancesOf
