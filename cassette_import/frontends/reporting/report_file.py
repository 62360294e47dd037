"""The file of a report, which is JSON."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from cassette_import.frontends.reporting.output import print_texts, problem_of_writing

__all__ = ["write_document"]


def write_document(document: Mapping[str, Any], path: str) -> bool:
    """Write a report to a file, or to standard error if that fails; return whether the file was written."""
    problem = problem_of_writing(functools.partial(_write_json, document), path)
    if problem is not None:
        print_texts([problem, json.dumps(document, indent=2)])
    return problem is None


def _write_json(document: Mapping[str, Any], path: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(document, indent=2) + "\n")
