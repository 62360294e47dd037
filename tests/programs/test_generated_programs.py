"""Programs that Hypothesis generates run in contexts as they run plain: the same effects in the same order, the same
results, the same exceptions from the same places.

`CASSETTE_TEST_EXAMPLES` sets the number of programs (4 by default); `CASSETTE_TEST_SEED` chooses others.
"""

import contextlib
import importlib.util
import os
import re
import sys
import textwrap
import warnings

import pytest
from helpers.contexts import Replacing, Tagging
from hypothesis import HealthCheck, Phase, given, seed, settings

from cassette_import import Context, Events, install, tag, uninstall
from cassette_import.contexts import Noop
from programs.generated import observed
from programs.generated.found import PROGRAMS
from programs.generated.statements import PREAMBLE, programs

EXAMPLES = int(os.environ.get("CASSETTE_TEST_EXAMPLES", "4"))
SEED = os.environ.get("CASSETTE_TEST_SEED", "")


class Paired(Context, events=Events.ALL):
    """Its hooks check that each event of every kind begins and ends once."""

    def __init__(self):
        self.going_on = []

    def prehook(self, f, *args, **kwargs):
        self.going_on.append(id(f))

    def posthook(self, result, f, *args, **kwargs):
        self.going_on.remove(id(f))

    def errorhook(self, exception, f, *args, **kwargs):
        self.going_on.remove(id(f))


class Calls(Context, events=Events.CALLS):
    """Its hooks read the arguments of calls alone."""

    def prehook(self, f, *args, **kwargs):
        self.seen = f, len(args), len(kwargs)

    def posthook(self, result, f, *args, **kwargs):
        self.seen = None


class ReplacingAll(Replacing, events=Events.ALL):
    """An overload replaces every kind of event."""


class Chosen(Context):
    """Overloads replace some functions."""


@Chosen.overdub.register(isinstance)
@Chosen.overdub.register(observed.V)
def _(ctx, f, *args, **kwargs):
    return f(*args, **kwargs)


class TaggingSome(Context, tagging=True):
    """Every second object is tagged."""

    def __init__(self):
        super().__init__()
        self.made = 0


@TaggingSome.overdub.register(observed.V)
def _(ctx, f, *args, **kwargs):
    ctx.made += 1
    value = f(*args, **kwargs)
    return tag(value, ctx, "made") if ctx.made % 2 else value


def inside(*kinds):
    return lambda: stack(*kinds)


@contextlib.contextmanager
def stack(*kinds):
    """Contexts of these types, outermost first."""
    with contextlib.ExitStack() as entered:
        for kind in kinds:
            entered.enter_context(kind())
        yield


WAYS = {
    "inactive": inside(),
    "noop": inside(Noop),
    "calls": inside(Calls),
    "paired": inside(Paired),
    "replacing": inside(ReplacingAll),
    "chosen": inside(Chosen),
    "tagging": inside(Tagging),
    "tagging some": inside(TaggingSome),
    "two contexts": inside(Paired, Noop),
}

_PATH = {}


def load(source, name):
    """Return a module of this text, in a separate file."""
    file = _PATH["folder"] / f"{name}.py"
    file.write_text(source, encoding="utf-8")
    sys.modules.pop(name, None)
    specification = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    return module


def execute(module):
    module.__spec__.loader.exec_module(module)


def observe(load_module, run):
    """Return all observed operations of a program, from its import to its end."""
    observed.start()
    module = load_module()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            run(module)
        except observed.Enough:
            pass
        except Exception as error:
            observed.LOG.append(observed.raised(error))
    return list(observed.LOG)


def run_plain(module):
    execute(module)
    module.main()


def differences(source, ways=WAYS):
    """Return the ways in which a program behaves differently from plain, with the first difference."""
    expected = observe(lambda: load(source, "generated_plain"), run_plain)
    expected = [line.replace("generated_plain", "generated") for line in expected]
    found = {}
    for name in ways:
        got = run_in(source, WAYS[name])
        if got != expected:
            same = [one == other for one, other in zip(got, expected, strict=False)]
            at = [*same, False].index(False)
            found[name] = {"line": at, "plain": expected[at : at + 2], "found": got[at : at + 2]}
    return found


def run_in(source, entered):
    """Return the observed operations of a program that is installed, and imported before the contexts are entered."""

    def run(module):
        execute(module)
        install(["generated"])
        with entered():
            module.main()

    try:
        return observe(lambda: load(source, "generated"), run)
    finally:
        with contextlib.suppress(Exception):
            uninstall(["generated"])


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    _PATH["folder"] = tmp_path_factory.mktemp("generated")
    sys.path.insert(0, str(_PATH["folder"]))
    yield
    sys.path.remove(str(_PATH["folder"]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_that_once_failed_behaves_as_without_a_context(name):
    source = textwrap.dedent(PROGRAMS[name])
    functions = re.findall(r"^def (\w+)", source, re.MULTILINE)
    main = "def main():\n" + "".join(f"    attempt({function})\n" for function in functions)
    assert differences(PREAMBLE + source + main) == {}


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=not SEED,
    phases=[Phase.generate] + [Phase.shrink] * bool(SEED),  # shrinking takes minutes
    suppress_health_check=list(HealthCheck),
)
@pytest.mark.filterwarnings("ignore:It looks like `register_random`")  # Hypothesis, of its own generator, from 3.14 on
@(seed(int(SEED)) if SEED else lambda test: test)
@given(programs())
def test_generated_program_behaves_as_without_a_context(source):
    assert differences(source) == {}, f"\n{source}"
