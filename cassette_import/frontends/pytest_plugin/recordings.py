"""Recordings of tests: where they lie, whether a test is recorded or replayed, and which recordings are kept.

Knows tests and their outcomes, and the contexts `Record` and `Replay`; must not know pytest's hooks.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from cassette_import.contexts.recording.boundaries import ENVIRONMENT
from cassette_import.contexts.recording.record import Record
from cassette_import.contexts.recording.recording_file import BadRecording, Departure, Recording
from cassette_import.contexts.recording.replay import Replay
from cassette_import.frontends.programs.import_path import importable
from cassette_import.frontends.pytest_plugin.session import Session

__all__ = ["FOLDER", "Recordings", "path_of"]

FOLDER: Final = "cassettes"
SUFFIX: Final = ".cassette"
MODES: Final = ("once", "none", "all", "off")
WITHOUT: Final = ("files", "machine", ENVIRONMENT)
"""What is not recorded in tests unless they ask for it: they have their files with them, and make more of them; and
they compare what they are told of their process and their machine with what these are."""

_MARKER: Final = "cassette_record"
_LONGEST: Final = 120
_UNFINISHED: Final = ".unfinished"


class TestDeparture(Departure, pytest.fail.Exception):  # type: ignore[name-defined, misc]
    """A departure as pytest likes it: with others that are no `Exception`, it leaves fixtures as they are."""

    __test__ = False

    def __init__(self, message: str, *, name: str = "") -> None:
        pytest.fail.Exception.__init__(self, f"{message}\nTo record it anew: pytest --cassette-record=all {name}")


class _Tape:
    """One test, while it is recorded or replayed."""

    def __init__(self, path: Path, context: Record | Replay) -> None:
        self.path = path
        self.context = context
        self.has_failed = False


class Recordings:
    """The recordings of a run of tests.

    Parameters
    ----------
    config:
        pytest's.
    mode:
        What the command line or the ini file says: ``"once"``, ``"none"``, ``"all"``; None if nothing.

    Raises
    ------
    pytest.UsageError
        If there is no such mode.
    """

    def __init__(self, config: pytest.Config, mode: str | None) -> None:
        self._config = config
        self._mode = self._checked(mode)
        self._now: _Tape | None = None
        self._unsettled: _Tape | None = None
        self.counts: Counter[str] = Counter()

    def takes(self, item: pytest.Item) -> bool:
        """Whether this test is to be recorded or replayed."""
        return self._mode_of(item) != "off"

    def _mode_of(self, item: pytest.Item) -> str:
        marker = item.get_closest_marker(_MARKER)
        said = None
        if marker is not None:
            said = self._checked(marker.args[0] if marker.args else marker.kwargs.get("mode"))
        return "off" if said == "off" else self._mode or said or "once"

    def _checked(self, mode: Any) -> str | None:
        if mode is not None and mode not in MODES:
            raise pytest.UsageError(f"cassette: there is no mode {mode!r} of recording; there are {', '.join(MODES)}")
        return mode  # type: ignore[no-any-return]

    def install_own_code(self, session: Session) -> None:
        """Overdub the tests, and what else lies in the project, so that its calls to the outside are met."""
        session.recordings = self.counts
        own = _own_modules(str(self._config.rootpath))
        if own:
            session.install(own)

    # ---- a test

    @contextlib.contextmanager
    def ready(self, item: pytest.Item) -> Iterator[None]:
        """Have a recording for the test, outside of all its other contexts; it pauses except when it is `active`.

        So what those replace is not asked for, and what they ask for is recorded.
        """
        try:
            tape = _Tape(path_of(item), self._context(item, path_of(item)))
        except pytest.UsageError as error:  # to be raised where it is that test's
            item.stash[_PROBLEM] = error
            yield
            return
        item.stash[_TAPE] = self._unsettled = tape
        with tape.context.entered(), tape.context.paused():
            yield

    @contextlib.contextmanager
    def active(self, item: pytest.Item) -> Iterator[Record | Replay]:
        """Record or replay meanwhile."""
        if _PROBLEM in item.stash:
            raise item.stash[_PROBLEM]
        tape = self._now = item.stash[_TAPE]
        context = tape.context
        context.is_paused = False
        try:
            yield context
        finally:
            self._now = None
            context.is_paused = True
            if isinstance(context, Record):
                context.close()
        if isinstance(context, Replay) and not tape.has_failed:
            context.check_end()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """What runs meanwhile is part of no recording."""
        with contextlib.nullcontext() if self._now is None else self._now.context.paused():
            yield

    def _context(self, item: pytest.Item, path: Path) -> Record | Replay:
        mode = self._mode_of(item)
        options: dict[str, Any] = {"without": WITHOUT}
        for marker in reversed(list(item.iter_markers(_MARKER))):  # a module's before its function's
            options |= {name: value for name, value in marker.kwargs.items() if name != "mode"}
        places = self._places(item)
        try:
            if mode == "all" or (mode == "once" and not path.exists()):
                return self._record(item, path, options, places)
            if path.exists():
                return self._replay(item, str(path), places)
        except (BadRecording, OSError, TypeError, ValueError) as error:
            raise pytest.UsageError(f"cassette: {error}") from error
        header = {name: _listed(value) for name, value in options.items()}
        return self._replay(item, Recording.missing(str(path), header), places)

    def _replay(self, item: pytest.Item, recording: str | Recording, places: dict[str, str]) -> Replay:
        context = Replay(recording, places=places)
        context.departs_with = functools.partial(TestDeparture, name=item.nodeid)
        return context

    def _record(self, item: pytest.Item, path: Path, options: dict[str, Any], places: dict[str, str]) -> Record:
        path.parent.mkdir(parents=True, exist_ok=True)
        context = Record(**options, places=places)
        context.inform({"test": item.nodeid, "output": str(path)})
        context.stream(str(path) + _UNFINISHED)
        return context

    def _places(self, item: pytest.Item) -> dict[str, str]:
        """Folders that are elsewhere the next time, and on another machine."""
        places = {"project": str(self._config.rootpath), "python": sys.executable}
        factory: Any = getattr(self._config, "_tmp_path_factory", None)
        if factory is not None:
            places["temporary"] = str(factory.getbasetemp())
        return places

    def learn(self, item: pytest.Item, report: pytest.TestReport) -> None:
        """A phase of a test is over; after the last one, keep its recording or do not."""
        tape = item.stash.get(_TAPE, None)
        if tape is None:
            return
        if report.failed or (report.skipped and not hasattr(report, "wasxfail")):
            tape.has_failed = True
        if report.when == "teardown":
            del item.stash[_TAPE]
            self._unsettled = None
            self._settle(tape)

    def abandon(self) -> None:
        """The run ends, maybe in the middle of a test: what was recorded of it is not kept."""
        tape, self._unsettled = self._unsettled, None
        if tape is not None:
            tape.has_failed = True
            self._settle(tape)

    def _settle(self, tape: _Tape) -> None:
        if isinstance(tape.context, Replay):
            self.counts["replayed"] += not tape.context.recording.is_missing
            return
        tape.context.close()  # nobody has if the test was skipped before its fixtures
        unfinished = Path(str(tape.path) + _UNFINISHED)
        if tape.has_failed:
            unfinished.unlink(missing_ok=True)
            self.counts["not kept, because the test did not pass"] += 1
        elif tape.context.calls:
            os.replace(unfinished, tape.path)
            self.counts["recorded"] += 1
        else:
            unfinished.unlink(missing_ok=True)
            tape.path.unlink(missing_ok=True)
        for folder in (tape.path.parent, tape.path.parent.parent):
            with contextlib.suppress(OSError):  # it is not empty
                folder.rmdir()


_TAPE: Final = pytest.StashKey[_Tape]()
_PROBLEM: Final = pytest.StashKey[pytest.UsageError]()


def path_of(item: pytest.Item) -> Path:
    """Where the recording of a test lies: ``cassettes/<module>/<test>.cassette``, beside the test's file."""
    name = ".".join(item.nodeid.split("::")[1:]) or item.name
    usable = re.sub(r"[^\w.\[\] -]", "_", name)
    if usable != name or len(usable) > _LONGEST:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        usable = f"{usable[:_LONGEST]}-{digest}"
    return item.path.parent / FOLDER / item.path.stem / f"{usable}{SUFFIX}"


def _own_modules(root: str) -> tuple[str, ...]:
    """The top-level modules that lie in the project: those that are imported, and those that could be."""
    names: dict[str, None] = {}
    for name, module in list(sys.modules.items()):
        if _is_own(getattr(module, "__file__", None), root):
            names[name] = None
    for entry in sys.path:
        if entry and _is_own(os.path.join(entry, "x.py"), root):
            names |= dict.fromkeys(name for name in importable(entry) if _has_source(entry, name))
    # A package stands for what is in it.
    return tuple(
        name
        for name in names
        if name not in ("__main__", "cassette_import")
        and not name.startswith("cassette_import.")
        and not any(f"{name}.".startswith(f"{other}.") for other in names if other != name)
    )


def _is_own(file: str | None, root: str) -> bool:
    if not isinstance(file, str) or not file.endswith(".py"):
        return False
    path = os.path.abspath(file)
    inside = path.startswith(os.path.join(root, ""))
    return inside and not {"site-packages", "dist-packages"} & set(path[len(root) :].split(os.sep))


def _has_source(folder: str, name: str) -> bool:
    """Whether it is a module, and not a folder without code in it."""
    path = os.path.join(folder, name)
    return os.path.isfile(f"{path}.py") or os.path.isfile(os.path.join(path, "__init__.py"))


def _listed(value: Any) -> list[str]:
    return value.split("+") if isinstance(value, str) else list(value)
