"""Fixtures of all tests: temporary packages, and contexts that record their events."""

import contextlib
import gc
import importlib
import itertools
import signal
import sys
import textwrap
import types

import pytest

with contextlib.suppress(ModuleNotFoundError):
    import hypothesis

    # Hypothesis reads the constants of all modules that are not installed, as those of a checkout, in the first draws.
    hypothesis.settings.register_profile("checkout", suppress_health_check=[hypothesis.HealthCheck.too_slow])
    hypothesis.settings.load_profile("checkout")

from helpers import samples
from helpers.command_line import PROJECT
from helpers.known_limits import KNOWN_LIMITS

sys.path.append(str(PROJECT))  # `benchmarks` and `examples`, behind the package under test

_serial = itertools.count()


def _forget(name):
    """Remove a package and everything below it from the interpreter's modules."""
    for module in [known for known in sys.modules if known == name or known.startswith(name + ".")]:
        del sys.modules[module]


@pytest.fixture
def make_package(tmp_path, monkeypatch):
    """Write a package and return its import name; remove it from the process after the test.

    `files` maps file names to source text (`{"__init__.py": "", "sub/mod.py": "..."}`), or is the text of the
    package's `__init__.py` alone. The name is new each time unless one is given, so that nothing is left of
    an earlier import. The package is written and can be imported; whether that happens before or after
    `install` is for the test to say.
    """
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def make(files, name=None):
        name = name or f"made_package_{next(_serial)}"
        made.append(name)
        _forget(name)
        sources = {"__init__.py": files} if isinstance(files, str) else {"__init__.py": "", **files}
        for file, source in sources.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(source).lstrip("\n"), encoding="utf-8")
        importlib.invalidate_caches()
        return name

    yield make
    cassette = sys.modules.get("cassette_import")
    for name in made:
        installed = [known for known in cassette.installed() if known.split(".")[0] == name] if cassette else []
        if installed:
            cassette.uninstall(installed)
        _forget(name)


@pytest.fixture(autouse=True)
def nothing_is_left_installed():
    """Fail a test that leaves packages installed: blocks of later tests would no longer warn that they met nothing.

    Fixtures of a module may have installed packages for all its tests.
    """
    before = _installed()
    yield
    left = [name for name in _installed() if name not in before]
    if left:
        sys.modules["cassette_import"].uninstall(left)  # so that this test alone fails
    assert left == []


def _installed():
    cassette = sys.modules.get("cassette_import")
    return cassette.installed() if cassette else ()


@pytest.fixture(autouse=True)
def nothing_is_left_active():
    """Fail a test that leaves a context entered, which would disturb the next test.

    Overdubbed generators, coroutines and threads hold their contexts. Some are garbage in a cycle, with a traceback
    for example; some are held by modules that remain imported.
    """
    yield
    cassette = sys.modules.get("cassette_import.activation.entering")
    if cassette is None:
        return
    if not cassette.FLAGS["@on"]:
        assert _in_use(cassette) == []  # functions would be specialised for it in other tests too
        return
    gc.collect()
    left = [activation.contexts for activation in cassette.IN_USE.entered]
    for activation in cassette.IN_USE.values():
        activation.end()
    cassette.ACTIVE.set(cassette.INACTIVE)
    cassette.IN_USE.switch_off()
    if left:
        pytest.fail(f"the test left contexts entered: {left}")
    assert _in_use(cassette) == []


def _in_use(cassette):
    """Return the variants in use: functions that are entered are specialised for them."""
    return [variant for variant in cassette.registry.instrumentation.variants if variant.family.active]


@pytest.fixture(scope="session")
def functions_by_file():
    """The functions that exist when all test modules are imported, by the file that defines them."""
    found = {}
    for item in gc.get_objects():
        if type(item) is types.FunctionType:
            found.setdefault(item.__code__.co_filename, []).append(item)
    return found


@pytest.fixture(scope="module", autouse=True)
def functions_of_tables_are_known(request, functions_by_file):
    """Let the functions in the tables of a test module be found while older objects are frozen.

    Entering a context searches all objects for functions. Frozen objects are hidden from this search, except the
    functions that modules hold. Thousands of tests leave so many objects that the search would take most of the time.
    """
    for number, function in enumerate(functions_by_file.pop(request.module.__file__, ())):
        vars(request.module)[f"_function_{number}"] = function


@pytest.fixture(autouse=True)
def only_new_objects_in_gc(functions_of_tables_are_known):
    """Collect the garbage of the test before, and freeze what exists when a test begins."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def import_fresh():
    """Import a module as if for the first time."""

    def load(name):
        _forget(name.split(".")[0])
        return importlib.import_module(name)

    return load


@pytest.fixture
def make_program(make_package):
    """Write a package, install it, import it: a program to run in a context."""

    def make(files):
        import cassette_import

        name = make_package(files)
        cassette_import.install([name])
        return importlib.import_module(name)

    return make


@pytest.fixture
def Recorder():
    """Return a context type, new for each test, whose instances record every event.

    `calls` holds what the prehook saw as `(f, args)`, `kwargs` included as a third item when there are any;
    `results` what the posthook saw as `(result, f, args)`; `errors` what the errorhook saw as
    `(exception, f, args)`.
    """
    from cassette_import import Context

    class Recorder(Context):
        def __init__(self, metadata=None, **options):
            super().__init__(metadata, **options)
            self.calls = []
            self.results = []
            self.errors = []

        def prehook(self, f, *args, **kwargs):
            self.calls.append((f, args, kwargs) if kwargs else (f, args))

        def posthook(self, result, f, *args, **kwargs):
            self.results.append((result, f, args))

        def errorhook(self, exception, f, *args, **kwargs):
            self.errors.append((exception, f, args))

        @property
        def functions(self):
            return [call[0] for call in self.calls]

    return Recorder


def pytest_configure():
    """Enable interrupts: a shell that starts the tests in the background disables them, in child processes as well."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    samples.add_options(parser)


def pytest_report_header(config):
    return samples.header(config)


def pytest_collection_modifyitems(config, items):
    """Draw the samples, and expect the tests of known limits to fail, with the reason.

    Not strictly: some results of tracers and profilers depend on what ran before in the process.
    """
    if not config.option.thorough:
        samples.without_the_rest(config, items)
    for item in items:
        reason = KNOWN_LIMITS.get(f"{item.path.name}::{item.name}")
        if reason is not None:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=False))
