"""The file formats of a profile: a writer for each suffix.

These modules are imported when a file is written: a profile on the terminal needs none of them.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from typing import Any

from cassette_import.contexts.common.reporting import Writer
from cassette_import.contexts.common.text import text_writer
from cassette_import.contexts.profile.statistics import Statistics
from cassette_import.contexts.profile.table import table


def writers(profile: Any, sort: str) -> Mapping[str, Writer]:
    """The writers of a profile, by suffix. `sort` is what the table is sorted by."""
    return {
        ".prof": functools.partial(_export, "write_pstats", profile),
        ".json": functools.partial(_export, "write_speedscope", profile),
        ".speedscope.json": functools.partial(_export, "write_speedscope", profile),
        ".collapsed": functools.partial(_export, "write_collapsed", profile),
        ".folded": functools.partial(_export, "write_collapsed", profile),
        ".html": functools.partial(_write_page, "flamegraph", profile),
        ".callgraph.html": functools.partial(_write_page, "call_graph", profile),
        ".txt": text_writer(lambda: table(Statistics(profile), sort)),
    }


def _export(writer: str, profile: Any, path: str) -> None:
    from cassette_import.contexts.profile import exports

    getattr(exports, writer)(profile, path)


def _write_page(module: str, profile: Any, path: str) -> None:
    importlib.import_module(f"cassette_import.contexts.profile.{module}").write(profile, path)
