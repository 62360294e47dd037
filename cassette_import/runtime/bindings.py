"""The bindings of rewritten syntax: the values of its symbols, whichever context is active.

Knows which modules implement rewritten syntax; must not know what they do.
"""

from __future__ import annotations

from cassette_import.runtime import followed_bodies
from cassette_import.runtime.names import NAMES
from cassette_import.runtime.syntax import blocks, iteration, operand_stack, operations


def provide() -> None:
    """Provide the functions that rewritten syntax calls: operators, loops, blocks, the operand stack, bodies that are
    followed."""
    for module in (operations, iteration, blocks, operand_stack, followed_bodies):
        NAMES.update(module.BINDINGS)
