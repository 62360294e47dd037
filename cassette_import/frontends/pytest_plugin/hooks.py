"""The pytest plugin: packages overdubbed while tests run, and contexts active around each test.

Found by its entry point, in every run of pytest wherever we are installed: does nothing, and imports nothing of
ours, until it is asked. Knows pytest; must not know how anything is overdubbed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from cassette_import.contexts import Record, Replay
    from cassette_import.frontends.pytest_plugin.recordings import Recordings
    from cassette_import.frontends.pytest_plugin.session import ContextLike, Packages, Session
    from cassette_import.frontends.settings import Settings

_OPTIONS: Final = ("packages", "exclude", "context", "report")
_ENVIRONMENT: Final = "CASSETTE_IMPORT_"
_WORKER_OUTPUT: Final = "cassette_import"
_SESSION: Final = pytest.StashKey["Session"]()
_RECORDINGS: Final[pytest.StashKey[Recordings]] = pytest.StashKey()
_FIXTURE: Final = "cassette_recording"
_MARKER: Final = "cassette_record"


# ---- being asked


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and ini options of the same names."""
    group = parser.getgroup("cassette_import", "overdubbing packages")
    texts = {
        "packages": "overdub these packages, separated by commas",
        "exclude": "but not these",
        "context": "have this context active in each test: noop, module:Class, …; repeated, outermost first",
        "report": "write what was rewritten, specialised and left alone to this file, as JSON",
    }
    for name in _OPTIONS:
        action = "store" if name == "report" else "append"
        group.addoption(f"--cassette-{name}", action=action, default=None, metavar=name.upper(), help=texts[name])
        kind: Any = "string" if name == "report" else "linelist"
        parser.addini(f"cassette_{name}", texts[name], type=kind, default=None)
    text = "record what each test gets from outside, or replay it: once (record what is not there yet), none, all"
    group.addoption("--cassette-record", choices=("once", "none", "all"), default=None, help=text)
    parser.addini("cassette_record", text, type="string", default=None)


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install, before a conftest imports what is to be overdubbed; what is imported already is taken in as well."""
    if not _is_asked(early_config):
        return
    wanted = _settings(early_config)
    if wanted.disable:
        return
    from cassette_import.contexts.lookup import importable_from

    session = _new_session()
    with importable_from(_folders_to_come(early_config, wanted)):
        session.contexts = [session.made(text) for text in wanted.contexts or ()]
        if wanted.packages:
            # A conftest may be about to put the folder of a package on the path.
            session.install(wanted.packages, wanted.exclude or (), may_come_later=True)
    session.report_file = None if wanted.report is None else os.path.abspath(wanted.report)
    early_config.stash[_SESSION] = session


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a test that is to be recorded or replayed the fixture that does it, before all others."""
    names: list[str] | None = getattr(item, "fixturenames", None)
    config = item.config
    if names is None or not (
        config.getoption("cassette_record")
        or config.getini("cassette_record")
        or _FIXTURE in names
        or item.get_closest_marker(_MARKER)
    ):
        return
    recordings = config.stash.get(_RECORDINGS, None)
    if recordings is None:
        from cassette_import.frontends.pytest_plugin.recordings import Recordings

        mode = config.getoption("cassette_record") or config.getini("cassette_record") or None
        recordings = config.stash[_RECORDINGS] = Recordings(config, mode)
    if recordings.takes(item):
        # It is set up first, so it is taken down last: what the others do meanwhile is recorded.
        names[:] = [_FIXTURE, *(name for name in names if name != _FIXTURE)]


def _is_asked(config: pytest.Config) -> bool:
    given = vars(config.known_args_namespace)
    return any(
        given.get(f"cassette_{name}")
        or config.getini(f"cassette_{name}")
        or _environment().get(_ENVIRONMENT + name.upper())
        for name in _OPTIONS
    )


def _environment() -> dict[str, str]:
    """The environment; what `run --subprocesses` has put there is done already in this process."""
    return {} if "cassette_import.frontends.subprocesses.process_family" in sys.modules else dict(os.environ)


def _settings(config: pytest.Config) -> Settings:
    """Command line before environment before file; the file is pytest's."""
    from cassette_import.frontends import settings

    def told(source: Callable[[str], Any]) -> settings.Settings:
        packages, exclude, context, report = (source(f"cassette_{name}") for name in _OPTIONS)
        return settings.Settings(
            packages=settings.names(packages) if packages else None,
            exclude=settings.names(exclude) if exclude else None,
            contexts=settings.contexts(context) if context else None,
            report=report or None,
        )

    command_line = told(vars(config.known_args_namespace).get)
    try:
        environment = settings.from_environment(_environment())
    except settings.SettingsError as error:
        raise pytest.UsageError(str(error)) from None
    return command_line.over(environment).over(told(config.getini))


def _new_session() -> Session:
    from cassette_import.frontends.pytest_plugin.session import Session

    return Session()


def _folders_to_come(config: pytest.Config, wanted: Settings) -> list[str]:
    """The folders that pytest will put on the path: when it imports conftests and test modules, which is later."""
    folders = [str(config.rootpath), os.getcwd()]
    # Test modules may be overdubbed as well.
    files = {f"{name}.py" for name in wanted.packages or () if name.startswith("test") or name.endswith("test")}
    if files:
        for folder, below, names in os.walk(config.rootpath):
            below[:] = [name for name in below if not name.startswith(".") and name.isidentifier()]
            if not files.isdisjoint(names):
                folders.append(folder)
    return folders


def pytest_collection_finish(session: pytest.Session) -> None:
    """Whatever puts folders on the path has done so by now: a package that is still unknown is a mistake."""
    ours = session.config.stash.get(_SESSION, None)
    recordings = session.config.stash.get(_RECORDINGS, None)
    if recordings is not None and not _settings(session.config).disable:
        if ours is None:
            ours = session.config.stash[_SESSION] = _new_session()
        recordings.install_own_code(ours)
    if ours is None:
        return
    if (problem := ours.missing()) and not hasattr(session.config, "workerinput"):
        raise pytest.UsageError(problem)


# ---- around tests


class _Marker(pytest.MarkDecorator):
    """`pytest.mark.cassette`. Other marks take a class that is their only argument for what is to be marked."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        module = sys.modules.get("cassette_import.activation.context")
        if module and not keywords and len(arguments) == 1:
            (only,) = arguments
            if isinstance(only, type) and issubclass(only, module.Context):
                return self.with_args(only)
        return super().__call__(*arguments, **keywords)


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    config.addinivalue_line(
        "markers",
        "cassette(*contexts, packages=...): run the test in contexts, outermost first, given as such, as their "
        "types, or by name; with further packages overdubbed meanwhile",
    )
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(mode='once', boundary=..., mask=..., without=...): record what the test gets from outside, or "
        "replay it; with the mode 'off', do neither, whatever is said elsewhere",
    )
    # `pytest.mark` makes its attributes as they are asked for; type checkers do not know that one may be put there.
    pytest.mark.cassette = _Marker(pytest.mark.cassette.mark, _ispytest=True)  # type: ignore[attr-defined]


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have the contexts active while a test is set up, called and torn down."""
    markers = list(item.iter_markers("cassette"))
    session = item.config.stash.get(_SESSION, None)
    is_recorded = _FIXTURE in getattr(item, "fixturenames", ()) and not _settings(item.config).disable
    if not markers and not is_recorded and (session is None or not session.contexts):
        return (yield)
    if session is None:
        session = item.config.stash[_SESSION] = _new_session()
    with contextlib.ExitStack() as stack:
        if is_recorded and (recordings := item.config.stash.get(_RECORDINGS, None)) and recordings.takes(item):
            stack.enter_context(recordings.ready(item))
        for context in session.contexts:
            stack.enter_context(context)
        for marker in reversed(markers):  # a class's before its method's
            stack.enter_context(session.active(*marker.args, **marker.kwargs, told_as=item.nodeid))
        return (yield)


class Overdubbing:
    """The fixture `overdubbing`: contexts for a part of a test, or from here to its end."""

    def __init__(self, session: Session, until_the_end: contextlib.ExitStack) -> None:
        self._session = session
        self._until_the_end = until_the_end

    def __call__(
        self, *contexts: ContextLike, packages: Packages = (), exclude: Packages = ()
    ) -> AbstractContextManager[Any]:
        """``with overdubbing(context):`` runs part of a test in a context.

        Parameters
        ----------
        contexts:
            Contexts, context types, or text as the command line takes it; the first one is outermost.
        packages, exclude:
            What is to be overdubbed meanwhile, further to what is installed.

        Returns
        -------
        A context manager, which gives the context; all of them if there are several.
        """
        return self._session.active(*contexts, packages=packages, exclude=exclude)

    def start(self, *contexts: ContextLike, packages: Packages = (), exclude: Packages = ()) -> Any:
        """The same from here to the end of the test; returns the context, or all of them."""
        return self._until_the_end.enter_context(self(*contexts, packages=packages, exclude=exclude))


@pytest.fixture
def overdubbing() -> Iterator[Overdubbing]:
    """``with overdubbing(context):`` runs part of a test in a context; ``packages=`` are overdubbed too."""
    with contextlib.ExitStack() as stack:
        yield Overdubbing(_new_session(), stack)


@pytest.fixture
def cassette_recording(request: pytest.FixtureRequest) -> Iterator[Record | Replay | None]:
    """What records this test, or replays it; None if the recordings are switched off."""
    recordings = request.config.stash.get(_RECORDINGS, None)
    if recordings is None or not recordings.takes(request.node) or _settings(request.config).disable:
        yield None
        return
    with recordings.active(request.node) as context:
        yield context


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, object, object]:
    """What is set up for several tests is part of no test's recording."""
    recordings = request.config.stash.get(_RECORDINGS, None)
    if recordings is None or fixturedef.scope == "function":
        return (yield)
    with recordings.paused():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A recording is kept unless its test failed."""
    report = yield
    recordings = item.config.stash.get(_RECORDINGS, None)
    if recordings is not None:
        recordings.learn(item, report)
    return report


# ---- telling


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is overdubbed."""
    session = config.stash.get(_SESSION, None)
    return None if session is None else session.header()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, of xdist's workers too; a worker hands its own to the controller."""
    config = session.config
    recordings = config.stash.get(_RECORDINGS, None)
    if recordings is not None:
        recordings.abandon()
    ours = config.stash.get(_SESSION, None)
    if ours is None:
        return
    if hasattr(config, "workeroutput"):
        config.workeroutput[_WORKER_OUTPUT] = json.dumps(ours.found())
    else:
        if ours.problems():
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        ours.write_report()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of xdist is done; one that crashed has told nothing."""
    told = (getattr(node, "workeroutput", None) or {}).get(_WORKER_OUTPUT)
    if told is None:
        return
    session = node.config.stash.get(_SESSION, None)
    if session is None:
        session = node.config.stash[_SESSION] = _new_session()
    session.workers[node.gateway.id] = json.loads(told)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show what was overdubbed, and what the contexts found."""
    session = config.stash.get(_SESSION, None)
    for title, text in [] if session is None else session.sections():
        terminalreporter.write_sep("=", title)
        terminalreporter.write_line(text)
