"""The disk cache: marshalled values in files beside the ordinary `.pyc`, each valid for one text of one source file.

A cache is never necessary: if anything is wrong with a file or a disk, `read` returns None and `write` False, and
nothing is raised (C4, C7). Writing a cache never imports anything (C8): all that is needed is imported at the top.

Knows names, headers and the file system. Must not know what the values are.
"""

from __future__ import annotations

import functools
import importlib.util
import marshal
import os
import re
import sys
import threading
from _imp import _fix_co_filename  # type: ignore[attr-defined]  # importlib itself uses it for this
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType

from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["clear", "find", "location", "read", "write"]

# The first bytes differ from those of a `.pyc`: Python and other tools must not take the file for one (D2, D4).
_MAGIC = b"cassette"
_HASH = 8
_HEADER = len(_MAGIC) + 3 * _HASH  # magic, fingerprint, hash of the source, hash of the payload
_MARK = "cassette"
_CACHE_FILE = re.compile(rf"\.opt-\d?{_MARK}[0-9A-Za-z]+\.pyc(\..+\.tmp)?\Z")


def read(source_path: str, tag: str, source_hash: bytes) -> object | None:
    """Return the value that this version of cassette_import has written.

    Parameters
    ----------
    source_path:
        The path of the source file.
    tag:
        What was done to the source: letters and digits.
    source_hash:
        The hash of the present text of the file.

    Returns
    -------
    The value; None if there is none for this text.
    """
    path = location(source_path, tag)
    if path is None:
        return None
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError):
        return None
    payload = data[_HEADER:]
    # The payload is hashed too: marshal may crash on data that it did not write (C4).
    if data[:_HEADER] != _header(source_hash, payload):
        return None
    try:
        written_for, value = marshal.loads(payload)
    except (EOFError, ValueError, TypeError):
        return None
    if written_for != source_path:
        _rename(value, written_for, source_path)
    result: object = value
    return result


def write(source_path: str, tag: str, source_hash: bytes, value: object) -> bool:
    """Write a value (code objects, and containers of them) for `read`; return whether it was written."""
    path = location(source_path, tag)
    if path is None or sys.dont_write_bytecode:
        return False
    try:
        payload = marshal.dumps((source_path, value))  # type: ignore[arg-type]  # it raises ValueError for what it cannot write
        # The file is as private as the source, and writable for its owner, as those of importlib. A name that is no
        # file, such as <stdin> or a member of a zip file, has no folder for cache files (F8).
        mode = os.stat(source_path).st_mode & 0o666 | 0o200
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write_atomically(path, _header(source_hash, payload) + payload, mode)
    except (OSError, ValueError):
        return False
    return True


def location(source_path: str, tag: str) -> str | None:
    """The path of the file for this source and tag; None if this interpreter has no caches.

    The path contains Python's version, through `cache_from_source`, and the level of `-O`, in front of the tag, which
    would replace it otherwise (C1, D3).
    """
    kind = f"{sys.flags.optimize or ''}{_MARK}{_version()}{tag}"
    try:
        return importlib.util.cache_from_source(source_path, optimization=kind)
    except NotImplementedError:  # sys.implementation.cache_tag is None (C7)
        return None


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
        if file.name.startswith(stem) and "." not in _CACHE_FILE.sub("", file.name[len(stem) :])
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
    try:
        return [Path(folder, name) for name in os.listdir(folder) if _CACHE_FILE.search(name)]
    except OSError:
        return []


def _header(source_hash: bytes, payload: bytes) -> bytes:
    return _MAGIC + _fingerprint() + source_hash + importlib.util.source_hash(payload)


def _write_atomically(path: str, data: bytes, mode: int) -> None:
    """Write a file so that each reader finds the whole file or none (C6)."""
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
    """Set the file name of code objects to the present one: the folders may have been moved since (C5)."""
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
    version = getattr(sys.modules["cassette_import"], "__version__", "")
    return "".join(character for character in version if character.isalnum())


@functools.cache
def _fingerprint() -> bytes:
    """The hash of cassette_import's own files: a checkout never reads files that an earlier state of it wrote (C2)."""
    parts = [importlib.util.MAGIC_NUMBER]
    for file in sorted(_own_files()):
        try:
            parts.append(importlib.util.source_hash(file.read_bytes()))
        except OSError:  # imported from a zip file: the version in the name of the cache file has to suffice
            continue
    return importlib.util.source_hash(b"".join(parts))


def _own_files() -> Iterator[Path]:
    """The files of the packages that determine compiled bodies."""
    for name in ("activation", "interpreter", "rewriting", "runtime", "specialization"):
        yield from Path(PACKAGE_FOLDER, name).rglob("*.py")
