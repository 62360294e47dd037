"""The report of a run: a JSON document of what was rewritten, specialised and left alone, module by module."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from cassette_import import __version__
from cassette_import.importing.installation import Installation
from cassette_import.specialization.progress import PROGRESS, Work
from cassette_import.specialization.registry_port import registry

__all__ = ["merged", "origin_of_main", "report", "specialising"]


def report(installations: Iterable[Installation], contexts: Iterable[object]) -> dict[str, Any]:
    """The report of this process, as values that JSON can express."""
    installations = list(installations)
    modules: dict[str, dict[str, Any]] = {}
    specialised: dict[str, list[str]] = {}
    left_alone: dict[str, str] = {}
    for name in ("__main__", "__mp_main__"):  # multiprocessing imports the main module under the second name
        specialised |= registry.specialised_functions(name)
        left_alone |= registry.functions_left_alone(name)
    if specialised or left_alone:
        modules["__main__"] = {
            "action": "rewritten",
            "reason": "",
            "origin": origin_of_main(),
            "specialised": specialised,
            "left_alone": left_alone,
        }
    for installation in installations:
        for entry in installation.report():
            modules[entry.name] = {
                "action": entry.action,
                "reason": entry.reason,
                "origin": entry.origin,
                "specialised": dict(entry.specialised),
                "left_alone": dict(entry.left_alone),
            }
    return {
        "cassette_import": __version__,
        "python": sys.version.split()[0],
        "packages": [name for installation in installations for name in installation.packages],
        "exclude": [name for installation in installations for name in installation.exclude],
        "contexts": [name for context in contexts if not (name := type(context).__name__).startswith("_")],
        "specialising": specialising(),
        "modules": modules,
    }


def specialising() -> dict[str, Any]:
    """How much of this process specialising was so far."""
    return _described(PROGRESS.work())


def _described(work: Work) -> dict[str, Any]:
    return {
        "functions": work.functions,
        "module_levels": work.modules,
        "seconds": round(work.seconds, 3),
        "elapsed": round(work.elapsed, 3),
        "share": round(work.share, 3),
    }


def origin_of_main() -> str | None:
    """The file of the main module."""
    main = sys.modules["__main__"]
    # Python deletes `__file__` when a script has ended.
    path = getattr(getattr(main, "__loader__", None), "path", None) or getattr(main, "__file__", None)
    return path if isinstance(path, str) else None


def merged(reports: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One report of several processes: it contains everything that at least one process has done.

    The numbers under `specialising` are the sums of those of the processes.
    """
    whole: dict[str, Any] = {}
    work: list[Work] = []
    for document in reports:
        work.append(_work_in(document["specialising"]))
        if not whole:
            whole = {**document, "modules": dict(document["modules"])}
            continue
        for key in ("packages", "exclude", "contexts"):
            whole[key] = list(dict.fromkeys([*whole[key], *document[key]]))
        modules = whole["modules"]
        for name, entry in document["modules"].items():
            known = modules.get(name)
            modules[name] = entry if known is None else _merged_module(known, entry)
    if whole:
        whole["specialising"] = _described(Work(*map(sum, zip(*work, strict=True))))
    return whole


def _work_in(described: Mapping[str, Any]) -> Work:
    """What one process has specialised, from its report."""
    return Work(*(described[key] for key in ("functions", "module_levels", "seconds", "elapsed")))


def _merged_module(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    first, second = (one, other) if one["action"] == "rewritten" else (other, one)
    specialised: dict[str, list[str]] = {}
    for entry in (first, second):
        for function, variants in entry["specialised"].items():
            known = specialised.setdefault(function, [])
            known += [variant for variant in variants if variant not in known]
    return {
        **first,
        "specialised": specialised,
        "left_alone": {**second["left_alone"], **first["left_alone"]},
    }
