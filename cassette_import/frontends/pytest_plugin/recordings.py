"""Recordings of tests: where their files are, whether a test is recorded or replayed, and which files are kept."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from cassette_import.contexts.recording.external_functions import ENVIRONMENT
from cassette_import.contexts.recording.record import Record
from cassette_import.contexts.recording.recording_file import BadRecording, Recording, ReplayMismatch
from cassette_import.contexts.recording.replay import Replay
from cassette_import.frontends.programs.import_path import importable
from cassette_import.frontends.pytest_plugin.state import PluginState
from cassette_import.interpreter.suggestions import suggestion

__all__ = ["Recordings"]

_FOLDER: Final = "cassettes"
SUFFIX: Final = ".cassette"
MODES: Final = ("once", "none", "new_episodes", "all", "off")
WITHOUT: Final = ("files", "machine", ENVIRONMENT)
"""External calls that are not recorded in tests by default. Tests bring their files along and make more of them, and
compare what a function reports of the process and the machine with the actual ones."""

MATCHING: Final = ("match_on", "order", "allow_playback_repeats")
"""The options of `Replay` that `Record` does not have."""
RECORDED: Final = ("boundary", "mask", "without")
"""The options that a replay takes from the recording."""

_MARKER: Final = "cassette_record"
_LONGEST: Final = 120
_UNFINISHED: Final = ".unfinished"


# For the type checker: pytest has no type for the exception of `fail`.
class TestReplayMismatch(ReplayMismatch, pytest.fail.Exception):  # type: ignore[name-defined, misc]
    """A mismatch that pytest takes for a failure of the test: so it still tears down the fixtures."""

    __test__ = False

    def __init__(self, message: str, *, name: str = "") -> None:
        pytest.fail.Exception.__init__(self, f"{message}\nTo record it again: pytest --cassette-record=all {name}")


class _TestRecording:
    """The recording of one test, while it is recorded or replayed."""

    def __init__(self, path: Path, context: Record | Replay) -> None:
        self.path = path
        self.context = context
        self.has_failed = False
        self.was_skipped = False


class Recordings:
    """The recordings of all tests of a pytest run.

    Parameters
    ----------
    config:
        The configuration of pytest.
    mode:
        The mode given by the command line or the ini file, one of `MODES`; None if there is none.
    marked_mode:
        The mode of the tests that have the marker and name none, given by ``--record-mode``.

    Raises
    ------
    pytest.UsageError
        If the mode is unknown.
    """

    def __init__(self, config: pytest.Config, mode: str | None, marked_mode: str | None = None) -> None:
        self._config = config
        self._mode = self._checked(mode)
        self._marked_mode = self._checked("all" if marked_mode == "rewrite" else marked_mode)
        self._options = _ini_options(config.getini("cassette_record_options"))
        self._active: _TestRecording | None = None
        self._unsettled: _TestRecording | None = None
        self.counts: Counter[str] = Counter()

    def takes(self, item: pytest.Item) -> bool:
        """Whether this test is recorded or replayed. If its marker has an unknown mode, `ready` notes that."""
        try:
            return self._mode_of(item) != "off"
        except pytest.UsageError:
            return True

    def _mode_of(self, item: pytest.Item) -> str:
        marker = item.get_closest_marker(_MARKER)
        marked = None
        if marker is not None:
            if len(marker.args) > 1:
                raise pytest.UsageError(f"cassette: the marker {_MARKER} takes one mode, not {len(marker.args)}")
            marked = self._checked(marker.args[0] if marker.args else marker.kwargs.get("mode"))
        return "off" if marked == "off" else self._mode or self._marked_mode or marked or "once"

    def _checked(self, mode: Any) -> str | None:
        if mode is not None and mode not in MODES:
            known = f"; there are {', '.join(MODES)}{suggestion(str(mode), MODES)}"
            raise pytest.UsageError(f"cassette: there is no mode {mode!r} of recording{known}")
        return mode  # type: ignore[no-any-return]  # None, or one of `MODES`

    def install_own_code(self, state: PluginState) -> None:
        """Overdub the tests and the other modules of the project, so that their external calls are intercepted."""
        state.recordings = self.counts
        own = _own_modules(str(self._config.rootpath))
        if own:
            state.install(own)

    # ---- a test

    @contextlib.contextmanager
    def ready(self, item: pytest.Item) -> Iterator[None]:
        """Enter the context that records or replays a test, around all its other contexts. It is paused until `active`.

        So a call that another context replaces is not recorded, and the calls that the other contexts make are.
        """
        try:
            recording = _TestRecording(_path_of(item), self._context(item, _path_of(item)))
        except pytest.UsageError as error:  # `active` raises it, so that it fails this test alone
            item.stash[_PROBLEM] = error
            yield
            return
        item.stash[_RECORDING] = self._unsettled = recording
        with recording.context.entered(), recording.context.paused():
            yield

    @contextlib.contextmanager
    def active(self, item: pytest.Item) -> Iterator[Record | Replay]:
        """Record or replay in a block."""
        if _PROBLEM in item.stash:
            pytest.fail(str(item.stash[_PROBLEM]), pytrace=False)
        recording = self._active = item.stash[_RECORDING]
        context = recording.context
        context.is_paused = False
        try:
            yield context
        finally:
            self._active = None
            context.is_paused = True
            context.close()
        if isinstance(context, Replay) and not (recording.has_failed or recording.was_skipped):
            context.check_end()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Neither record nor replay in a block."""
        with contextlib.nullcontext() if self._active is None else self._active.context.paused():
            yield

    def _context(self, item: pytest.Item, path: Path) -> Record | Replay:
        mode = self._mode_of(item)
        options: dict[str, Any] = {"without": WITHOUT, **self._options}
        for marker in reversed(list(item.iter_markers(_MARKER))):  # the marker of a module before that of its function
            options |= {name: value for name, value in marker.kwargs.items() if name != "mode"}
        places = self._places(item)
        try:
            if mode == "all" or (mode != "none" and not path.exists()):
                return self._record(item, path, _without(options, MATCHING), places)
            if mode == "new_episodes":
                new: dict[str, Any] = {"record_mode": mode, "output": str(path) + _UNFINISHED}
                return self._replay(item, str(path), places, {**_without(options, RECORDED), **new})
            if path.exists():
                return self._replay(item, str(path), places, _without(options, RECORDED))
            header: dict[str, Any] = {name: _listed(options[name]) for name in RECORDED if name in options}
            missing = Recording.missing(str(path), header)
            return self._replay(item, missing, places, _without(options, RECORDED))
        except (BadRecording, OSError, TypeError, ValueError) as error:
            raise pytest.UsageError(f"cassette: {error}") from error

    def _replay(
        self, item: pytest.Item, recording: str | Recording, places: dict[str, str], options: dict[str, Any]
    ) -> Replay:
        context = Replay(recording, places=places, **options)
        context.make_mismatch = functools.partial(TestReplayMismatch, name=item.nodeid)
        return context

    def _record(self, item: pytest.Item, path: Path, options: dict[str, Any], places: dict[str, str]) -> Record:
        path.parent.mkdir(parents=True, exist_ok=True)
        context = Record(**options, places=places)
        context.inform({"test": item.nodeid, "output": str(path)})
        context.stream(str(path) + _UNFINISHED)
        return context

    def _places(self, item: pytest.Item) -> dict[str, str]:
        """Folders that have another path in the next run, or on another machine."""
        places = {"project": str(self._config.rootpath), "python": sys.executable}
        factory: Any = getattr(self._config, "_tmp_path_factory", None)
        if factory is not None:
            places["temporary"] = str(factory.getbasetemp())
        return places

    def learn(self, item: pytest.Item, report: pytest.TestReport) -> None:
        """Note the outcome of a phase of a test; after the last one, keep or delete its recording."""
        recording = item.stash.get(_RECORDING, None)
        if recording is None:
            return
        if report.failed:
            recording.has_failed = True
        elif report.skipped and not hasattr(report, "wasxfail"):
            recording.was_skipped = True
        if report.when == "teardown":
            del item.stash[_RECORDING]
            self._unsettled = None
            self._settle(recording)

    def abandon(self) -> None:
        """Delete the recording of a test that is still running when pytest ends."""
        recording, self._unsettled = self._unsettled, None
        if recording is not None:
            recording.has_failed = True
            self._settle(recording)

    def _settle(self, recording: _TestRecording) -> None:
        recording.context.close()  # it is still open if the test was skipped before its fixtures
        unfinished = Path(str(recording.path) + _UNFINISHED)
        is_lost = recording.has_failed or recording.was_skipped
        if isinstance(recording.context, Replay):
            if recording.was_skipped:
                self.counts["skipped"] += 1
            else:
                self.counts["replayed"] += not recording.context.recording.is_missing
            if unfinished.exists() and is_lost:
                unfinished.unlink()
            elif unfinished.exists():
                os.replace(unfinished, recording.path)
                self.counts["extended"] += 1
            return
        if is_lost:
            unfinished.unlink(missing_ok=True)
            self.counts["not kept, because the test did not pass" if recording.has_failed else "skipped"] += 1
        elif recording.context.calls:
            os.replace(unfinished, recording.path)
            self.counts["recorded"] += 1
        else:
            unfinished.unlink(missing_ok=True)
            recording.path.unlink(missing_ok=True)
        for folder in (recording.path.parent, recording.path.parent.parent):
            with contextlib.suppress(OSError):  # the folder is not empty
                folder.rmdir()


_RECORDING: Final = pytest.StashKey[_TestRecording]()
_PROBLEM: Final = pytest.StashKey[pytest.UsageError]()


def _path_of(item: pytest.Item) -> Path:
    """The file of a test's recording: ``cassettes/<module>/<test>.cassette``, beside the file of the test."""
    name = ".".join(item.nodeid.split("::")[1:]) or item.name
    usable = re.sub(r"[^\w.\[\] -]", "_", name)
    if usable != name or len(usable) > _LONGEST:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        usable = f"{usable[:_LONGEST]}-{digest}"
    return item.path.parent / _FOLDER / item.path.stem / f"{usable}{SUFFIX}"


def _own_modules(root: str) -> tuple[str, ...]:
    """The top-level modules of the project: those that are imported, and those on the import path."""
    names: dict[str, None] = {}
    for name, module in list(sys.modules.items()):
        if _is_own(getattr(module, "__file__", None), root):
            names[name] = None
    for entry in sys.path:
        if entry and _is_own(os.path.join(entry, "x.py"), root):
            names |= dict.fromkeys(name for name in importable(entry) if _has_source(entry, name))
    # A package covers its submodules.
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
    """Whether a name is a module or a package, and not a folder without code."""
    path = os.path.join(folder, name)
    return os.path.isfile(f"{path}.py") or os.path.isfile(os.path.join(path, "__init__.py"))


def _without(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def _ini_options(lines: Iterable[str]) -> dict[str, Any]:
    """Options of the ini file: ``name = value`` in each line, with several values separated by spaces."""
    options: dict[str, Any] = {}
    for line in lines:
        name, found, value = (part.strip() for part in line.partition("="))
        if not found:
            raise pytest.UsageError(f"cassette_record_options: {line!r} is not of the form NAME = VALUE")
        if value.lower() in ("true", "false"):
            options[name] = value.lower() == "true"
        elif name in _SINGLE:
            options[name] = value
        else:
            options[name] = value.split()
    return options


_SINGLE: Final = ("order", "before_record_request", "before_record_response")
"""Options that have one value."""


def _listed(value: Any) -> list[str]:
    return value.split("+") if isinstance(value, str) else list(value)
