"""The pytest plugin: packages overdubbed while tests run, and contexts active around each test.

Found by its entry point, in every run of pytest wherever we are installed: does nothing, and imports next to
nothing, until it is asked. Knows pytest; must not know how anything is overdubbed.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

if TYPE_CHECKING:
    from cassette_import import Context, Installation
    from cassette_import.settings import Settings

    ContextLike: TypeAlias = Context | type[Context] | str
    """What a marker or the fixture takes: a context, a context type, or text as `-c` takes it."""

_OPTIONS: Final = ("packages", "exclude", "context", "report")
_ENVIRONMENT: Final = "CASSETTE_IMPORT_"
_WORKER_OUTPUT: Final = "cassette_import"


class Session:
    """What was asked for, and what has come of it so far."""

    def __init__(
        self,
        contexts: Sequence[Context] = (),
        installations: Iterable[Installation] = (),
        report_file: str | None = None,
    ) -> None:
        self.contexts = contexts
        self.installations = list(installations)
        self.report_file = report_file
        self.workers: list[dict[str, Any]] = []

    def report(self) -> dict[str, Any]:
        """What was done to each module in this process."""
        from cassette_import.outcome import merged, report

        # A module may be installed for several tests in turn.
        return merged(report([installation], self.contexts) for installation in self.installations) or report(
            [], self.contexts
        )

    def summaries(self) -> list[str]:
        """What the contexts have to tell."""
        from cassette_import.contexts.report import Reporting

        return [context.summary() for context in self.contexts if isinstance(context, Reporting)]


_SESSION: Final = pytest.StashKey[Session]()


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


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install, before a conftest imports what is to be overdubbed."""
    if not _is_asked(early_config):
        return
    wanted = _settings(early_config)
    if wanted.disable:
        return
    from cassette_import.contexts.named import importable_from

    with importable_from(_folders_to_come(early_config, wanted)):
        contexts = [_context(text) for text in wanted.contexts or ()]
        installations = [_installed(wanted.packages, wanted.exclude or ())] if wanted.packages else []
    report_file = None if wanted.report is None else os.path.abspath(wanted.report)
    early_config.stash[_SESSION] = Session(contexts, installations, report_file)


def _is_asked(config: pytest.Config) -> bool:
    given = vars(config.known_args_namespace)
    return any(
        given.get(f"cassette_{name}")
        or config.getini(f"cassette_{name}")
        or os.environ.get(_ENVIRONMENT + name.upper())
        for name in _OPTIONS
    )


def _settings(config: pytest.Config) -> Settings:
    """Command line before environment before file; the file is pytest's."""
    from cassette_import import settings

    def told(source: Callable[[str], Any]) -> settings.Settings:
        packages, exclude, context, report = (source(f"cassette_{name}") for name in _OPTIONS)
        return settings.Settings(
            packages=settings.names(packages) if packages else None,
            exclude=settings.names(exclude) if exclude else None,
            contexts=settings.contexts(context) if context else None,
            report=report or None,
        )

    command_line = told(vars(config.known_args_namespace).get)
    return command_line.over(settings.from_environment(os.environ)).over(told(config.getini))


def _context(described: ContextLike) -> Context:
    from cassette_import import Context
    from cassette_import.contexts.named import UnknownContext, context_named

    if isinstance(described, Context):
        return described
    if isinstance(described, type) and issubclass(described, Context):
        return described()
    if not isinstance(described, str):
        raise pytest.UsageError(f"cassette: {described!r} is no context, context type or name of one")
    try:
        return context_named(described)
    except UnknownContext as error:
        raise pytest.UsageError(str(error)) from error


def _installed(packages: str | Iterable[str], exclude: Iterable[str] = ()) -> Installation:
    from cassette_import import NotOverdubbable, install

    try:
        return install(packages, exclude=exclude)
    except (ModuleNotFoundError, NotOverdubbable) as error:
        raise pytest.UsageError(str(error)) from error


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


# ---- around tests


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        "cassette(context, packages=...): run the test in a context, given as such, as its type, or by name; "
        "with further packages overdubbed meanwhile",
    )


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have the contexts active while a test is set up, called and torn down."""
    markers = list(item.iter_markers("cassette"))
    session = item.config.stash.get(_SESSION, None)
    if not markers and (session is None or not session.contexts):
        return (yield)
    if session is None:
        session = item.config.stash[_SESSION] = Session()
    with contextlib.ExitStack() as stack:
        for context in session.contexts:
            stack.enter_context(context)
        for marker in reversed(markers):  # a class's before its method's
            _enter(marker, stack, session)
        return (yield)


def _enter(marker: pytest.Mark, stack: contextlib.ExitStack, session: Session) -> None:
    described, packages = _arguments(*marker.args, **marker.kwargs)
    if packages:
        installation = _installed(packages)
        session.installations.append(installation)
        stack.enter_context(installation)
    if described is not None:
        stack.enter_context(_context(described))


def _arguments(
    context: ContextLike | None = None, packages: str | Sequence[str] = ()
) -> tuple[ContextLike | None, str | Sequence[str]]:
    """The arguments of the marker."""
    return context, packages


@pytest.fixture
def overdubbing() -> Callable[..., AbstractContextManager[Context]]:
    """``with overdubbing(context):`` runs part of a test in a context; ``packages=`` are overdubbed too."""

    @contextlib.contextmanager
    def activate(context: ContextLike, packages: str | Sequence[str] = ()) -> Iterator[Context]:
        with contextlib.ExitStack() as stack:
            if packages:
                stack.enter_context(_installed(packages))
            yield stack.enter_context(_context(context))

    return activate


# ---- telling


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is overdubbed."""
    session = config.stash.get(_SESSION, None)
    if session is None:
        return None
    packages = ", ".join(name for installation in session.installations for name in installation.packages)
    names = ", ".join(type(context).__name__ for context in session.contexts)
    return f"cassette_import: packages {packages or 'none'}; context {names or 'none'}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the report, of xdist's workers too; a worker hands its own to the controller."""
    config = session.config
    ours = config.stash.get(_SESSION, None)
    if ours is None:
        return
    if hasattr(config, "workeroutput"):
        told = {"report": ours.report(), "summaries": ours.summaries()}
        config.workeroutput[_WORKER_OUTPUT] = json.dumps(told)
    elif ours.report_file is not None:
        from cassette_import.outcome import merged, write_report

        write_report(merged([ours.report(), *(worker["report"] for worker in ours.workers)]), ours.report_file)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of xdist is done; one that crashed has told nothing."""
    told = (getattr(node, "workeroutput", None) or {}).get(_WORKER_OUTPUT)
    if told is None:
        return
    session = node.config.stash.setdefault(_SESSION, Session())
    session.workers.append({**json.loads(told), "name": node.gateway.id})


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show what the contexts found."""
    session = config.stash.get(_SESSION, None)
    if session is None:
        return
    told = [("", text) for text in session.summaries()] if not session.workers else []
    told += [(f" ({worker['name']})", text) for worker in session.workers for text in worker["summaries"]]
    for suffix, text in told:
        if text:
            terminalreporter.section(f"cassette_import{suffix}")
            terminalreporter.write_line(text)
