"""The `doctor` command: for each module of a package its finder, its decision with the reason, and its cache files.

Nothing is imported, so the diagnosis shows what an import would do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cassette_import.importing.package_walk import FoundModule, NoSuchPackage, modules_below
from cassette_import.importing.selection import Decision, Selection, decide
from cassette_import.interpreter.silenced_warnings import SILENCED
from cassette_import.specialization import disk_cache

__all__ = ["Diagnosis", "NoSuchPackage", "diagnose", "format_lines"]


class Diagnosis(NamedTuple):
    """The decision about one module, whether it is imported already, the paths of its cache files, and their folder.

    The folder is there only if it cannot be written.
    """

    decision: Decision
    imported: bool
    caches: tuple[str, ...]
    unwritable: str | None


def diagnose(package: str, exclude: Iterable[str] = ()) -> Iterator[Diagnosis]:
    """Diagnose a module and everything below it.

    Raises
    ------
    NoSuchPackage
        If no finder finds the module.
    """
    selection = Selection([package], exclude)
    for found in modules_below(package):
        yield _diagnose_module(found, selection)


def _diagnose_module(found: FoundModule, selection: Selection) -> Diagnosis:
    name = found.name
    decision = decide(name, found.spec)._replace(finder=found.finder)
    if decision.action == "rewritten":
        reason = "excluded" if not selection.covers(name) else _syntax_problem(decision)
        if reason:
            decision = decision._replace(action="left alone", reason=reason)
    caches = () if decision.origin is None else tuple(map(str, disk_cache.find(decision.origin)))
    rewritten = decision.action == "rewritten" and decision.origin is not None
    unwritable = disk_cache.unwritable_folder(decision.origin or "") if rewritten else None
    return Diagnosis(decision, name in sys.modules, caches, unwritable)


def _syntax_problem(decision: Decision) -> str:
    """Why the source of a module does not compile; empty if it does."""
    try:
        with open(decision.origin or "", "rb") as file:
            source = file.read()
    except OSError:  # in a zip file, for example
        return ""
    try:
        with SILENCED:
            compile(source, decision.origin or "", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"syntax error in line {error.lineno}: {error.msg}"
    except ValueError as error:
        return str(error)
    return ""


def format_lines(diagnoses: Iterable[Diagnosis]) -> Iterator[str]:
    """The diagnoses as lines of text; at the end, why cache files cannot be written, if that is so."""
    unwritable: dict[str, None] = {}
    for diagnosis in diagnoses:
        if diagnosis.unwritable is not None:
            unwritable[diagnosis.unwritable] = None
        decision = diagnosis.decision
        done = decision.action + (f": {decision.reason}" if decision.reason else "")
        yield f"{decision.name}: {done}"
        loader = f", loader {decision.loader}" if decision.loader else ""
        imported = ", imported already" if diagnosis.imported else ""
        yield f"    found by {decision.finder or 'no finder'}{loader}{imported}"
        if decision.origin is not None:
            yield f"    file {os.path.normpath(decision.origin)}"
        for path in diagnosis.caches:
            yield f"    cache {path}"
    if sys.dont_write_bytecode:
        yield "caches: not written: PYTHONDONTWRITEBYTECODE or the option -B of Python is set"
    elif unwritable:
        first, *others = unwritable
        more = f" and {len(others)} more" if others else ""
        yield f"caches: cannot be written in {first}{more}; PYTHONPYCACHEPREFIX names another folder for them"
