"""The cache of compiled bodies: those of installed modules are cached on disk, by source, shapes and versions.

Knows code objects and the shapes of variants. Must not know how bodies are compiled, or which code is live.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

from cassette_import.interpreter.code_copies import changed_copy
from cassette_import.rewriting import symbols
from cassette_import.runtime.variant import Variant
from cassette_import.specialization import disk_cache
from cassette_import.specialization.function_unit import FileRecord


class _CacheFile(NamedTuple):
    """What identifies a file of the cache."""

    source_path: str
    tag: str
    """A hash of the variants' shapes."""
    source_hash: bytes


class BodyCache:
    """Code objects by file of the cache, and by function; read from disk when they are needed first."""

    def __init__(self) -> None:
        self._files: dict[_CacheFile, dict[str, Any]] = {}
        self._fresh: dict[_CacheFile, dict[str, Any]] = {}
        """Those that are not on disk yet."""

    def get_or_compile(
        self,
        record: FileRecord,
        variants: Sequence[Variant],
        name: str,
        plain: CodeType,
        compile_body: Callable[[], CodeType | None],
    ) -> CodeType | None:
        """Return a body from the cache; else compile it, and cache the result.

        Parameters
        ----------
        record:
            The file of the function.
        variants:
            The variants that the body serves.
        name:
            What identifies the function in its file.
        plain:
            Its plain code.
        compile_body:
            Makes the body, or returns None for a function that is left alone.
        """
        file = _cache_file(record, variants)
        if file is None:
            return compile_body()
        # The prefixes of variants differ from process to process. Cached code has numbers in their place.
        neutral = {variant.shape.prefix: symbols.cached_prefix(number) for number, variant in enumerate(variants)}
        cached = self._bodies_in(file).get(name)
        if isinstance(cached, CodeType) and _fits(cached, plain):
            return _rename(cached, {mark: prefix for prefix, mark in neutral.items()})
        code = compile_body()
        if code is not None:
            made = _rename(code, neutral)
            self._files[file][name] = made
            self._fresh.setdefault(file, {})[name] = made
        return code

    def _bodies_in(self, file: _CacheFile) -> dict[str, Any]:
        found = self._files.get(file)
        if found is None:
            found = self._files[file] = _read(file)
        return found

    def flush(self) -> None:
        """Write new bodies to disk. Bodies that other processes have written meanwhile are preserved."""
        for file, fresh in list(self._fresh.items()):
            if os.path.exists(file.source_path):
                disk_cache.write(*file, {**_read(file), **fresh})
        self._fresh.clear()


def _cache_file(record: FileRecord, variants: Sequence[Variant]) -> _CacheFile | None:
    """The file of the cache for bodies of a source file; None if they are not cached."""
    if not record.installed or any(variant.shape.passes for variant in variants):
        return None  # the result of a pass may depend on anything
    digest = record.source.digest()
    if digest is None:
        return None
    shapes = [variant.shape._replace(prefix="", primitives=frozenset()) for variant in variants]
    text = repr((shapes, [sorted(variant.shape.primitives) for variant in variants]))
    return _CacheFile(record.filename, hashlib.sha256(text.encode()).hexdigest()[:16], digest)


def _read(file: _CacheFile) -> dict[str, Any]:
    value = disk_cache.read(*file)
    return value if isinstance(value, dict) else {}


def _fits(code: CodeType, plain: CodeType) -> bool:
    """Whether a cached body has the parameters and free variables of the function."""
    return code.co_freevars == plain.co_freevars and code.co_argcount == plain.co_argcount


def _rename(code: CodeType, prefixes: Mapping[str, str]) -> CodeType:
    """The code with the names of other variants."""
    names = tuple([symbols.with_prefix(name, prefixes) for name in code.co_names])
    consts = tuple(_rename(const, prefixes) if isinstance(const, CodeType) else const for const in code.co_consts)
    return changed_copy(code, co_names=names, co_consts=consts)
