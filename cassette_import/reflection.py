"""`Reflection`: what is known of a function, for a pass or a curious person.

Must not know activations. Its one arrow upwards, `overdubbed`, is taken only when it is asked for.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from cassette_import.rewrite.body import overdub_function
from cassette_import.rewrite.scopes import Function, clone

if TYPE_CHECKING:
    from cassette_import.context import Context


@dataclass
class Reflection:
    """A function as a pass sees it.

    Attributes
    ----------
    function:
        The function itself.
    tree:
        A copy of its node, free to be changed.
    source, filename, lineno:
        Its text, and where it stands.
    context_type:
        The context type that it is rewritten for, if any.
    """

    function: FunctionType
    tree: Function
    source: str
    filename: str
    lineno: int
    context_type: type[Context] | None = None

    @property
    def signature(self) -> inspect.Signature:
        """The signature of the function."""
        return inspect.signature(self.function)

    def overdubbed(self, context: Context | type[Context]) -> str:
        """The function as it runs in a context (or context type), as readable Python."""
        from cassette_import.context import variant_for

        variant = variant_for(context)
        tree = clone(self.tree)
        made = variant.passed(self.function, clone(self.tree), self.source)
        bodies = {} if made is None else {variant.prefix: made}
        rewritten = overdub_function(tree, [variant.shape], bodies=bodies)  # type: ignore[arg-type]
        return (
            to_source(rewritten)
            .replace(f"{variant.prefix}.", f"@{variant.name}.")
            .replace(variant.prefix, f"@{variant.name}")
        )


def to_source(tree: ast.AST) -> str:
    """Readable Python for a tree: astor's if it is right, else `ast.unparse`'s."""
    plain = ast.unparse(ast.fix_missing_locations(tree))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import astor

            pretty: Any = astor.to_source(tree)
            if ast.dump(ast.parse(pretty)) == ast.dump(ast.parse(plain)):
                return str(pretty).rstrip("\n")
        except Exception:  # astor 0.8.1 knows no match, except*, PEP 695 and, from 3.14 on, no strings
            pass
    return plain
