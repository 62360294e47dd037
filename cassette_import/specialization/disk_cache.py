"""The disk cache: marshalled values in files beside the ordinary `.pyc`, each valid for one text of a source file.

A file is a sequence of records, each with a value. `write` replaces a file; `append` adds a record to it, so that
nothing is lost with a process that is killed. A record that was cut off, and what follows it, is ignored.

A cache is never necessary: if anything is wrong with a file or a disk, `read` returns nothing, `write` and `append`
return 0, and nothing is raised (checklist C4, C7). Writing a cache never imports anything (C8): all that is needed is
imported at the top.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import marshal
import os
import re
import sys
import threading
import time
from _imp import _fix_co_filename  # type: ignore[attr-defined]  # importlib itself uses it for this
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType
from typing import TYPE_CHECKING

from cassette_import.interpreter.module_bundle import status_of
from cassette_import.interpreter.own_files import PACKAGE_FOLDER

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NO_STAMP", "append", "clear", "find", "location", "read", "size", "stamp_of", "write"]

# The first bytes differ from those of a `.pyc`: Python and other tools must not take the file for one.
_MAGIC = b"cassette"
_HASH = 8
_HASHED = len(_MAGIC) + 2 * _HASH  # magic, fingerprint, hash of the rest of the record
_HEADER = _HASHED + 3 * _HASH  # hash of the source, stamp of the source, length of the payload
NO_STAMP = bytes(_HASH)
"""The stamp of a source file whose times prove nothing."""
_SETTLED = 2.0
"""The age in seconds from which on the times of a source file are trusted: file systems may count whole seconds."""
_MARK = "cassette"
_CACHE_FILE = rf"\.opt-\d?{_MARK}[0-9A-Za-z]+\.pyc(\..+\.tmp)?\Z"

Digest = Callable[[], bytes | None]
"""Returns the hash of the present text of a source file, which may require to read it."""


def read(source_path: str, tag: str, digest: Digest) -> list[object]:
    """Return the values that this version of cassette_import has written, oldest first.

    Parameters
    ----------
    source_path:
        The path of the source file.
    tag:
        What was done to the source: letters and digits.
    digest:
        Returns the hash of the present text of the file. It is called only if the file is not certainly the one for
        which the values were written: the times and the size of a file prove that (checklist C3).
    """
    path = location(source_path, tag)
    if path is None:
        return []
    try:
        with open(path, "rb", buffering=0) as file:
            data = memoryview(file.read())
    except (OSError, ValueError):
        return []
    found: list[object] = []
    stamp, known, start = stamp_of(source_path), b"", 0
    while (end := _end_of_record(data, start)) is not None:
        record = data[start:end]
        start = end
        if record[_HASHED + _HASH : _HASHED + 2 * _HASH] != stamp or stamp == NO_STAMP:
            known = known or digest() or b"none"
            if record[_HASHED : _HASHED + _HASH] != known:
                continue
        try:
            written_for, value = marshal.loads(record[_HEADER:])
        except (EOFError, ValueError, TypeError):
            break
        if written_for != source_path:
            _rename(value, written_for, source_path)
        found.append(value)
    return found


def _end_of_record(data: memoryview, start: int) -> int | None:
    """Where a record ends; None if there is no whole record of this version of cassette_import."""
    header = data[start : start + _HEADER]
    if len(header) < _HEADER or header[: len(_MAGIC) + _HASH] != _MAGIC + _fingerprint():
        return None
    end = start + _HEADER + int.from_bytes(header[-_HASH:], "little")
    # The payload is hashed too: marshal may crash on data that it did not write (checklist C4).
    hashed = data[start + _HASHED : end]
    if end > len(data) or header[len(_MAGIC) + _HASH : _HASHED] != importlib.util.source_hash(hashed):
        return None
    return end


def write(source_path: str, tag: str, digest: bytes, values: Iterable[object], stamp: bytes = NO_STAMP) -> int:
    """Replace the values for `read`: code objects, and containers of them.

    Parameters
    ----------
    source_path, tag:
        As for `read`.
    digest:
        The hash of the text of the source file.
    values:
        The values.
    stamp:
        The `stamp_of` the source file when it had this text.

    Returns
    -------
    The size of the file in bytes; 0 if it was not written.
    """
    path = location(source_path, tag)
    if path is None or sys.dont_write_bytecode:
        return 0
    try:
        records = b"".join([_record(source_path, digest, stamp, value) for value in values])
        # The file is as private as the source, and writable for its owner, as those of importlib. A name that is no
        # file, such as <stdin> or a member of a zip file, has no folder for cache files (checklist F8).
        mode = os.stat(source_path).st_mode & 0o666 | 0o200
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write_atomically(path, records, mode)
    except (OSError, ValueError):
        return 0
    return len(records)


def append(source_path: str, tag: str, digest: bytes, value: object, stamp: bytes = NO_STAMP) -> int:
    """Add a value to a file that `write` has made; return the number of bytes that were added.

    A file is opened, written and closed at once, and one call writes the record, so several processes may append.
    """
    path = location(source_path, tag)
    if path is None or sys.dont_write_bytecode:
        return 0
    try:
        record = _record(source_path, digest, stamp, value)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
        try:
            return len(record) if os.write(descriptor, record) == len(record) else 0
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return 0


def size(source_path: str, tag: str) -> int:
    """The size of the file for this source and tag; 0 if there is none."""
    try:
        return os.stat(location(source_path, tag) or "").st_size
    except (OSError, ValueError):
        return 0


def stamp_of(source_path: str) -> bytes:
    """What the times and the size of a source file prove: a file with the same stamp has the same text.

    The time of the last change of the inode is part of it, which no program can set back. A file that has just been
    changed has no stamp, because a second change may not show in its times.
    """
    try:
        status = os.stat(source_path)
    except (OSError, ValueError):
        return NO_STAMP
    if time.time() - max(status.st_mtime, status.st_ctime) < _SETTLED:
        return NO_STAMP
    times = status.st_mtime_ns, status.st_ctime_ns, status.st_size
    return importlib.util.source_hash(repr(times).encode())


def location(source_path: str, tag: str) -> str | None:
    """The path of the file for this source and tag; None if this interpreter has no caches.

    The path contains Python's version, through `cache_from_source`, and the level of `-O`, in front of the tag, which
    would replace it otherwise (checklist C1, D3).
    """
    kind = f"{sys.flags.optimize or ''}{_MARK}{_version()}{tag}"
    try:
        return importlib.util.cache_from_source(source_path, optimization=kind)
    except NotImplementedError:  # sys.implementation.cache_tag is None (checklist C7)
        return None


def unwritable_folder(source_path: str) -> str | None:
    """The folder of the cache files of a source file if they cannot be written there; otherwise None."""
    path = location(source_path, "")
    if path is None or not os.path.isfile(source_path):  # a member of a zip file, for example
        return None
    folder = present = os.path.dirname(os.path.abspath(path))
    while not os.path.lexists(present):
        present = os.path.dirname(present)
    return None if os.path.isdir(present) and os.access(present, os.W_OK | os.X_OK) else folder


def find(path: str | os.PathLike[str]) -> list[Path]:
    """The cache files for a source file, of all tags and Python versions; for a folder, those of all files below it."""
    source = os.fspath(path)
    if os.path.isdir(source):
        return sorted(file for folder in _folders(source) for file in _listed(folder))
    try:
        folder, name = os.path.split(importlib.util.cache_from_source(source, optimization=_MARK))
    except NotImplementedError:
        return []
    stem = name.removesuffix(f"{sys.implementation.cache_tag}.opt-{_MARK}.pyc")
    # Between the stem and the mark is Python's tag, which has no dot: the files of `m.n.py` are not those of `m.py`.
    return sorted(
        file
        for file in _listed(folder)
        if file.name.startswith(stem) and "." not in re.sub(_CACHE_FILE, "", file.name[len(stem) :])
    )


def clear(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Remove the cache files for these sources and folders, and no other files; return the removed ones."""
    gone = []
    for file in dict.fromkeys(file for path in paths for file in find(path)):
        try:
            file.unlink()
        except OSError:  # read-only, or another process was faster
            continue
        gone.append(file)
    return gone


def _folders(folder: str) -> Iterator[str]:
    """All folders that may hold cache files for sources below a folder."""
    roots = [folder]
    if sys.pycache_prefix is not None:  # it mirrors the tree of folders, without `__pycache__`
        absolute = os.path.splitdrive(os.path.abspath(folder))[1]
        roots.append(os.path.join(sys.pycache_prefix, absolute.lstrip(os.sep)))
    for root in roots:
        for parent, _, _ in os.walk(root):
            yield parent


def _listed(folder: str) -> list[Path]:
    from pathlib import Path  # runs do not list files

    try:
        return [Path(folder, name) for name in os.listdir(folder) if re.search(_CACHE_FILE, name)]
    except OSError:
        return []


def _record(source_path: str, digest: bytes, stamp: bytes, value: object) -> bytes:
    payload = marshal.dumps((source_path, value))  # type: ignore[arg-type]  # it raises ValueError for what it cannot write
    hashed = digest + stamp + len(payload).to_bytes(_HASH, "little") + payload
    return _MAGIC + _fingerprint() + importlib.util.source_hash(hashed) + hashed


def _write_atomically(path: str, data: bytes, mode: int) -> None:
    """Write a file so that each reader finds the whole file or none (checklist C6)."""
    # Processes of different machines and containers may share the folder, so ids alone are not unique.
    temporary = f"{path}.{os.getpid()}-{threading.get_ident()}-{os.urandom(4).hex()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C included: remove the temporary file
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def _rename(value: object, old: str, new: str) -> None:
    """Set the file name of code objects to the present one: the folders may have been moved since (checklist C5)."""
    work = [value]
    while work:
        item = work.pop()
        if isinstance(item, CodeType):
            if item.co_filename == old:
                _fix_co_filename(item, new)  # and that of nested code objects
        elif isinstance(item, dict):
            work += item.values()
        elif isinstance(item, tuple | list | set | frozenset):
            work += item


def _version() -> str:
    """cassette_import's version as part of file names: versions used in turn do not overwrite each other's files."""
    return _alphanumeric(getattr(sys.modules["cassette_import"], "__version__", ""))


@functools.cache
def _alphanumeric(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


@functools.cache
def _fingerprint() -> bytes:
    """The hash of cassette_import's own files: a checkout never reads files that an earlier state of it wrote.

    To read the files takes milliseconds, so the hash is cached in a file, which is valid for the times and sizes of the
    files.
    """
    files = sorted(_own_files())
    stamp = _stamp_of_all(files)
    cached = None if stamp == NO_STAMP else _cached_fingerprint(stamp)
    if cached is not None:
        return cached
    parts = [importlib.util.MAGIC_NUMBER]
    for path in files:
        with open(path, "rb", buffering=0) as file:
            parts.append(file.read())
    found = importlib.util.source_hash(b"".join(parts))
    if stamp != NO_STAMP:
        _cache_fingerprint(stamp, found)
    return found


def _stamp_of_all(files: Sequence[str]) -> bytes:
    """What the paths, times and sizes of files prove, as those of one file do in `stamp_of`."""
    times, last = [], 0.0
    for path in files:
        status = status_of.get(path) or os.stat(path)
        times.append((path, status.st_mtime_ns, status.st_ctime_ns, status.st_size))
        last = max(last, status.st_mtime, status.st_ctime)
    # Times in the future prove nothing either, unlike those of single source files: the system's clock was set back.
    return importlib.util.source_hash(marshal.dumps(times, 0)) if time.time() - last >= _SETTLED else NO_STAMP


def _cached_fingerprint(stamp: bytes) -> bytes | None:
    path = _location_of_fingerprint()
    try:
        with open(path, "rb", buffering=0) as file:
            found = file.read()
    except OSError:
        return None
    fingerprint = found[_HASH : 2 * _HASH]
    return fingerprint if found == _described(stamp, fingerprint) else None


def _cache_fingerprint(stamp: bytes, fingerprint: bytes) -> None:
    path = _location_of_fingerprint()
    if path and not sys.dont_write_bytecode:
        with contextlib.suppress(OSError):
            _write_atomically(path, _described(stamp, fingerprint), _READABLE)


def _described(stamp: bytes, fingerprint: bytes) -> bytes:
    return stamp + fingerprint + importlib.util.source_hash(stamp + fingerprint)


def _location_of_fingerprint() -> str:
    """The path of the file that caches the fingerprint; nothing if this interpreter has no caches."""
    return location(os.path.join(PACKAGE_FOLDER, "specialization", "__init__.py"), "fingerprint") or ""


def _own_files() -> Iterator[str]:
    """The paths of the files of the packages that determine compiled bodies.

    There are none if cassette_import is imported from a zip file: the version in the name of the cache file suffices.
    """
    folders = [os.path.join(PACKAGE_FOLDER, name) for name in _DECISIVE]
    for folder in folders:
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.name != "__pycache__" and entry.is_dir():
                folders.append(entry.path)


_DECISIVE = ("activation", "interpreter", "rewriting", "runtime", "specialization")
_READABLE = 0o644
