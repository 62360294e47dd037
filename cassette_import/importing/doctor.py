"""What is done to each module of a package, and why: who finds it, and where what we keep for it lies.

Nothing is imported that is not imported already, so what is told is what would happen. Knows finding and
caching; must not know contexts.
"""

from __future__ import annotations

import os
import pkgutil
import sys
import warnings
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec
from typing import NamedTuple

from cassette_import.importing.finder import Decision, Selection, decide, locate
from cassette_import.specialization import disk_cache

__all__ = ["Finding", "NoSuchPackage", "examined", "told"]


class NoSuchPackage(LookupError):
    """No finder knows a module of this name."""


class Finding(NamedTuple):
    """What is known of one module."""

    decision: Decision
    imported: bool
    caches: tuple[str, ...]


def examined(package: str, exclude: Iterable[str] = ()) -> Iterator[Finding]:
    """The module, and everything below it.

    Raises
    ------
    NoSuchPackage
        If no finder knows the module.
    """
    spec, finder = locate(package) if all(package.split(".")) else (None, "")
    if spec is None:
        raise NoSuchPackage(f"no finder knows {package!r}")
    selection = Selection([package], exclude)
    work = [(package, spec, finder)]
    while work:
        name, spec, finder = work.pop()
        yield _finding(name, spec, finder, selection)
        below = []
        for submodule in _submodules(spec):
            found, found_by = locate(f"{name}.{submodule}")
            if found is not None:
                below.append((f"{name}.{submodule}", found, found_by))
        work.extend(reversed(below))


def _submodules(spec: ModuleSpec) -> list[str]:
    if spec.submodule_search_locations is None:
        return []
    return sorted({module.name for module in pkgutil.iter_modules(list(spec.submodule_search_locations))})


def _finding(name: str, spec: ModuleSpec, finder: str, selection: Selection) -> Finding:
    decision = decide(name, spec)._replace(finder=finder)
    if decision.action == "rewritten":
        reason = "excluded" if not selection.covers(name) else _does_not_parse(decision)
        if reason:
            decision = decision._replace(action="left alone", reason=reason)
    caches = () if decision.origin is None else tuple(map(str, disk_cache.find(decision.origin)))
    return Finding(decision, name in sys.modules, caches)


def _does_not_parse(decision: Decision) -> str:
    try:
        with open(decision.origin or "", "rb") as file:
            source = file.read()
    except OSError:  # in a zip file, for example
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, decision.origin or "", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"syntax error in line {error.lineno}: {error.msg}"
    except ValueError as error:
        return str(error)
    return ""


def told(findings: Iterable[Finding]) -> Iterator[str]:
    """The findings as lines to read."""
    for finding in findings:
        decision = finding.decision
        done = decision.action + (f": {decision.reason}" if decision.reason else "")
        yield f"{decision.name}: {done}"
        loader = f", loader {decision.loader}" if decision.loader else ""
        imported = ", imported already" if finding.imported else ""
        yield f"    found by {decision.finder or 'nobody'}{loader}{imported}"
        if decision.origin is not None:
            yield f"    file {os.path.normpath(decision.origin)}"
        for path in finding.caches:
            yield f"    cache {path}"
