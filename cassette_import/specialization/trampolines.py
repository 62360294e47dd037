"""Trampolines: small code objects that replace a function's code until the function is entered first.

A trampoline has the signature, names and flags of the function. Its frame is hidden (see `hidden_frames`), and it does
``return "".encode("cassette_import.enter")(unit, environment)(arguments)``. The first call returns `enter`, which
specialises the unit and returns the function to go on with. The environment is a function made in the trampoline, which
carries the globals and cells of the function. A trampoline is made from a template for its kind of signature, by
replacing names and constants.

A process may load tens of thousands of trampolines from the disk cache, and call few of them. To put `enter` among the
constants of each would take longer than to load it. So trampolines get `enter` from the one registry of the interpreter
that code reaches from a constant, by no name of a namespace: the registry of codecs. An encoder may return an instance
of any subclass of `bytes`.
"""

from __future__ import annotations

import codecs
import functools
from collections.abc import Callable
from operator import is_
from types import CodeType
from typing import Any, Final

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.hidden_frames import UNMONITORED, hidden, hide
from cassette_import.interpreter.records import Record
from cassette_import.rewriting.trees.code_matching import is_same

Reference = int | tuple[bytes, int]
"""What identifies a unit: a number in this process, or a digest of the source and a number in the file."""

_ENTER: Final = "cassette_import.enter"
"""The name of the codec whose encoder returns `enter`."""
_UNIT: Final = "unit"
"""The constant of a template in whose place the reference of the unit is put."""
_DOCSTRING: Final = "docstring"
"""The constant of a template in whose place the function's docstring is put."""
_MOST_SHOWN: Final = 200
"""With more constants than this, a function's trampoline does not have them."""


def _shown(number: int) -> str:
    """The constant of a template in whose place a constant of the function is put."""
    return f"shown {number}"


class _Enter(bytes):
    """What the encoder returns: calling it calls `enter`."""

    __call__: Callable[..., Callable[..., Any]]


_CODEC: Final = {"": (_Enter(), 0)}.get, None, None, None
"""An encoder in C, which is no event for tracers. Decoder, reader and writer are never used."""


def connect(enter: Callable[..., Callable[..., Any]]) -> None:
    """Have all trampolines call a function with the reference of their unit, their environment, and shown constants.

    It returns the function that they call with their arguments.
    """
    _Enter.__call__ = staticmethod(enter)  # type: ignore[method-assign]  # so that it costs no frame
    codecs.register(_codec)
    codecs.lookup(_ENTER)  # from now on, the registry has it


@hidden
def _codec(name: str) -> Any:
    """The codec whose encoder returns `enter`; None for any other name."""
    return _CODEC if name == _ENTER else None


class _Signature(Record):
    """The kind of a signature: numbers of parameters and free variables."""

    positional_only: int
    positional: int
    """Those that are positional-only included."""
    keyword_only: int
    takes_rest: bool
    takes_keywords: bool
    free: int
    shown: int

    @property
    def positional_names(self) -> list[str]:
        return [f"p{number}" for number in range(self.positional)]

    @property
    def keyword_names(self) -> list[str]:
        return [f"k{number}" for number in range(self.keyword_only)]

    @property
    def cell_names(self) -> list[str]:
        return [f"c{number:04}" for number in range(self.free)]

    def parameters(self) -> str:
        """The parameters of the trampoline, as source text."""
        parameters = self.positional_names
        if self.positional_only:
            parameters.insert(self.positional_only, "/")
        if self.takes_rest:
            parameters.append("*rest")
        elif self.keyword_only:
            parameters.append("*")
        parameters += self.keyword_names
        if self.takes_keywords:
            parameters.append("**keywords")
        return ", ".join(parameters)

    def arguments(self) -> str:
        """The arguments that the trampoline passes on, as source text."""
        names, keyword_names = self.positional_names, self.keyword_names
        rest = ["*rest"] if self.takes_rest else []
        arguments = names + rest + [f"{name}={name}" for name in keyword_names]
        if self.takes_keywords:
            arguments.append("**keywords")
        elif arguments and not rest:
            # With its last argument the trampoline drops all references to them: the function may free them.
            held = names + keyword_names
            last = held[-1]
            value = f"({last}, {', '.join(f'({name} := None)' for name in held)})[0]"
            arguments[-1] = f"{last}={value}" if keyword_names else value
        return ", ".join(arguments)

    def source(self) -> str:
        """The source text of the trampoline, in a function that has the cells."""
        cells = self.cell_names
        environment = f"lambda: ({''.join(cell + ', ' for cell in cells)})"
        shown = "".join(f", {_shown(number)!r}" for number in range(self.shown))
        return (
            f"def scope({', '.join(cells)}):\n"
            f" def trampoline({self.parameters()}):\n"
            f"  {_DOCSTRING!r}\n"
            f"  return ''.encode({_ENTER!r})({_UNIT!r}, {environment}{shown})({self.arguments()})\n"
        )


class _Template(Record):
    """The trampoline of all functions with one kind of signature, hidden, and the places of its constants."""

    code: CodeType
    unit: int
    documentation: int
    environment: int
    shown: int
    """The first of the constants of the function, which follow each other."""
    environments: dict[tuple[tuple[str, ...], str], CodeType]
    """The code of the environment by free variables and file: functions of one file mostly have the same."""

    def environment_code(self, free: tuple[str, ...], filename: str) -> CodeType:
        """The code of the function that carries cells and globals."""
        made = self.environments.get((free, filename))
        if made is None:
            code = self.code.co_consts[self.environment]
            made = self.environments[free, filename] = code.replace(co_freevars=free, co_filename=filename)
        return made


@functools.cache
def _template(
    positional_only: int,
    positional: int,
    keyword_only: int,
    takes_rest: bool,
    takes_keywords: bool,
    free: int,
    shown: int,
) -> _Template:
    signature = _Signature(positional_only, positional, keyword_only, takes_rest, takes_keywords, free, shown)
    scope = compile(signature.source(), "<trampoline>", "exec", dont_inherit=True, optimize=0).co_consts[0]
    trampoline = next(code for code in scope.co_consts if isinstance(code, CodeType) and code.co_name == "trampoline")
    consts = trampoline.co_consts
    environment = next(place for place, const in enumerate(consts) if isinstance(const, CodeType))
    code = hide(trampoline)
    places = consts.index(_UNIT), consts.index(_DOCSTRING), environment, consts.index(_shown(0)) if shown else 0
    return _Template(code, *places, {})


def make(plain: CodeType, unit: Reference, shows_constants: bool = False) -> CodeType:
    """Make the trampoline of a function.

    Parameters
    ----------
    plain:
        The code of the function.
    unit:
        The reference of its unit, which the trampoline passes to the specialiser.
    shows_constants:
        Whether the trampoline has the constants of the function, too, and passes them: a decorator may replace some.
    """
    keyword_only, positional = plain.co_kwonlyargcount, plain.co_argcount
    constants = plain.co_consts if shows_constants and len(plain.co_consts) <= _MOST_SHOWN else ()
    template = _template(
        plain.co_posonlyargcount,
        positional,
        keyword_only,
        bool(plain.co_flags & code_objects.VARARGS),
        bool(plain.co_flags & code_objects.VARKEYWORDS),
        len(plain.co_freevars),
        len(constants),
    )
    consts: list[Any] = list(template.code.co_consts)
    if keyword_only:
        names = {f"k{number}": plain.co_varnames[positional + number] for number in range(keyword_only)}
        consts = [_renamed(const, names) for const in consts]
    consts[template.unit] = unit
    consts[template.documentation] = (
        plain.co_consts[0] if plain.co_consts and isinstance(plain.co_consts[0], str) else None
    )
    consts[template.environment] = template.environment_code(plain.co_freevars, plain.co_filename)
    if constants:
        consts[template.shown : template.shown + len(constants)] = constants
    return template.code.replace(
        co_consts=tuple(consts),
        co_varnames=plain.co_varnames[: len(template.code.co_varnames)],
        co_freevars=plain.co_freevars,
        co_flags=plain.co_flags | UNMONITORED,
        co_name=plain.co_name,
        co_qualname=plain.co_qualname,
        co_filename=plain.co_filename,
        co_firstlineno=plain.co_firstlineno,
    )


def is_trampoline(code: CodeType) -> bool:
    """Whether code is that of a trampoline."""
    return code.co_names == _NAMES and _ENTER in code.co_consts


def patched(plain: CodeType, constants: tuple[Any, ...]) -> CodeType | None:
    """The code of a function with other constants; None if they are its own.

    A decorator that patches code gets the trampoline if its module is imported in a context.
    """
    if len(constants) == len(plain.co_consts) and all(map(is_, constants, plain.co_consts)):
        return None  # they are the same objects, unless the trampoline is from the disk cache
    code = plain.replace(co_consts=constants)
    return None if is_same(code, plain) else code


_NAMES: Final = ("encode",)


def _renamed(const: Any, names: dict[str, str]) -> Any:
    """A constant of a template with the function's parameter names: one name, or a tuple of several."""
    if isinstance(const, str):
        return names.get(const, const)
    return tuple(names.get(name, name) for name in const) if isinstance(const, tuple) else const
