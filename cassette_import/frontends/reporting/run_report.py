"""What a run leaves behind: what its contexts found, and the report of what was done, on the terminal or in files.

Knows how contexts report and how installations do; must not know how programs are run.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import cassette_import
from cassette_import import Context, Installation
from cassette_import.contexts.common.reporting import (
    UnknownFormat,
    Writer,
    chosen_format,
    is_informed,
    is_streaming,
    known_formats,
    summary_of,
)
from cassette_import.contexts.common.text import error_line
from cassette_import.specialization.registry import registry

if TYPE_CHECKING:
    from cassette_import.frontends.programs.program import Program

__all__ = [
    "CannotWrite",
    "Outcome",
    "check_folder",
    "merged",
    "origin_of_main",
    "report",
    "say",
    "write_document",
    "write_report",
]


class CannotWrite(ValueError):
    """A file that is asked for cannot be written; known before the program runs. The message is one line."""


class Outcome:
    """What is to be told at the end, and where.

    Parameters
    ----------
    contexts:
        The contexts that the program runs in, outermost first.
    output:
        The file for what a context found: the first context that knows the suffix writes it. The others, and
        all of them if there is no file, say what they found on standard error.
    report_file:
        The file for the report, if there is to be one.
    """

    def __init__(self, contexts: Iterable[Context], output: str | None, report_file: str | None) -> None:
        self._contexts = tuple(contexts)
        # The program may change its folder.
        self._output = None if output is None else os.path.abspath(output)
        self._report_file = None if report_file is None else os.path.abspath(report_file)
        self._installations: list[Installation] = []
        self._writing: object = None
        self._suffix = ""
        # What the program forks has a copy of this.
        self._process = os.getpid()
        for path in filter(None, (output, report_file)):
            check_folder(path)
        if output is not None:
            self._choose_writer(output)

    def _choose_writer(self, output: str) -> None:
        if not self._contexts:
            raise CannotWrite(f"{output}: no context is active that could write it")
        known = {suffix: context for context in reversed(self._contexts) for suffix in _formats_of(context, output)}
        if not known:
            raise CannotWrite(f"{output}: {type(self._contexts[0]).__name__} writes no files")
        try:
            self._suffix = chosen_format(known, output)
        except UnknownFormat as error:
            raise CannotWrite(str(error)) from error
        self._writing = known[self._suffix]

    def begin(self, installations: Iterable[Installation], program: Program | None = None) -> None:
        """A program is about to run; raise `CannotWrite` if a context that writes meanwhile cannot."""
        self._installations = list(installations)
        run: dict[str, object] | None = None
        if program is not None:
            run = {
                "argv": [program.name, *program.arguments],
                "program": type(program).__name__.lower(),
                "packages": [name for installation in self._installations for name in installation.packages],
                "exclude": [name for installation in self._installations for name in installation.exclude],
                "output": self._output,
            }
        try:
            for context in self._contexts:
                if run is not None and is_informed(context):
                    context.inform(run)
            if self._output is not None and is_streaming(self._writing):
                self._writing.stream(self._output)
        except (OSError, ValueError) as error:
            raise CannotWrite(str(error)) from error

    def write(self, *, goes_on: bool = False) -> None:
        """The program is at its end. What cannot be written to a file is told on standard error.

        With `goes_on`, the process continues with another program.
        """
        if os.getpid() != self._process:  # a copy has nothing to tell
            return
        for text in self._found(self._output):
            _say(text)
        if self._report_file is not None:
            write_document(report(self._installations, self._contexts), self._report_file)

    def _found(self, output: str | None) -> list[str]:
        """Write the file; give what is to be said of it, and what the contexts have to say that are in no file."""
        texts = []
        for context in self._contexts:
            if context is self._writing and output is not None:
                problem = _problem(functools.partial(_write, context, self._suffix), output)
                if problem is None:
                    continue
                texts.append(problem)
            texts.append(summary_of(context))
        return texts


def report(installations: Iterable[Installation], contexts: Iterable[object]) -> dict[str, Any]:
    """What was done to each module, as JSON can hold it."""
    installations = list(installations)
    modules: dict[str, dict[str, Any]] = {}
    specialised: dict[str, list[str]] = {}
    left_alone: dict[str, str] = {}
    for name in ("__main__", "__mp_main__"):  # the second one in processes of multiprocessing
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
        "cassette_import": cassette_import.__version__,
        "python": sys.version.split()[0],
        "packages": [name for installation in installations for name in installation.packages],
        "exclude": [name for installation in installations for name in installation.exclude],
        "contexts": [type(context).__name__ for context in contexts],
        "modules": modules,
    }


def origin_of_main() -> str | None:
    """The file of the main module."""
    main = sys.modules["__main__"]
    # `__file__` is gone when a script has ended.
    path = getattr(getattr(main, "__loader__", None), "path", None) or getattr(main, "__file__", None)
    return path if isinstance(path, str) else None


def merged(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One report of several processes: what one of them has done was done."""
    whole: dict[str, Any] = {}
    for document in documents:
        if not whole:
            whole = {**document, "modules": dict(document["modules"])}
            continue
        for key in ("packages", "exclude", "contexts"):
            whole[key] = list(dict.fromkeys([*whole[key], *document[key]]))
        modules = whole["modules"]
        for name, entry in document["modules"].items():
            known = modules.get(name)
            modules[name] = entry if known is None else _merged_module(known, entry)
    return whole


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


def write_report(document: Mapping[str, Any], path: str) -> None:
    """Write a report to a file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(document, indent=2) + "\n")


def check_folder(path: str) -> None:
    """Raise `CannotWrite` if the file cannot be written, as far as can be known beforehand."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise CannotWrite(f"{path}: is a directory")
    if not os.path.isdir(folder):
        raise CannotWrite(f"{path}: there is no directory {folder}")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise CannotWrite(f"{path}: may not be written")


def _formats_of(context: Context, output: str) -> Iterable[str]:
    try:
        return list(known_formats(context))
    except Exception as error:
        name = type(context).__name__
        raise CannotWrite(f"{output}: {name} cannot say what it writes: {error_line(error)}") from error


def _write(context: Context, suffix: str, path: str) -> None:
    known_formats(context)[suffix](path)


def _problem(write: Writer, path: str) -> str | None:
    """Write a file; what is to be said if that fails."""
    try:
        write(path)
    except OSError as error:
        return f"cassette_import: {path} was not written: {error.strerror or error}"
    except Exception as error:
        return f"cassette_import: {path} was not written: {error_line(error)}"
    return None


def write_document(document: Mapping[str, Any], path: str) -> bool:
    """Write a report to a file, or to standard error if that fails; return whether it is in the file."""
    problem = _problem(functools.partial(write_report, document), path)
    if problem is not None:
        _say(problem)
        _say(json.dumps(document, indent=2))
    return problem is None


def _say(text: str) -> None:
    # What the program has put in the place of standard error may be closed, or keep things to itself.
    for stream in (sys.__stderr__, sys.stderr):
        if text and stream is not None:
            try:
                print(text, file=stream, flush=True)
            except (OSError, ValueError):
                continue
            return


def say(texts: Iterable[str]) -> None:
    """Tell texts on standard error, as far as there is one."""
    for text in texts:
        _say(text)
