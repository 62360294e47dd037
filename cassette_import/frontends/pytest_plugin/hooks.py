"""The hooks and fixtures of the pytest plugin: packages overdubbed while tests run, contexts active around each test.

pytest finds this module by its entry point, in every run wherever cassette_import is installed. So it imports no other
module of cassette_import until an option, a marker or a fixture asks for one.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from cassette_import.contexts import Record, Replay
    from cassette_import.frontends.pytest_plugin.fixture import Overdubbing
    from cassette_import.frontends.pytest_plugin.recordings import Recordings
    from cassette_import.frontends.pytest_plugin.state import PluginState
    from cassette_import.frontends.settings import Settings

_OPTIONS: Final = ("packages", "exclude", "context", "report")
_ENVIRONMENT: Final = "CASSETTE_IMPORT_"
_WORKER_OUTPUT: Final = "cassette_import"
_FIRST_WORKER: Final = "gw0"
_STATE: Final = pytest.StashKey["PluginState"]()
_PROBLEM: Final = pytest.StashKey[str]()
"""Why the contexts of a test cannot be entered."""
_RECORDINGS: Final[pytest.StashKey[Recordings]] = pytest.StashKey()
_FIXTURE: Final = "cassette_recording"
_MARKER: Final = "cassette_record"
_NETWORK_MARKER: Final = "block_network"
_NETWORK_FIXTURE: Final = "_cassette_network"
_MODES: Final = ("once", "none", "new_episodes", "all")
_RECORDING_OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "--record-mode": {
        "choices": (*_MODES, "rewrite"),
        "default": None,
        "help": "the mode for tests with the marker cassette_record: as --cassette-record, or rewrite, which is all",
    },
    "--block-network": {"action": "store_true", "default": False, "help": "refuse connections that tests open"},
    "--allowed-hosts": {"default": None, "help": "hosts or patterns that are not refused, separated by commas"},
}
"""The options of pytest-recording."""


# ---- options and installation


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and ini options of the same names."""
    group = parser.getgroup("cassette_import", "overdubbing packages")
    texts = {
        "packages": "overdub these packages, separated by commas",
        "exclude": "except these",
        "context": "run each test in this context: noop, module:Class, …; repeated, outermost first",
        "report": "write what was rewritten, specialised and left alone to this file, as JSON",
    }
    for name in _OPTIONS:
        action = "store" if name == "report" else "append"
        group.addoption(f"--cassette-{name}", action=action, default=None, metavar=name.upper(), help=texts[name])
        kind: Any = "string" if name == "report" else "linelist"
        parser.addini(f"cassette_{name}", texts[name], type=kind, default=None)
    text = (
        "record the external calls of each test, or replay them: once (record where no recording exists), none, "
        "new_episodes (replay, and record what is new), all"
    )
    group.addoption("--cassette-record", choices=_MODES, default=None, help=text)
    parser.addini("cassette_record", text, type="string", default=None)
    text = "options of recordings, as of the marker: NAME = VALUE … in each line"
    parser.addini("cassette_record_options", text, type="linelist", default=[])
    for name, keywords in _RECORDING_OPTIONS.items():
        with contextlib.suppress(ValueError):  # pytest-recording has added it
            group.addoption(name, **keywords)


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install the packages before a conftest imports them; packages that are imported already are overdubbed too."""
    if not _is_requested(early_config):
        return
    wanted = _settings(early_config)
    if wanted.disable:
        return
    from cassette_import.contexts.lookup import importable_from
    from cassette_import.frontends.pytest_plugin.options import folders_added_later

    state = _new_state()
    with importable_from(folders_added_later(early_config, wanted)):
        state.contexts = [state.made(text) for text in wanted.contexts or ()]
        if wanted.packages:
            # A conftest may put the folder of a package on the path later.
            state.install(wanted.packages, wanted.exclude or (), may_come_later=True)
    state.report_file = None if wanted.report is None else os.path.abspath(wanted.report)
    early_config.stash[_STATE] = state


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the fixtures that block the network, and that record or replay, to each test that needs them.

    pytest sets them up before all other fixtures and tears them down after the others of the test.
    """
    names: list[str] | None = getattr(item, "fixturenames", None)
    if names is None:
        return
    if _blocks_network(item):
        names.insert(0, _NETWORK_FIXTURE)
    _add_recording(item, names)


def _blocks_network(item: pytest.Item) -> bool:
    """Whether an option or a marker says that this plugin refuses the connections of a test."""
    config = item.config
    if not config.getoption("block_network", False) and item.get_closest_marker(_NETWORK_MARKER) is None:
        return False
    return not config.pluginmanager.hasplugin("recording")  # pytest-recording does it


def _add_recording(item: pytest.Item, names: list[str]) -> None:
    """Add the fixture that records or replays to the names of a test's fixtures."""
    config = item.config
    if not (
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
        marked_mode = None if config.pluginmanager.hasplugin("recording") else config.getoption("record_mode", None)
        recordings = config.stash[_RECORDINGS] = Recordings(config, mode, marked_mode)
    if recordings.takes(item):
        # The external calls of the other fixtures are recorded as well.
        names[:] = [_FIXTURE, *(name for name in names if name != _FIXTURE)]


def _is_requested(config: pytest.Config) -> bool:
    """Whether an option, an ini option or an environment variable asks for overdubbing."""
    given = vars(config.known_args_namespace)
    return any(
        given.get(f"cassette_{name}")
        or config.getini(f"cassette_{name}")
        or _environment().get(_ENVIRONMENT + name.upper())
        for name in _OPTIONS
    )


def _environment() -> dict[str, str]:
    """The environment; empty in a child process of `run --subprocesses`, which has applied these variables already."""
    return {} if "cassette_import.frontends.subprocesses.process_family" in sys.modules else dict(os.environ)


def _settings(config: pytest.Config) -> Settings:
    from cassette_import.frontends.pytest_plugin.options import settings_of

    return settings_of(config, _environment())


def _new_state() -> PluginState:
    from cassette_import.frontends.pytest_plugin.state import PluginState

    return PluginState()


def _add_state(config: pytest.Config) -> PluginState:
    """A state for the rest of the test run. To be called while pytest captures no output."""
    state = config.stash[_STATE] = _new_state()
    _notify_of_specialising(config, state)
    return state


def _notify_of_specialising(config: pytest.Config, state: PluginState) -> None:
    """Have a notice written when specialising takes long, by one of the workers of xdist."""
    if getattr(config, "workerinput", {"workerid": _FIRST_WORKER})["workerid"] == _FIRST_WORKER:
        state.notify_of_specialising()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Complain about packages that no finder knows: by now, all folders are on the path."""
    state = session.config.stash.get(_STATE, None)
    recordings = session.config.stash.get(_RECORDINGS, None)
    if recordings is not None and not _settings(session.config).disable:
        if state is None:
            state = _add_state(session.config)
        recordings.install_own_code(state)
    if state is None:
        return
    if (problem := state.missing()) and not hasattr(session.config, "workerinput"):
        raise pytest.UsageError(problem)


# ---- around tests


class _Marker(pytest.MarkDecorator):
    """`pytest.mark.cassette`: a context type as its only argument is an argument, not the class to mark."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        module = sys.modules.get("cassette_import.activation.context")
        if module and not keywords and len(arguments) == 1:
            (only,) = arguments
            if isinstance(only, type) and issubclass(only, module.Context):
                return self.with_args(only)
        return super().__call__(*arguments, **keywords)


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    config.addinivalue_line(
        "markers",
        "cassette(*contexts, packages=...): run the test in contexts, outermost first, given as instances, types "
        "or names; overdub further packages during the test",
    )
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(mode='once', boundary=..., mask=..., without=..., match_on=..., filter_headers=..., ...): record "
        "the external calls of the test, or replay them; the mode 'off' does neither, whatever the options are",
    )
    config.addinivalue_line(
        "markers",
        f"{_NETWORK_MARKER}(allowed_hosts=[...]): refuse the connections that the test opens, except to these",
    )
    # `pytest.mark` creates attributes on demand; type checkers do not know that it also accepts one.
    # For the type checker: pytest makes markers on demand.
    pytest.mark.cassette = _Marker(pytest.mark.cassette.mark, _ispytest=True)  # type: ignore[attr-defined]
    state = config.stash.get(_STATE, None)
    if state is not None:
        _notify_of_specialising(config, state)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the notices of specialising."""
    state = config.stash.get(_STATE, None)
    if state is not None:
        state.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Refuse the connections of a test without fixtures; the others have a fixture that does it."""
    if hasattr(item, "fixturenames") or not _blocks_network(item):
        return (yield)
    from cassette_import.frontends.pytest_plugin.network import refused

    with refused(item):
        return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Enter the contexts around the setup, call and teardown of a test."""
    markers = list(item.iter_markers("cassette"))
    state = item.config.stash.get(_STATE, None)
    is_recorded = _FIXTURE in getattr(item, "fixturenames", ()) and not _settings(item.config).disable
    if not markers and not is_recorded and (state is None or not state.contexts):
        return (yield)
    if state is None:
        state = _add_state(item.config)
    with contextlib.ExitStack() as stack:
        if is_recorded and (recordings := item.config.stash.get(_RECORDINGS, None)) and recordings.takes(item):
            stack.enter_context(recordings.ready(item))
        problem = state.enter_around_test(stack, reversed(markers), item.nodeid)
        if problem is not None:
            item.stash[_PROBLEM] = problem
        return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test fail whose contexts cannot be entered, unless it is skipped."""
    problem = item.stash.get(_PROBLEM, None)
    if problem is not None:
        pytest.fail(problem, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Report to contexts that follow bodies where the test function begins and ends: the rest is pytest itself."""
    ended = _nothing_to_end if pyfuncitem.config.stash.get(_STATE, None) is None else _followed(pyfuncitem.obj)
    try:
        return (yield)  # the only one: tracebacks show its line, with or without contexts (P1)
    finally:
        ended()


def _followed(test: object) -> Callable[[], None]:
    """Report that the body of a test function begins, unless it reports that itself; return what reports its end."""
    from cassette_import.interpreter.callables import python_function
    from cassette_import.runtime.followed_code import followed_body_of
    from cassette_import.runtime.overdubbed_code import OVERDUBBED

    function = python_function(test)
    if function is None or OVERDUBBED.is_installed(function):
        return _nothing_to_end
    return followed_body_of(function.__code__).ended


def _nothing_to_end() -> None:
    """No body is followed."""


@pytest.fixture
def overdubbing(request: pytest.FixtureRequest) -> Iterator[Overdubbing]:
    """``with overdubbing(context):`` runs part of a test in a context; ``packages=`` overdubs further packages."""
    from cassette_import.frontends.pytest_plugin.fixture import Overdubbing

    state = _new_state()
    if _STATE not in request.config.stash:  # otherwise there are notices already
        capturing: Any = request.config.pluginmanager.getplugin("capturemanager")
        with contextlib.nullcontext() if capturing is None else capturing.global_and_fixture_disabled():
            _notify_of_specialising(request.config, state)
    with contextlib.ExitStack() as stack:
        stack.callback(state.close)
        yield Overdubbing(state, stack)


@pytest.fixture
def _cassette_network(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse connections during the setup, the call and the teardown of the test."""
    from cassette_import.frontends.pytest_plugin.network import refused

    with refused(request.node):
        yield


@pytest.fixture
def cassette_recording(request: pytest.FixtureRequest) -> Iterator[Record | Replay | None]:
    """The context that records or replays this test; None if recordings are switched off."""
    recordings = request.config.stash.get(_RECORDINGS, None)
    if recordings is None or not recordings.takes(request.node) or _settings(request.config).disable:
        yield None
        return
    with recordings.active(request.node) as context:
        yield context


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, object, object]:
    """Neither record nor block the network while a fixture of several tests is set up: it belongs to none of them."""
    if fixturedef.scope == "function":
        return (yield)
    recordings = request.config.stash.get(_RECORDINGS, None)
    network = sys.modules.get("cassette_import.frontends.pytest_plugin.network")
    with (
        contextlib.nullcontext() if recordings is None else recordings.paused(),
        contextlib.nullcontext() if network is None else network.allowed(),
    ):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep or discard the recording of a test once its outcome is known; name the hook that has raised."""
    report = yield
    if call.excinfo is not None and "cassette_import.activation.context" in sys.modules:
        from cassette_import.frontends.programs.failed_hooks import failed_hook

        if report.failed and (text := failed_hook(call.excinfo.tb)) is not None:
            report.sections.append(("cassette_import", text))
    recordings = item.config.stash.get(_RECORDINGS, None)
    if recordings is not None:
        recordings.learn(item, report)
    return report


# ---- results


def pytest_report_header(config: pytest.Config) -> str | None:
    """The line of the header that lists packages and contexts."""
    state = config.stash.get(_STATE, None)
    return None if state is None else state.header()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report of this process and of xdist's workers; a worker sends its results to the controller."""
    config = session.config
    recordings = config.stash.get(_RECORDINGS, None)
    if recordings is not None:
        recordings.abandon()
    state = config.stash.get(_STATE, None)
    if state is None:
        return
    if hasattr(config, "workeroutput"):
        config.workeroutput[_WORKER_OUTPUT] = json.dumps(state.results())
    else:
        if state.problems():
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
        state.write_report()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the results of a worker of xdist; one that crashed has sent none."""
    results = (getattr(node, "workeroutput", None) or {}).get(_WORKER_OUTPUT)
    if results is None:
        return
    state = node.config.stash.get(_STATE, None)
    if state is None:
        state = node.config.stash[_STATE] = _new_state()
    state.workers[node.gateway.id] = json.loads(results)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what was overdubbed, and the results of the contexts."""
    state = config.stash.get(_STATE, None)
    for title, text in [] if state is None else state.sections():
        terminalreporter.write_sep("=", title)
        terminalreporter.write_line(text)
