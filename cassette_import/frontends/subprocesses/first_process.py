"""The first process of a run of several: it describes the run for child processes, and gives it a folder."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import Final

from cassette_import.frontends.subprocesses.process_family import VARIABLE, ProcessFamily

__all__ = ["begin_family"]

_STARTUP: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")
"""The folder of the `sitecustomize` that child processes import when they start."""


def begin_family(
    version: str,
    settings: Mapping[str, str],
    folders: Iterable[str],
    output: str | None,
    report_file: str | None,
) -> ProcessFamily:
    """Start a run in this process: from now on, child processes that run Python join it.

    Parameters
    ----------
    version:
        The version of cassette_import; a process with another version does not join.
    settings:
        Environment variables for child processes.
    folders:
        The folders from which contexts may be imported.
    output, report_file:
        The first process's files; the names of other processes' files are made from them.
    """
    run = {
        "version": version,
        "folder": tempfile.mkdtemp(prefix="cassette_import-"),
        "first": os.getpid(),
        "folders": list(folders),
        "output": None if output is None else os.path.abspath(output),
        "report": None if report_file is None else os.path.abspath(report_file),
    }
    os.environ.update(settings)
    os.environ[VARIABLE] = json.dumps(run)
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = _STARTUP + (os.pathsep + path if path else "")
    return ProcessFamily(run)
