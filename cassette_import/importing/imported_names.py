"""What the names are that a module imports, found in its source without executing it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from types import ModuleType

from cassette_import.importing.finder import locate

__all__ = ["names_of_objects"]


def names_of_objects(tree: ast.Module, module_name: str, *, is_package: bool) -> set[str]:
    """The names that ``from … import …`` binds in a module and that are not names of modules.

    Parameters
    ----------
    tree:
        The tree of the module.
    module_name:
        Its full name, from which relative imports start.
    is_package:
        Whether the module is a package.
    """
    package = module_name if is_package else module_name.rpartition(".")[0]
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        try:
            source = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
        except ImportError:  # it leads out of the package: the import would fail too
            continue
        found |= {alias.asname or alias.name for alias in node.names if not _is_module(source, alias.name)}
    return found


def _is_module(module_name: str, name: str) -> bool:
    """Whether a name of a module is a module; for a module that is not imported, the finders say so."""
    module = sys.modules.get(module_name)
    if module is not None and name in vars(module):
        return type(vars(module)[name]) is ModuleType
    return locate(f"{module_name}.{name}")[0] is not None
