"""Code as the disk cache has it: compiled bodies, and whole modules with their bodies and trampolines in place.

A *cached module* is the code object of a module whose functions have compiled bodies, as far as earlier runs entered
them, and trampolines. It is executed as it is: nothing is searched, replaced or looked up for what is in it.

The names of a variant start with its prefix, which may differ from process to process. Cached code has the prefixes
that the variants had in the process that compiled it. Mostly they are the same again; otherwise the code is renamed.

Knows code objects and how the names of variants are spelled. Must not know files, units, or which code is live.
"""

from __future__ import annotations

import operator
from _imp import _fix_co_filename  # type: ignore[attr-defined]  # importlib itself uses it for this
from collections.abc import Iterable, Iterator, Mapping
from marshal import dumps, loads
from types import CodeType
from typing import Final
from zlib import compress, decompress  # by name: the interpreter empties modules when it ends

from cassette_import.interpreter.code_copies import changed_copy
from cassette_import.interpreter.constant_sets import with_settled_sets
from cassette_import.interpreter.records import Record
from cassette_import.rewriting import symbols
from cassette_import.rewriting.trees.code_matching import functions_in, key_of, replace_functions
from cassette_import.specialization.trampolines import is_trampoline

_QUICKLY: Final = 1
"""The level of compression."""

Prefixes = tuple[str, ...]
"""The prefixes of the variants that code serves."""


class CachedBody(Record):
    """The compiled body of one function."""

    prefixes: Prefixes
    code: CodeType

    def for_prefixes(self, prefixes: Prefixes) -> CodeType:
        """The body for variants with these prefixes."""
        return self.code if prefixes == self.prefixes else _renamed(self.code, _mapping(self.prefixes, prefixes))


class CachedModule(Record):
    """The code of a module in which functions have compiled bodies and trampolines.

    Its functions are those that are in no other function, in the order of `functions_in`.
    """

    prefixes: Prefixes
    code: CodeType
    names: tuple[str, ...]
    """The names of its variants that the code uses: they must be bound before it runs."""
    digest: bytes
    """What identifies the source: the references of trampolines are this digest and the number of the function."""
    plain: bytes
    """The plain code of its functions, serialised and compressed: few runs enter functions beyond the compiled bodies.

    It is in memory all the same. Files may be replaced while the program runs, and its functions must not change then.
    """
    bound_names: tuple[tuple[str, ...], tuple[str, ...]] | None
    """The names that the module level binds by assignments alone, and those that it binds by imports; None if they are
    not known."""

    def for_prefixes(self, prefixes: Prefixes) -> CachedModule:
        """The same module for variants with these prefixes."""
        if prefixes == self.prefixes:
            return self
        mapping = _mapping(self.prefixes, prefixes)
        names = tuple([symbols.with_prefix(name, mapping) for name in self.names])
        return self._replace(prefixes=prefixes, code=_renamed(self.code, mapping), names=names)

    def functions(self) -> Iterator[tuple[CodeType, CodeType]]:
        """Each function: the code that it has in the module, and its plain code."""
        plain: tuple[CodeType, ...] = loads(decompress(self.plain))
        plain = tuple(map(with_settled_sets, plain))
        filename = self.code.co_filename
        for code in plain:
            if code.co_filename != filename:  # the folders have been moved since (C5)
                _fix_co_filename(code, filename)
        return zip(functions_in(self.code), plain, strict=True)

    def bodies(self) -> Iterator[tuple[str, CachedBody]]:
        """The compiled bodies in the module, by the names of their functions."""
        for code, plain in self.functions():
            if not is_trampoline(code):
                yield name_of(plain), CachedBody(self.prefixes, code)

    def with_bodies(self, bodies: Mapping[str, CachedBody]) -> tuple[CachedModule, set[str]]:
        """The module with these bodies in it as well, and the names of those that it has a place for.

        A name that several functions have is passed over.
        """
        names = [name_of(plain) for _, plain in self.functions()]
        once = {name for name in names if names.count(name) == 1} if len(set(names)) < len(names) else set(names)
        remaining = iter(names)

        def replacement_of(function: CodeType) -> CodeType:
            name = next(remaining)
            body = bodies.get(name) if name in once else None
            return function if body is None else body.for_prefixes(self.prefixes)

        code = replace_functions(self.code, replacement_of)
        return self._replace(code=code, names=names_of(code, self.prefixes)), once & bodies.keys()


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
        The code of the module, with trampolines.
    digest:
        What identifies the source in the references of trampolines.
    plain:
        The plain code of its functions, in the order of `functions_in`.
    bound_names:
        The names that the module level binds by assignments alone, and by imports, if they are known.
    """
    bound = None if bound_names is None else (tuple(sorted(bound_names[0])), tuple(sorted(bound_names[1])))
    functions = compress(dumps(tuple(plain)), _QUICKLY)
    return CachedModule(prefixes, code, names_of(code, prefixes), digest, functions, bound)


def name_of(plain: CodeType) -> str:
    """What identifies a function among those of its file."""
    return repr((plain.co_qualname, key_of(plain)))


def names_of(code: CodeType, prefixes: Prefixes) -> tuple[str, ...]:
    """The names of variants that code and the code nested in it use."""
    found: set[str] = set()
    work = [code]
    while work:
        one = work.pop()
        found.update(one.co_names)
        work += [const for const in one.co_consts if isinstance(const, CodeType)]
    return tuple(sorted(name for name in found if name.partition(".")[0] in prefixes))


def _mapping(old: Prefixes, new: Prefixes) -> dict[str, str]:
    return dict(zip(old, new, strict=True))


def _renamed(code: CodeType, prefixes: Mapping[str, str]) -> CodeType:
    """The code with the names of other variants."""
    names = tuple([symbols.with_prefix(name, prefixes) for name in code.co_names])
    consts = tuple([_renamed(const, prefixes) if isinstance(const, CodeType) else const for const in code.co_consts])
    if names == code.co_names and all(map(operator.is_, consts, code.co_consts)):
        return code
    return changed_copy(code, co_names=names, co_consts=consts)
