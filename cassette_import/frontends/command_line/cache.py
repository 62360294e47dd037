"""The command `cache`: lists the files that cassette_import keeps beside the .pyc files, by package, or
removes them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cassette_import.frontends import settings
from cassette_import.frontends.command_line.usage import UsageError, print_lines, table
from cassette_import.importing.finder import locate
from cassette_import.kits.text import file_size, plural, search_folders, short_path
from cassette_import.specialization import disk_cache

__all__ = ["list_or_clear"]


def list_or_clear(given: Any) -> int:
    """Print the cache files of packages, or of `sys.path`; with `--clear`, remove them; return the exit status."""
    packages = settings.names(given.packages)
    if given.all and not (given.clear and not packages):
        raise UsageError("--all belongs to --clear, without the name of a package")
    if given.clear and not packages and not given.all:
        raise UsageError("--clear needs the name of a package, or --all for everything that can be imported")
    places = _places_of(packages) if packages else [entry or os.curdir for entry in sys.path]
    existing = [os.path.abspath(place) for place in dict.fromkeys(places) if os.path.exists(place)]
    sizes = {file: _size(file) for place in existing for file in disk_cache.find(place)}
    if given.clear:
        gone = disk_cache.clear(existing)
        kept = sizes.keys() - gone
        sizes = {file: sizes.get(file, 0) for file in gone}
    counted = f"{plural(len(sizes), 'file')}, {file_size(sum(sizes.values()))}"
    total = f"{counted}{' removed' if given.clear else ''}"
    if given.files:  # standard output is a list of files for other programs
        status = print_lines(map(str, sizes))
        print(total, file=sys.stderr)
    else:
        status = print_lines([*(_by_package(sizes) if sizes else ()), total])
    if given.clear and kept:
        print(f"{plural(len(kept), 'file')} could not be removed", file=sys.stderr)
        return 1
    return status


def _places_of(packages: Sequence[str]) -> list[str]:
    """The files and folders of packages."""
    places: list[str] = []
    for package in packages:
        spec, _ = locate(package) if all(package.split(".")) else (None, "")
        if spec is None:
            raise UsageError(f"no finder knows {package!r}; is it spelled as the program imports it, and installed?")
        places += spec.submodule_search_locations or ()
        if spec.origin is not None:
            places.append(spec.origin)
    return places


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # another process has removed it
        return 0


def _by_package(sizes: dict[Path, int]) -> Iterable[str]:
    """The lines of a table: top-level packages and modules, with the number of their files and the bytes in them."""
    folders = search_folders()
    if sys.pycache_prefix is not None:
        folders += [_mirrored(folder, sys.pycache_prefix) for folder in folders]
    found: dict[tuple[str, str], list[int]] = {}
    for file, size in sizes.items():
        path = str(file)
        name = short_path(path, folders)
        folder = path[: len(path) - len(name)].rstrip(os.sep)
        found.setdefault((_top_level(name), folder), []).append(size)
    rows = [
        (package, str(len(numbers)), file_size(sum(numbers)), folder)
        for (package, folder), numbers in sorted(found.items())
    ]
    return table(("package", "files", "size", "folder"), rows)


def _mirrored(folder: str, prefix: str) -> str:
    """The folder below `sys.pycache_prefix` for the cache files of a folder."""
    return os.path.join(prefix, os.path.splitdrive(folder)[1].lstrip(os.sep))


def _top_level(path: str) -> str:
    """The package or module that a cache file belongs to, of which the path below a folder of `sys.path` is given.

    >>> _top_level("json/__pycache__/decoder.cpython-312.opt-cassette1.pyc")
    'json'
    >>> _top_level("__pycache__/this.cpython-312.opt-cassette1.pyc")
    'this'
    """
    first, *others = path.split(os.sep)
    if first == "__pycache__" and others:
        first, others = others[0], []
    return first if others else first.partition(f".{sys.implementation.cache_tag}.")[0].partition(".cpython-")[0]
