"""Validation of passes: whether a returned body can replace a function's body.

The returned body must compile in one code object with the plain body. So a pass cannot turn a function into a
generator, nor bind a name that the plain body looks up in its module.
"""

from __future__ import annotations

import ast
import dis
from types import CodeType, FunctionType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.silenced_warnings import SILENCED
from cassette_import.rewriting import symbols, variant_names
from cassette_import.rewriting.trees.code_matching import nested_functions
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.trees.places import Place
from cassette_import.rewriting.trees.scopes import Function, clone, hoist_declarations
from cassette_import.rewriting.trees.skeleton import skeleton

_KINDS: Final = {
    code_objects.GENERATOR: "a generator",
    code_objects.COROUTINE: "a coroutine",
    code_objects.ASYNC_GENERATOR: "an asynchronous generator",
}


class Unfit(Exception):
    """The result of a pass cannot be used. Its message is put after the name of the pass."""


def check(made: Function, origin: Function, function: FunctionType) -> None:
    """Raise `Unfit` if the body of `made` cannot be a branch beside that of `origin`, the original function."""
    if any(isinstance(node, ast.Constant) and _has_placeholder(node.value) for node in ast.walk(made)):
        raise Unfit("returned a constant that stands for an object of cassette_import,")
    free = function.__code__.co_freevars
    plain = compiled(origin, free)
    try:
        both = compiled(_combined(made, origin), free)
    except RecursionError:
        raise
    except (SyntaxError, ValueError, TypeError, AttributeError) as error:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        raise Unfit(f"returned what does not compile ({message})") from error
    if _kind(both) != _kind(plain):
        raise Unfit(f"returned {_kind(both)}, instead of {_kind(plain)},")
    gone = (_looked_up(plain) - _looked_up(both)) | (_looked_up_inside(plain) - _looked_up_inside(both))
    gone |= set(plain.co_freevars) - set(both.co_freevars)
    if gone:
        raise Unfit(
            f"binds {_list(gone)}, which the function looks up outside of itself: choose another name, or declare it "
            "global or nonlocal,"
        )
    changed = _local_names(plain) - _local_names(both)
    if changed:
        raise Unfit(f"declares {_list(changed)} global or nonlocal, which the function has as a local name,")


def _has_placeholder(value: object) -> bool:
    """Whether a constant is a placeholder, or contains one."""
    return variant_names.is_placeholder(value) or (isinstance(value, tuple) and any(map(_has_placeholder, value)))


def compiled(tree: Function, free: tuple[str, ...]) -> CodeType:
    """The code of a function, compiled by itself."""
    module, node = skeleton(Place(tree, ()), free)
    with SILENCED:
        work = [compile(module, "<pass>", "exec", dont_inherit=True)]
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    for code in work:  # it grows while we walk through it
        if code.co_name == name and code_objects.is_function(code):
            return code
        work.extend(const for const in code.co_consts if isinstance(const, CodeType))
    raise ValueError(f"no function {name} came out")


def _combined(made: Function, origin: Function) -> Function:
    """A function with both bodies, of which one runs at a time."""
    both: Any = clone(origin)
    other: Any = clone(made)
    if isinstance(both, ast.Lambda):
        at = At(both.body)
        both.body = at.either(at.symbol(symbols.IS_ANY_ACTIVE), other.body, both.body)
        return both
    declarations = hoist_declarations(both, both.body)
    # For the type checker: declarations have names.
    known = {name for declaration in declarations for name in declaration.names}  # type: ignore[attr-defined]
    declarations += [
        declaration
        for declaration in hoist_declarations(other, other.body)
        if not known.issuperset(declaration.names)  # type: ignore[attr-defined]  # its kind is known
    ]
    at = At(both.body[0])
    choice = at.put(ast.If(at.symbol(symbols.IS_ANY_ACTIVE), other.body or [at.put(ast.Pass())], both.body))
    both.body = [*declarations, choice]
    return both  # type: ignore[no-any-return]  # the copy of a function


def _kind(code: CodeType) -> str:
    return next((name for flag, name in _KINDS.items() if code.co_flags & flag), "an ordinary function")


def _local_names(code: CodeType) -> set[str]:
    return {*code.co_varnames, *code.co_cellvars}


def _looked_up(code: CodeType) -> set[str]:
    return {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }


def _looked_up_inside(code: CodeType) -> set[str]:
    names: set[str] = set()
    work = list(nested_functions(code))
    for inner in work:  # it grows while we walk through it
        names |= _looked_up(inner)
        work += nested_functions(inner)
    return names


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))


def checked_passes(name: str, passes: Any) -> tuple[Any, ...]:
    """Passes as a tuple, which is independent of the argument.

    Raises
    ------
    TypeError
        If they are no list of callables that have a hash.
    """
    if isinstance(passes, str) or not hasattr(type(passes), "__iter__"):  # as in `installation`
        raise TypeError(f"{name} must be a list of callables, not {passes!r}; one pass is a list of one")
    checked = tuple(passes)
    for one in checked:
        if not callable(one):
            raise TypeError(f"{name} must be callables, not {one!r}")
        try:
            hash(one)
        except TypeError:
            raise TypeError(f"{name} must be hashable: the result of {one!r} is cached for each function") from None
    return checked
