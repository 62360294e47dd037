"""Marshalled values in files beside the ordinary `.pyc`, each valid for exactly one text of one source file.

Knows names, headers and the file system; must not know what is in the files. A cache is never needed:
whatever is wrong with a file or a disk, `read` answers None and `write` False, and nothing is ever raised
(C4, C7). No import is ever caused by writing a cache (C8): all that is needed is imported at the top.
"""

from __future__ import annotations

import functools
import importlib.util
import marshal
import os
import re
import sys
import threading
from _imp import _fix_co_filename  # type: ignore[attr-defined]  # what importlib itself uses for this
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType

from cassette_import.interpreter.own_files import PACKAGE_FOLDER

__all__ = ["clear", "find", "location", "read", "write"]

# The first bytes say that this is no `.pyc` that Python or another tool could mistake for its own (D2, D4).
_MAGIC = b"cassette"
_HASH = 8
_HEADER = len(_MAGIC) + 3 * _HASH  # magic, fingerprint, hash of the source, hash of the payload
_MARK = "cassette"
_OURS = re.compile(rf"\.opt-\d?{_MARK}[0-9A-Za-z]+\.pyc(\..+\.tmp)?\Z")


def read(source_path: str, tag: str, source_hash: bytes) -> object | None:
    """The value written for this text of the source file, under this tag, by this very version; else None."""
    path = location(source_path, tag)
    if path is None:
        return None
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError):
        return None
    payload = data[_HEADER:]
    # The payload is hashed too: marshal may crash on what it did not write (C4).
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
    """Keep a value (code objects and what contains them) for `read`; whether it was written."""
    path = location(source_path, tag)
    if path is None or sys.dont_write_bytecode:
        return False
    try:
        payload = marshal.dumps((source_path, value))  # type: ignore[arg-type]  # what it refuses is a ValueError
        # As private as the source is, and writable for its owner, as importlib does it. A name that is no
        # file, such as <stdin> or a member of a zip file, has no folder to keep anything in (F8).
        mode = os.stat(source_path).st_mode & 0o666 | 0o200
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write_at_once(path, _header(source_hash, payload) + payload, mode)
    except (OSError, ValueError):
        return False
    return True


def location(source_path: str, tag: str) -> str | None:
    """The file for this source and tag; None if this interpreter is to have no caches.

    The tag, letters and digits, says what was done to the source. Python's version is in the name through
    `cache_from_source`; the level of `-O`, which a tag would otherwise replace, is put in front (C1, D3).
    """
    kind = f"{sys.flags.optimize or ''}{_MARK}{_version()}{tag}"
    try:
        return importlib.util.cache_from_source(source_path, optimization=kind)
    except NotImplementedError:  # sys.implementation.cache_tag is None (C7)
        return None


def find(path: str | os.PathLike[str]) -> list[Path]:
    """Our files for a source file, of all tags and Python versions; for a folder, those of all below it."""
    source = os.fspath(path)
    if os.path.isdir(source):
        return sorted(file for folder in _folders(source) for file in _listed(folder))
    try:
        folder, name = os.path.split(importlib.util.cache_from_source(source, optimization=_MARK))
    except NotImplementedError:
        return []
    stem = name.removesuffix(f"{sys.implementation.cache_tag}.opt-{_MARK}.pyc")
    # Between the stem and our mark stands Python's tag, which has no dot: `m.n.py` is not meant by `m.py`.
    return sorted(
        file
        for file in _listed(folder)
        if file.name.startswith(stem) and "." not in _OURS.sub("", file.name[len(stem) :])
    )


def clear(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Remove our files for these sources and folders, nobody else's, and say which are gone."""
    gone = []
    for file in dict.fromkeys(file for path in paths for file in find(path)):
        try:
            file.unlink()
        except OSError:  # read-only, or another process was faster
            continue
        gone.append(file)
    return gone


def _folders(folder: str) -> Iterator[str]:
    """All folders that may hold files for sources below a folder."""
    roots = [folder]
    if sys.pycache_prefix is not None:  # a copy of the whole tree of folders, without `__pycache__`
        absolute = os.path.splitdrive(os.path.abspath(folder))[1]
        roots.append(os.path.join(sys.pycache_prefix, absolute.lstrip(os.sep)))
    for root in roots:
        for parent, _, _ in os.walk(root):
            yield parent


def _listed(folder: str) -> list[Path]:
    try:
        return [Path(folder, name) for name in os.listdir(folder) if _OURS.search(name)]
    except OSError:
        return []


def _header(source_hash: bytes, payload: bytes) -> bytes:
    return _MAGIC + _fingerprint() + source_hash + importlib.util.source_hash(payload)


def _write_at_once(path: str, data: bytes, mode: int) -> None:
    """Whoever reads `path` finds all of a file or none (C6)."""
    # Processes of different machines and containers may share the folder, so ids alone are not unique.
    temporary = f"{path}.{os.getpid()}-{threading.get_ident()}-{os.urandom(4).hex()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C included: leave no litter behind
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def _rename(value: object, old: str, new: str) -> None:
    """Give code objects the name of the file as it is now: the tree has been moved since (C5)."""
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
    """Our version as names of files show it; versions used in turn do not evict each other's files."""
    version = getattr(sys.modules["cassette_import"], "__version__", "")
    return "".join(character for character in version if character.isalnum())


@functools.cache
def _fingerprint() -> bytes:
    """Of this package's own files: a checkout never reads what an earlier state of it wrote (C2)."""
    parts = [importlib.util.MAGIC_NUMBER]
    for file in sorted(_own_files()):
        try:
            parts.append(importlib.util.source_hash(file.read_bytes()))
        except OSError:  # imported from a zip file: the version in the file's name has to do
            continue
    return importlib.util.source_hash(b"".join(parts))


def _own_files() -> Iterator[Path]:
    for name in ("activation", "interpreter", "rewriting", "runtime", "specialization"):
        yield from Path(PACKAGE_FOLDER, name).rglob("*.py")
