"""Classes whose methods are generated while a context is active: these methods are overdubbed from their first call
on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.specialization.given_texts import GivenTexts
from cassette_import.specialization.registry import registry

__all__ = ["GENERATORS", "generate_class"]

GENERATORS: Final = (
    ("dataclasses", None, "_process_class"),
    ("collections", None, "namedtuple"),
    ("attr._make", "_ClassBuilder", "build_class"),
)
"""Module, class and name of the functions that return a class with generated methods."""


@hidden
def generate_class(generate: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    """Do what the function does, and instrument the methods of the class that it returns."""
    kind = generate(*arguments, **keywords)
    registry.instrument_class(kind)
    return kind


_GIVEN_TEXTS: Final = GivenTexts(registry, frozenset(module for module, _, _ in GENERATORS))
