"""Live code: compiled code whose placeholders are replaced by the objects that they stand for, and the way back.

The compiler and the disk cache know code with placeholders (`rewriting.variant_names`), which can be serialised.
Code that may run has the objects themselves among its constants (`runtime.names`).
"""

from __future__ import annotations

from _imp import _fix_co_filename  # type: ignore[attr-defined]  # importlib itself uses it for this
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import source_hash
from marshal import dumps, loads
from types import CodeType
from typing import Any, Final
from zlib import (
    compress,  # by name: the interpreter empties modules when it ends
    decompress,  # by name: the interpreter empties modules when it ends
)

from cassette_import.interpreter import code_objects
from cassette_import.interpreter.code_objects import changed_copy, with_settled_sets
from cassette_import.interpreter.records import Record
from cassette_import.rewriting import variant_names
from cassette_import.rewriting.trees.code_matching import (
    essence,
    functions_in,
    key_of,
    parameter_names,
    replace_functions,
)
from cassette_import.runtime.names import OBJECTS, SYMBOLS
from cassette_import.specialization.trampolines import is_trampoline

# ---- live code: compiled code whose placeholders are replaced by the objects that they stand for, and the way back

Prefixes = tuple[str, ...]
"""The prefixes of the variants that code serves."""


Places = tuple[tuple[int, Any], ...]
"""The places of placeholders in code: the index of a constant, and its symbol, or the places in that constant."""


def live(code: CodeType, old: Prefixes = (), new: Prefixes = (), places: Places | None = None) -> CodeType:
    """The code with objects in the places of placeholders, also in the code objects in it.

    Parameters
    ----------
    code:
        The code with placeholders.
    old, new:
        The prefixes of its variants in the process that compiled it, and in this process.
    places:
        The places of the placeholders, if they are known.
    """
    if places is None:
        places = places_in(code)
    if old == new:
        return _put(code, places, OBJECTS.__getitem__, {})
    meaning = _renamed(old, new)
    return _put(code, places, lambda symbol: OBJECTS[meaning(symbol)], {})


def stored(code: CodeType, prefixes: Prefixes) -> CodeType:
    """Live code as it can be serialised: with placeholders in the places of objects.

    `prefixes` are those of its variants in this process.
    """
    families = {id(OBJECTS[prefix]): prefix for prefix in prefixes}  # several variants may have one family
    return _put(
        code, _places(code, lambda const: families.get(id(const)) or SYMBOLS.get(id(const)), {}), _placeholder, {}
    )


def stored_for(code: CodeType, old: Prefixes, new: Prefixes) -> CodeType:
    """Code that can be serialised, with the placeholders of other variants."""
    meaning = _renamed(old, new)
    return code if old == new else _put(code, places_in(code), lambda symbol: _placeholder(meaning(symbol)), {})


_placeholder: Final = variant_names.placeholder


def _renamed(old: Prefixes, new: Prefixes) -> Callable[[str], str]:
    """What symbols become in code that serves other variants."""
    pairs = list(zip(old, new, strict=True))
    renamed = dict([*pairs, *((variant_names.cell_of(one), variant_names.cell_of(other)) for one, other in pairs)])
    return lambda symbol: renamed.get(symbol, symbol)


def places_in(code: CodeType) -> Places:
    """The places of the placeholders in code that can be serialised."""
    return _places(code, lambda const: variant_names.symbol_in(const) if type(const) is tuple else None, {})


def _places(
    holder: CodeType | tuple[Any, ...], symbol_of: Callable[[Any], str | None], known: dict[int, Places]
) -> Places:
    """The places of the constants that have a symbol. `known` has the places in constants, by identity."""
    found: list[tuple[int, Any]] = []
    for index, const in enumerate(holder.co_consts if type(holder) is CodeType else holder):
        part: Any = symbol_of(const)
        if part is None and (type(const) is CodeType or type(const) is tuple):
            part = known.get(id(const))
            if part is None:
                part = known[id(const)] = _places(const, symbol_of, known)
        if part:
            found.append((index, part))
    return tuple(found)


def _put(code: CodeType, places: Places, value_of: Callable[[str], Any], known: dict[int, Any]) -> CodeType:
    """The code with other constants in some places.

    Branches share the code of nested functions; `known` has the new constants by the identity of the old ones.
    """
    if not places:
        return code
    consts = _with_parts(code.co_consts, places, value_of, known)
    if code.co_flags & code_objects.OPTIMIZED:  # what `changed_copy` restores is in other code only
        return code.replace(co_consts=consts)
    return changed_copy(code, co_consts=consts)


def _with_parts(
    old: tuple[Any, ...], places: Places, value_of: Callable[[str], Any], known: dict[int, Any]
) -> tuple[Any, ...]:
    consts = list(old)
    for index, part in places:
        const = consts[index]
        if type(part) is str:
            consts[index] = value_of(part)
        elif type(const) is tuple:
            consts[index] = _with_parts(const, part, value_of, known)
        else:
            made = known.get(id(const))
            if made is None:
                made = known[id(const)] = _put(const, part, value_of, known)
            consts[index] = made
    return tuple(consts)


def names_of(code: CodeType, prefix: str) -> tuple[str, ...]:
    """The attributes of a variant's cell that must be bound before code runs, and the code objects in it."""
    symbol = variant_names.cell_of(prefix)
    cells = variant_names.placeholder(symbol), OBJECTS.get(symbol)
    found: set[str] = set()
    work, seen = [code], {id(code)}
    while work:
        one = work.pop()
        for const in one.co_consts:
            if type(const) is CodeType:
                if id(const) not in seen:
                    seen.add(id(const))
                    work.append(const)
            elif const in cells:
                found.update(name for name in one.co_names if "." in name)
    return tuple(sorted(found))


# ---- code as the disk cache has it: compiled bodies, and whole modules with their bodies and trampolines in place
#
# A *cached module* is the code object of a module whose functions have compiled bodies, as far as earlier runs entered
# them, and trampolines. It is executed as it is: nothing is searched, replaced or looked up for what is in it.
#
# On disk, code has placeholders with the prefixes that its variants had in the process that compiled it. Code that is
# in use is live (`live_code`), and becomes what it was on disk again when it is written.

_QUICKLY: Final = 1
"""The level of compression."""


class CachedBody(Record):
    """The compiled body of one function."""

    prefixes: Prefixes
    code: CodeType
    digest: bytes
    """The digest of the plain code that it replaces: a decorator may have given the function other code in this run."""

    is_live: bool = False

    def for_prefixes(self, prefixes: Prefixes) -> CachedBody:
        """The live body for variants with these prefixes."""
        if self.is_live and prefixes == self.prefixes:
            return self
        return CachedBody(prefixes, live(self.stored_code(), self.prefixes, prefixes), self.digest, True)

    def stored_code(self) -> CodeType:
        """The code as it can be serialised."""
        return stored(self.code, self.prefixes) if self.is_live else self.code

    def stored(self) -> tuple[Any, ...]:
        """What is written to disk."""
        return self.prefixes, self.stored_code(), self.digest


class CachedModule(Record):
    """The code of a module in which functions have compiled bodies and trampolines.

    Its functions are those that are in no other function, in the order of `functions_in`.
    """

    prefixes: Prefixes
    code: CodeType
    names: tuple[str, ...]
    """The attributes of the variant's cell that the code reads, and that must be bound before it runs."""
    digest: bytes
    """What identifies the source: the references of trampolines are this digest and the number of the function."""
    plain: bytes
    """The plain code of its functions, serialised and compressed: few runs enter functions beyond the compiled bodies.

    It is in memory all the same. Files may be replaced while the program runs, and its functions must not change then.
    """
    bound_names: tuple[tuple[str, ...], tuple[str, ...]] | None
    """The names that the module level binds by assignments alone, and those that it binds by imports; None if they are
    not known."""

    places: Places | None = None
    """The places of the placeholders, so that code becomes live without a walk through all constants."""
    is_live: bool = False

    def for_prefixes(self, prefixes: Prefixes) -> CachedModule:
        """The live module for variants with these prefixes."""
        if self.is_live and prefixes == self.prefixes:
            return self
        code = live(self.stored_code(), self.prefixes, prefixes, None if self.is_live else self.places)
        return self._replace(prefixes=prefixes, code=code, is_live=True)

    def stored_code(self) -> CodeType:
        """The code as it can be serialised."""
        return stored(self.code, self.prefixes) if self.is_live else self.code

    def stored(self) -> tuple[Any, ...]:
        """What is written to disk."""
        code = self.stored_code()
        return self.prefixes, code, self.names, self.digest, self.plain, self.bound_names, places_in(code)

    def functions(self) -> Iterator[tuple[CodeType, CodeType]]:
        """Each function: the code that it has in the module, and its plain code."""
        plain: tuple[CodeType, ...] = loads(decompress(self.plain))
        plain = tuple(map(with_settled_sets, plain))
        filename = self.code.co_filename
        for code in plain:
            if code.co_filename != filename:  # the folders have been moved since (checklist C5)
                _fix_co_filename(code, filename)
        return zip(functions_in(self.code), plain, strict=True)

    def bodies(self) -> Iterator[tuple[str, CachedBody]]:
        """The compiled bodies in the module, by the names of their functions."""
        for code, plain in self.functions():
            if not is_trampoline(code):
                yield name_of(plain), CachedBody(self.prefixes, code, digest_of(plain), self.is_live)

    def with_bodies(self, bodies: Mapping[str, CachedBody]) -> tuple[CachedModule, set[str]]:
        """The module with these bodies in it as well, and the names of those that it has a place for.

        The module can be serialised. A name that several functions have is passed over.
        """
        plain_functions = [plain for _, plain in self.functions()]
        names = [name_of(plain) for plain in plain_functions]
        once = {name for name in names if names.count(name) == 1} if len(set(names)) < len(names) else set(names)
        remaining = zip(names, plain_functions, strict=True)

        def replacement_of(function: CodeType) -> CodeType:
            name, plain = next(remaining)
            body = bodies.get(name) if name in once else None
            if body is None or body.digest != digest_of(plain):
                return function
            return stored_for(body.stored_code(), body.prefixes, self.prefixes)

        code = replace_functions(self.stored_code(), replacement_of)
        (prefix,) = self.prefixes
        made = self._replace(code=code, names=names_of(code, prefix), places=None, is_live=False)
        return made, once & bodies.keys()


def cached_module(
    prefixes: Prefixes,
    code: CodeType,
    digest: bytes,
    plain: Iterable[CodeType],
    bound_names: tuple[Iterable[str], Iterable[str]] | None,
) -> CachedModule:
    """Make a cached module.

    Parameters
    ----------
    prefixes:
        The prefixes of the variants that its bodies serve.
    code:
        The live code of the module, with trampolines.
    digest:
        What identifies the source in the references of trampolines.
    plain:
        The plain code of its functions, in the order of `functions_in`.
    bound_names:
        The names that the module level binds by assignments alone, and by imports, if they are known.
    """
    bound = None if bound_names is None else (tuple(sorted(bound_names[0])), tuple(sorted(bound_names[1])))
    functions = compress(dumps(tuple(plain)), _QUICKLY)
    return CachedModule(prefixes, code, names_of(code, *prefixes), digest, functions, bound, is_live=True)


def name_of(plain: CodeType) -> str:
    """What identifies a function among those of its file.

    Lambdas of one line whose code does not show where they are differ by their parameters.
    """
    return repr((plain.co_qualname, key_of(plain), parameter_names(plain)))


def digest_of(plain: CodeType) -> bytes:
    """What identifies the plain code of a function, in all processes."""
    return source_hash(repr((essence(plain), plain.co_linetable)).encode())
