"""The cache of compiled code: bodies of functions, and whole modules, of files that are installed.

There is one file of the cache for each source file and each tuple of variants' shapes. Each body and each module is
added to it as soon as it is compiled, so a run that is killed loses nothing. When a process ends, the bodies that it
compiled are put into their module, which the next process executes as it is.
"""

from __future__ import annotations

import atexit
import importlib.util
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, Final, TypeVar

from cassette_import.interpreter.code_objects import has_sets, with_settled_sets
from cassette_import.interpreter.records import Record
from cassette_import.runtime.variant import Variant
from cassette_import.specialization import disk_cache
from cassette_import.specialization.function_unit import FileRecord
from cassette_import.specialization.live_code import CachedBody, CachedModule, digest_of
from cassette_import.specialization.progress import PROGRESS

MODULE_LEVEL: Final = "<module>"
"""The name of the rewritten module level among the bodies, where no cached module has it."""


class _Key(Record):
    """What identifies an entry."""

    source_path: str
    tag: str
    """A hash of the variants' shapes."""
    stamp: tuple[int, int] | None
    """Time and size of the source when the module was executed."""


class ModuleCache:
    """Compiled code of all files; read from disk when it is needed first."""

    def __init__(self) -> None:
        self._entries: dict[_Key, _Entry] = {}
        self._tags: dict[Any, str] = {}

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
            Makes the live body, or returns None for a function that is left alone.
        """
        entry = self._entry(record, variants)
        if entry is None:
            return compile_body()
        prefixes = tuple([variant.shape.prefix for variant in variants])
        cached, digest = entry.body(name), digest_of(plain)
        if cached is not None and cached.digest == digest:
            return entry.live_body(name, cached, prefixes)
        code = compile_body()
        if code is not None:
            entry.add_body(name, CachedBody(prefixes, code, digest, True))
        return code

    def module(self, record: FileRecord, variant: Variant, is_level_overdubbed: bool) -> CachedModule | None:
        """The cached module of a file for one variant; None if there is none."""
        entry = self._entry(record, [variant])
        found = None if entry is None else entry.modules.get(is_level_overdubbed)
        if entry is None or found is None:
            return None
        module = entry.modules[is_level_overdubbed] = found.for_prefixes((variant.shape.prefix,))
        return module

    def add_module(self, record: FileRecord, variant: Variant, is_level_overdubbed: bool, module: CachedModule) -> None:
        """Cache a module that has just been compiled."""
        entry = self._entry(record, [variant])
        if entry is not None:
            entry.add_module(is_level_overdubbed, module)

    def flush(self) -> None:
        """Put compiled bodies into their modules on disk. Bodies that other processes have added are preserved."""
        for entry in list(self._entries.values()):
            entry.flush()

    def size_on_disk(self, record: FileRecord) -> int | None:
        """The bytes of the files of the cache for a source file; None if one of them could not be written."""
        entries = [entry for key, entry in self._entries.items() if key.source_path == record.filename]
        sizes = [entry.size_on_disk() for entry in entries]
        return None if None in sizes else sum(size for size in sizes if size)

    def _entry(self, record: FileRecord, variants: Sequence[Variant]) -> _Entry | None:
        """The entry for a file; None if its code is not cached."""
        if not record.installed or any(variant.shape.passes for variant in variants):
            return None  # the result of a pass may depend on anything
        source = record.source
        key = _Key(record.filename, self._tag(variants), source.stamp)
        found = self._entries.get(key)
        if found is None:
            if not source.has_digest:
                return None
            found = self._entries[key] = _Entry(record, key)
        return found

    def _tag(self, variants: Sequence[Variant]) -> str:
        shapes = tuple([variant.shape for variant in variants])
        found = self._tags.get(shapes)
        if found is None:
            neutral = [shape._replace(prefix="", primitives=frozenset()) for shape in shapes]
            text = repr((neutral, [sorted(shape.primitives) for shape in shapes]))
            found = self._tags[shapes] = importlib.util.source_hash(text.encode()).hex()
        return found


class _Entry:
    """The cached code of one file for one tuple of shapes.

    Its values on disk are tuples: the name of a body, or whether the level of a module is overdubbed; the fields of the
    `CachedBody` or `CachedModule`; and a mark if `marshal` may change the order of a set in its code. An empty tuple
    says that all bodies before it are in modules, as far as these have their functions.
    """

    def __init__(self, record: FileRecord, key: _Key) -> None:
        self._record = record
        self._path, self._tag, self._version = key
        self._known_digest: bytes | None = None
        self.modules: dict[bool, CachedModule] = {}
        self._loose: dict[str, CachedBody] = {}
        """The bodies that are in no module."""
        self._in_modules: dict[str, CachedBody] | None = None
        self._is_complete = True
        """Whether the modules have all bodies of their functions."""
        values = self._read()
        self._is_on_disk = bool(values)
        self._size: int | None = None if values else 0
        """The size of the file, if this process has written all of it."""
        self._stamp: bytes | None = None

    def _read(self) -> list[Any]:
        values: list[Any] = disk_cache.read(self._path, self._tag, self._digest)
        for value in values:
            name, *fields = value or (None,)
            if name is None:
                self._is_complete = True
            elif isinstance(name, bool):
                self.modules[name] = _unpacked(CachedModule, fields)
            else:
                self._loose[name] = _unpacked(CachedBody, fields)
                self._is_complete = False
        return values

    def _digest(self) -> bytes | None:
        """The hash of the text that the code was compiled from; None if it is not known any more."""
        if self._known_digest is None and self.is_current:
            self._known_digest = self._record.source.digest()
        return self._known_digest

    @property
    def is_current(self) -> bool:
        """Whether the module was not executed from another text since."""
        stamp: Any = self._record.source.stamp
        return bool(stamp == self._version)

    def body(self, name: str) -> CachedBody | None:
        """The body of a function; None if it is not cached."""
        found = self._loose.get(name)
        if found is None and self.modules:
            if self._in_modules is None:
                self._in_modules = {name: body for module in self.modules.values() for name, body in module.bodies()}
            found = self._in_modules.get(name)
        return found

    def live_body(self, name: str, body: CachedBody, prefixes: tuple[str, ...]) -> CodeType:
        """The code of a body, which can run."""
        found = body.for_prefixes(prefixes)
        if name in self._loose:
            self._loose[name] = found
        elif self._in_modules is not None:
            self._in_modules[name] = found
        return found.code

    def add_body(self, name: str, body: CachedBody) -> None:
        """Add a body, also on disk."""
        self._loose[name] = body
        self._is_complete = False
        self._append(_packed(name, body))

    def add_module(self, is_level_overdubbed: bool, module: CachedModule) -> None:
        """Add a module, also on disk; bodies of an older one are preserved."""
        older = self.modules.get(is_level_overdubbed)
        if older is not None:
            self._loose = {**dict(older.bodies()), **self._loose}
        self.modules[is_level_overdubbed] = module
        self._in_modules = None
        self._is_complete = self._is_complete and not self._loose
        self._append(_packed(is_level_overdubbed, module))

    def _append(self, value: tuple[Any, ...]) -> None:
        digest = self._digest()
        if digest is None:
            return
        added = 0
        if self._is_on_disk:
            added = disk_cache.append(self._path, self._tag, digest, value, self._source_stamp())
            self._size = None if self._size is None or not added else self._size + added
        if added:
            PROGRESS.note_caching(True)
        elif self._size != _UNWRITABLE:
            self._write(digest, [value])

    def _write(self, digest: bytes, values: list[Any]) -> None:
        written = disk_cache.write(self._path, self._tag, digest, values, self._source_stamp())
        self._is_on_disk = bool(written)
        self._size = written or _UNWRITABLE
        PROGRESS.note_caching(self._is_on_disk)

    def _source_stamp(self) -> bytes:
        """The stamp of the source, if the file has not changed since the module was executed."""
        if self._stamp is None:
            stamp = disk_cache.stamp_of(self._path)
            is_unchanged = self.is_current and self._record.source.is_unchanged()
            self._stamp = stamp if is_unchanged else disk_cache.NO_STAMP
        return self._stamp

    def size_on_disk(self) -> int | None:
        """The bytes of the file; 0 if there is nothing to cache, None if it could not be written."""
        size = 0 if self._size == _UNWRITABLE else disk_cache.size(self._path, self._tag)
        return None if not size and (self.modules or self._loose) else size

    def flush(self) -> None:
        """Put the bodies into their modules on disk, with those that other processes have added."""
        if self._is_complete or not self._is_on_disk or not self.modules or not self.is_current:
            return
        digest = self._digest()
        if digest is None:
            return
        if disk_cache.size(self._path, self._tag) != self._size:
            own_bodies, own_modules = dict(self._loose), dict(self.modules)
            self._read()
            self._loose.update(own_bodies)
            for is_level_overdubbed, module in self.modules.items():
                own = own_modules.get(is_level_overdubbed, module)
                self._loose.update({name: body for name, body in module.bodies() if module is not own})
                self.modules[is_level_overdubbed] = own
        inside: set[str] = set()
        for is_level_overdubbed, module in self.modules.items():
            self.modules[is_level_overdubbed], names = module.with_bodies(self._loose)
            inside |= names
        values: list[Any] = [
            _packed(is_level_overdubbed, module) for is_level_overdubbed, module in self.modules.items()
        ]
        values += [_packed(name, body) for name, body in self._loose.items() if name not in inside]
        self._write(digest, [*values, ()])
        self._is_complete = True


_UNWRITABLE: Final = -1
"""The size of a file that could not be written. No further attempt is made."""


_Cached = TypeVar("_Cached", CachedBody, CachedModule)


def _packed(name: object, cached: CachedBody | CachedModule) -> tuple[Any, ...]:
    """A body or module as it is on disk, and whether there are sets in it whose order may vary."""
    return (name, *cached.stored(), has_sets(cached.code))


def _unpacked(kind: type[_Cached], fields: list[Any]) -> _Cached:
    """A body or module from disk. Its sets get the order that they had when the code was compiled."""
    made = kind(*fields[:-1])
    return made._replace(code=with_settled_sets(made.code)) if fields[-1] else made


MODULE_CACHE: Final = ModuleCache()
atexit.register(MODULE_CACHE.flush)
