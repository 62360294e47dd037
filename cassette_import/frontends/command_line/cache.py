"""The command `cache`: lists or removes the files that cassette_import keeps beside the .pyc files.

Knows where packages are; must not know what is in the files.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from cassette_import.frontends.command_line.usage import UsageError, print_lines
from cassette_import.importing.finder import locate
from cassette_import.specialization import disk_cache

__all__ = ["list_or_clear"]


def list_or_clear(given: argparse.Namespace) -> int:
    """Print the cache files of packages, or of `sys.path`; with `--clear`, remove them; return the exit status."""
    places = _places_of(given.packages) if given.packages else [entry or os.curdir for entry in sys.path]
    existing = [place for place in dict.fromkeys(places) if os.path.exists(place)]
    files = list(dict.fromkeys(file for place in existing for file in disk_cache.find(place)))
    if given.clear:
        files = disk_cache.clear(existing)
    status = print_lines(map(str, files))
    print(f"{len(files)} files{' removed' if given.clear else ''}", file=sys.stderr)
    return status


def _places_of(packages: Sequence[str]) -> list[str]:
    """The files and folders of packages."""
    places: list[str] = []
    for package in packages:
        spec, _ = locate(package)
        if spec is None:
            raise UsageError(f"no finder knows {package!r}")
        places += spec.submodule_search_locations or ()
        if spec.origin is not None:
            places.append(spec.origin)
    return places
