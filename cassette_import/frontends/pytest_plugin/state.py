"""The state of the plugin in a test run: its installations and contexts, and their results."""

from __future__ import annotations

import contextlib
import functools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import pytest

from cassette_import.activation.context import Context
from cassette_import.contexts.lookup import UnknownContext, context_named
from cassette_import.errors import NotOverdubbable
from cassette_import.frontends.reporting.output import CannotWrite, check_folder, write_document
from cassette_import.frontends.reporting.report import merged, report, specialising
from cassette_import.frontends.settings import names
from cassette_import.importing.installation import Installation, check, install, install_unchecked, installed
from cassette_import.interpreter.standard_error import StandardError
from cassette_import.interpreter.suggestions import suggestion
from cassette_import.kits.reporting import is_reporting, summary_of
from cassette_import.kits.targets import is_reported_elsewhere, meeting_functions, take_unmatched
from cassette_import.kits.text import error_line, plural
from cassette_import.specialization.progress import PROGRESS

__all__ = ["ContextLike", "Packages", "PluginState"]

ContextLike: TypeAlias = Context | type[Context] | str
"""What a marker or the fixture takes: a context, a context type, or text as `-c` takes it."""
Packages: TypeAlias = str | Sequence[str]

_TITLE = "cassette_import"
_MARKER_KEYWORDS = ("packages", "exclude")
_WORTH_SHOWING = 0.5
"""The seconds of specialising from which on the last section says how many they were."""


class PluginState:
    """The installations and contexts of a test run, and their results so far.

    `workers` holds the results of each worker of xdist that has ended; `recordings` holds how many tests were recorded
    and replayed.
    """

    def __init__(self) -> None:
        self.contexts: Sequence[Context] = ()
        self.workers: dict[str, dict[str, Any]] = {}
        self.recordings: Mapping[str, int] = {}
        self._installations: list[Installation] = []
        self._unknown_yet: tuple[str, ...] = ()
        self._sections: list[tuple[str, str]] = []
        self._unmatched: list[str] = []  # targets of contexts that tests have made
        self._without_packages: list[str] = []  # tests with contexts that could meet no function
        self._report_file: str | None = None
        self._is_reported = False
        self._notices: int | None = None

    def notify_of_specialising(self) -> None:
        """Have a notice written when specialising takes long. To be called while pytest captures no output."""
        # pytest redirects the standard error while tests run. The copy of the descriptor leads around that.
        try:
            self._notices = os.dup(2)
        except OSError:
            return
        PROGRESS.notify(StandardError(self._notices, is_inside_line=True))

    def close(self) -> None:
        """End the notices."""
        if self._notices is not None:
            os.close(self._notices)
            self._notices = None

    @property
    def report_file(self) -> str | None:
        """The file for the report, or None."""
        return self._report_file

    @report_file.setter
    def report_file(self, path: str | None) -> None:
        try:
            if path is not None:
                check_folder(path)
        except CannotWrite as error:
            raise pytest.UsageError(f"--cassette-report: {error}") from error
        self._report_file = path

    # ---- contexts and packages

    def made(self, described: ContextLike) -> Context:
        """The context that a marker, an option or the fixture describes."""
        __tracebackhide__ = True
        if isinstance(described, Context):
            return described
        try:
            if isinstance(described, str):
                return context_named(described)
            kind: Any = described
            if isinstance(kind, type) and issubclass(kind, Context):
                return _instance(kind)
        except (UnknownContext, TypeError) as error:
            raise pytest.UsageError(f"cassette: {error}") from None
        raise pytest.UsageError(f"cassette: {described!r} is no context, context type or name of one")

    def install(self, packages: Packages, exclude: Packages = (), *, may_come_later: bool = False) -> Installation:
        """Install packages; with `may_come_later`, also names that no finder knows before `missing` is called."""
        __tracebackhide__ = True
        for given in (packages, exclude):
            if not isinstance(given, str) and not all(isinstance(name, str) for name in _items(given)):
                raise pytest.UsageError(f"cassette: packages are given as names, not {given!r}")
        wanted = names([packages] if isinstance(packages, str) else packages)
        unwanted = names([exclude] if isinstance(exclude, str) else exclude)
        try:
            installation = install(wanted, exclude=unwanted)
        except NotOverdubbable as error:
            raise pytest.UsageError(f"cassette: {error}") from error
        except ModuleNotFoundError as error:
            if not may_come_later:
                raise pytest.UsageError(f"cassette: {error}") from error
            self._unknown_yet = wanted
            installation = install_unchecked(wanted, unwanted)
        self._installations.append(installation)
        return installation

    @contextlib.contextmanager
    def active(
        self, *described: ContextLike, packages: Packages = (), exclude: Packages = (), title: str | None = None
    ) -> Iterator[Any]:
        """Enter contexts and install packages for the duration of the block.

        With `title`, the summaries of contexts that were made here, not passed in, are printed at the end under it.
        """
        __tracebackhide__ = True
        with contextlib.ExitStack() as stack:
            if packages:
                stack.enter_context(self.install(packages, exclude))
            contexts = [self.made(each) for each in described]
            if title is not None:
                for each, context in zip(described, contexts, strict=True):
                    if context is not each:
                        is_reported_elsewhere(context)
                        whole = f"{_TITLE}: {title}" + (f": {_name(context)}" if len(contexts) > 1 else "")
                        stack.callback(functools.partial(self._keep_summary, whole, context))
            for context in contexts:
                stack.enter_context(context)
            yield contexts[0] if len(contexts) == 1 else tuple(contexts) or None

    def enter_around_test(self, stack: contextlib.ExitStack, markers: Iterable[pytest.Mark], title: str) -> str | None:
        """Enter the contexts of the options and of a test's markers; return why one of them cannot be entered.

        The markers of a class come before those of its method, so that their contexts are outside.
        """
        try:
            for context in self.contexts:
                stack.enter_context(context)
            for marker in markers:
                _check_marker(marker)
                made = stack.enter_context(self.active(*marker.args, **marker.kwargs, title=title))
                if made is not None and not installed():
                    contexts = made if isinstance(made, tuple) else (made,)
                    have_met_functions = meeting_functions(*map(type, contexts))
                    stack.callback(self._note_unmet, title, have_met_functions)
        except pytest.UsageError as error:
            return str(error)
        except Exception as error:  # raised when a context was entered, or by arguments of other types
            return f"cassette: the contexts of this test cannot be entered: {error_line(error)}"
        return None

    def _note_unmet(self, title: str, have_met_functions: Callable[[], bool]) -> None:
        """Note a test for which no package was overdubbed, and whose contexts met no function."""
        if not have_met_functions():
            self._without_packages.append(title)

    def _keep_summary(self, title: str, context: Context) -> None:
        if is_reporting(context):
            self._sections.append((title, summary_of(context)))

    def missing(self) -> str | None:
        """The problem with a package name that was unknown at first, if no finder knows it now; otherwise None."""
        try:
            for name in self._unknown_yet:
                check(name)
        except (ModuleNotFoundError, NotOverdubbable) as error:
            return f"cassette: {error}"
        return None

    # ---- results

    def header(self) -> str:
        """One line with the packages and contexts."""
        packages = ", ".join(name for installation in self._installations for name in installation.packages)
        kinds = ", ".join(type(context).__name__ for context in self.contexts)
        return f"{_TITLE}: packages {packages or 'none'}; context {kinds or 'none'}"

    def report(self) -> dict[str, Any]:
        """The report of this process."""
        # Several tests may have installed the same module, one after the other.
        reports = [report([installation], self.contexts) for installation in self._installations]
        return {**merged(reports or [report([], self.contexts)]), "specialising": specialising()}

    def results(self) -> dict[str, Any]:
        """What a worker of xdist sends to the controller."""
        summaries = [
            (f"{_TITLE}: {_name(context)}", summary_of(context)) for context in self.contexts if is_reporting(context)
        ]
        for context in self.contexts:
            is_reported_elsewhere(context)
        self._unmatched += [f"{file}:{line}: {text}" for text, file, line in take_unmatched()]
        unmatched = [(f"{_TITLE}: targets that were never called", "\n".join(self._unmatched))]
        tests = [
            f"{title}: no package is overdubbed: its marker needs packages=[…]" for title in self._without_packages
        ]
        unmet = [(f"{_TITLE}: contexts that met no function", "\n".join(tests))]
        return {
            "report": self.report(),
            "sections": [*summaries, *self._sections, *unmatched, *unmet],
            "missing": self.missing(),
            "recordings": dict(self.recordings),
        }

    def problems(self) -> list[str]:
        """The problems with package names in this process and in the workers."""
        everything = [self.missing(), *(worker["missing"] for worker in self.workers.values())]
        return list(dict.fromkeys(filter(None, everything))) if self.workers else []

    def write_report(self) -> None:
        """Write the report of all processes, if there is a file for it."""
        if self._report_file is not None:
            self._is_reported = write_document(self._whole_report(), self._report_file)

    def _whole_report(self) -> dict[str, Any]:
        return merged([self.report(), *(worker["report"] for worker in self.workers.values())])

    def sections(self) -> Iterator[tuple[str, str]]:
        """The titles and texts that pytest prints at the end of the run."""
        lines = [f"ERROR: {problem}" for problem in self.problems()]
        whole = self._whole_report()
        if whole["packages"] and (whole["modules"] or self.missing() is None):
            lines.append(_counted(whole["modules"]))
            if whole["specialising"]["seconds"] >= _WORTH_SHOWING:
                lines.append(_specialising(**whole["specialising"]))
        elif self.contexts:
            lines.append("no package was named for the whole run: --cassette-packages=PACKAGE says what is overdubbed")
        if recordings := self._recordings_counted():
            lines.append(f"recordings: {recordings}")
        if self._is_reported:
            lines.append(f"report written to {self._report_file}")
        if lines:
            yield _TITLE, "\n".join(lines)
        processes = [("", self.results())] if not self.workers else []
        processes += [(f" ({worker})", results) for worker, results in sorted(self.workers.items())]
        for suffix, results in processes:
            for title, text in results["sections"]:
                if text:
                    yield f"{title}{suffix}", text

    def _recordings_counted(self) -> str:
        counts = Counter(self.recordings)
        for worker in self.workers.values():
            counts.update(worker["recordings"])
        return ", ".join(f"{count} {what}" for what, count in sorted(counts.items(), reverse=True) if count)


def _counted(modules: dict[str, dict[str, Any]]) -> str:
    """The numbers of modules and functions that were overdubbed and left alone, as text.

    >>> _counted({"a": {"action": "rewritten", "specialised": {"f": ["Noop"]}, "left_alone": {}}})
    '1 module overdubbed, 1 function specialised'
    """
    rewritten = [entry for entry in modules.values() if entry["action"] == "rewritten"]
    parts = [
        (len(rewritten), "module", "overdubbed"),
        (len(modules) - len(rewritten), "module", "left alone"),
        (sum(len(entry["specialised"]) for entry in rewritten), "function", "specialised"),
        (sum(len(entry["left_alone"]) for entry in rewritten), "function", "left alone"),
    ]
    texts = [f"{count} {noun}{'' if count == 1 else 's'} {what}" for count, noun, what in parts if count]
    return ", ".join(texts) or "no module of these packages was imported"


def _specialising(functions: int, seconds: float, share: float, **_: object) -> str:
    """How much of the test run specialising was, as text."""
    return f"specialising: {plural(functions, 'function')}, {seconds:.1f} seconds, {share:.0%} of the run"


def _check_marker(marker: pytest.Mark) -> None:
    if not (marker.args or marker.kwargs):
        raise pytest.UsageError("cassette: the marker names nothing: write cassette(Context, packages=[…])")
    for name in marker.kwargs:
        if name not in _MARKER_KEYWORDS:
            raise pytest.UsageError(
                f"cassette: the marker takes contexts, {' and '.join(f'{known}=' for known in _MARKER_KEYWORDS)}, "
                f"not {name}={suggestion(name, _MARKER_KEYWORDS)}"
            )


def _items(packages: Any) -> tuple[Any, ...]:
    try:
        return tuple(packages)
    except TypeError:  # neither text nor several texts
        return (packages,)


def _name(context: object) -> str:
    return type(context).__name__


def _instance(context_type: type[Context]) -> Context:
    try:
        return context_type()
    except TypeError:
        raise
    except Exception as error:  # the constructor of a user's context may raise anything
        raise UnknownContext(f"{context_type.__name__} cannot be made: {error_line(error)}") from error
