"""`reflect`: what can be known of a function before it runs, its overdubbed source included."""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from cassette_import.context import Context, _key
from cassette_import.functions import python_function
from cassette_import.rewrite.body import overdub_function
from cassette_import.rewrite.scopes import clone
from cassette_import.specialize import registry
from cassette_import.variants import variants


@dataclass
class Reflection:
    """A function as a pass, or a curious person, sees it.

    Attributes: the `function`, its `signature`, its `tree` (a copy), `source`, `filename`, `lineno`, and the `context_type` for which it is
    rewritten, if any.
    """

    function: FunctionType
    signature: inspect.Signature
    tree: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    source: str
    filename: str
    lineno: int
    context_type: type[Context] | None = None

    def overdubbed(self, context: Context | type[Context]) -> str:
        """The function as it runs in a context, as readable Python."""
        made = context if isinstance(context, Context) else context.__new__(context)
        variant = variants.of((_key(made),))
        tree = clone(self.tree)
        assert isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        rewritten = overdub_function(tree, [variant.shape])
        return to_source(rewritten).replace(variant.prefix, f"@{type(made).__name__}")


def reflect(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Reflection | None:
    """What is known of the Python function that would run for ``f(*args, **kwargs)``; None if there is no source.

    >>> import colorsys
    >>> reflect(colorsys.rgb_to_hls).lineno > 1
    True
    >>> reflect(len) is None
    True
    """
    function = python_function(f)
    if function is None or not registry.overdubbable(function):
        return None
    found = registry.reflect(function)
    if found is None:
        return None
    tree, source = found
    return Reflection(
        function, inspect.signature(function), tree, source, function.__code__.co_filename, function.__code__.co_firstlineno
    )


def to_source(tree: ast.AST) -> str:
    """Readable Python for a tree: astor's if it is right, else `ast.unparse`'s."""
    plain = ast.unparse(ast.fix_missing_locations(tree))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import astor

            pretty = astor.to_source(tree)
            if ast.dump(ast.parse(pretty)) == ast.dump(ast.parse(plain)):
                return str(pretty)
        except Exception:  # astor 0.8.1 knows no match, except*, PEP 695 and, from 3.14 on, no strings
            pass
    return plain

