"""Ready-made features that `-c` does not take: those that are called in Python, and those that are commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cassette_import.interpreter.records import Record

__all__ = ["ELSEWHERE", "Elsewhere"]


class Elsewhere(Record):
    """A feature that is no context for `-c`."""

    about: str
    """What it does."""
    functions: tuple[str, ...]
    """The names in its module that are used in Python."""
    is_command: bool = False

    def pointer(self, name: str) -> str:
        """Where the feature of this name is used, as messages say it."""
        how = f"a command: see `{name} --help`" if self.is_command else f"used in Python: see `contexts {name}`"
        return f"{name} is {how}"


ELSEWHERE: Final[Mapping[str, Elsewhere]] = {
    "algebra": Elsewhere("Runs unmodified code on units, or on numbers of your own.", ("Algebra", "evaluate")),
    "autodiff": Elsewhere(
        "Computes derivatives of unmodified scalar and NumPy code.", ("derivative", "gradient", "jvp", "vjp")
    ),
    "backends": Elsewhere("Compiles an unmodified function and its callees to machine code.", ("jit",)),
    "contract": Elsewhere("Finds all solutions of equations of unmodified functions.", ("contract", "solve")),
    "fuzz": Elsewhere("Finds inputs for which unmodified code raises exceptions.", ("fuzz", "inputs"), is_command=True),
    "graph": Elsewhere("Makes a graph of what an unmodified function computes.", ("graph", "residual")),
    "lanes": Elsewhere("Calls unmodified scalar code on whole arrays.", ("vectorize",)),
    "sparsity": Elsewhere(
        "Finds which outputs of a function depend on which inputs.", ("jacobian", "hessian", "coloring")
    ),
}
"""By the name of the module below `cassette_import.contexts`."""
