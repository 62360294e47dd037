"""Functions of contexts that compute for all lanes at once, where the program calls them within a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cassette_import.contexts.lanes import derivatives

__all__ = ["NESTED", "VECTORIZED", "original_of"]


def _enclosure(context: Any, *arguments: Any, **keywords: Any) -> Any:
    from cassette_import.contexts.lanes import enclosures  # needs python-flint, as the caller has it

    return enclosures.enclosure(context, *arguments, **keywords)


VECTORIZED: Final = "_vectorized_function"
"""The attribute of a vectorized function that has what it calls for one lane."""


def original_of(function: Any) -> Any:
    """What a vectorized function calls for each lane, if a call within a run means the same; else None."""
    return vars(function).get(VECTORIZED)


_AUTODIFF: Final = "cassette_import.contexts.autodiff.derivatives"

NESTED: Final[dict[tuple[str, str], Callable[..., Any]]] = {
    (_AUTODIFF, "derivative"): derivatives.derivative,
    (_AUTODIFF, "gradient"): derivatives.gradient,
    (_AUTODIFF, "jvp"): derivatives.jvp,
    (_AUTODIFF, "vjp"): derivatives.vjp,
    ("cassette_import.contexts.intervals.enclosure", "enclosure"): _enclosure,
}
"""By module and name: a function of the context of the run, and of the arguments."""
