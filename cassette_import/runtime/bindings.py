"""The bindings of rewritten syntax: the values of its symbols, whichever context is active.

Few programs have code in which loops or blocks are events, so the modules that implement these are late.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cassette_import.interpreter.late_modules import late
from cassette_import.rewriting import symbols
from cassette_import.runtime.names import LATE, NAMES
from cassette_import.runtime.syntax import operations

if TYPE_CHECKING:
    from cassette_import.runtime import followed_code
    from cassette_import.runtime.dispatch import active_families
    from cassette_import.runtime.syntax import blocks, delegation, iteration, operand_stack
else:
    (followed_code,) = late("cassette_import.runtime", "followed_code")
    (active_families,) = late("cassette_import.runtime.dispatch", "active_families")
    blocks, delegation, iteration, operand_stack = late(
        "cassette_import.runtime.syntax", "blocks", "delegation", "iteration", "operand_stack"
    )

LATE_SYMBOLS: Final[tuple[tuple[Any, tuple[str, ...]], ...]] = (
    (
        blocks,
        (
            symbols.DEBUGGER, symbols.MANAGED, symbols.MANAGED_ASYNC, symbols.IMPORT_FROM, symbols.PAIRS,
            symbols.CONSTANT, symbols.GLOBALS, symbols.OF_SUPER,
        ),
    ),
    (
        iteration,
        (
            symbols.LOOP, symbols.LOOP_HERE, symbols.ITEM_HERE, symbols.SPLAT, symbols.SPLAT_IN_CALL, symbols.UNPACK,
        ),
    ),
    (active_families, (symbols.ACTIVE_FAMILIES,)),
    (delegation, (symbols.LOOP_ASYNC, symbols.DELEGATE)),
    (
        operand_stack,
        (
            symbols.KEEP, symbols.KEPT, symbols.KEPT_BELOW, symbols.PEEK, symbols.KEEP_ALL, symbols.SINK, symbols.AND,
            symbols.OR, symbols.CHAIN, symbols.CHAIN_TESTED,
        ),
    ),
    (
        followed_code,
        (
            symbols.FOLLOWED_BODY, symbols.FOLLOWED_EXPRESSION, symbols.FOLLOWED_CALL, symbols.FOLLOWED_MODULE,
            symbols.THREAD, symbols.FOLLOWED_IMPORTS,
        ),
    ),
)  # fmt: skip
"""The symbols of the late modules: the keys of their tables `BINDINGS`."""


def provide() -> None:
    """Provide the functions that rewritten syntax calls: operators, loops, blocks, the operand stack, bodies that are
    followed; and what entries ask."""
    NAMES.update(operations.BINDINGS)
    for module, names in LATE_SYMBOLS:
        LATE.update(dict.fromkeys(names, partial(_bind, module)))


def _bind(module: Any) -> None:
    NAMES.update(module.BINDINGS)
