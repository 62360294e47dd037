"""Every kind of hook, in every place, entered in every way, around generated programs: these behave as they do plain.

Each test is one place of the context and one way to enter it; Hypothesis chooses the hooks and the program. The
variable `CASSETTE_TEST_PRODUCT` sets the number of programs of each test (6 by default, 240 in all; 25 in CI, 1000 in
all), and `CASSETTE_TEST_SEED` chooses others.
"""

import contextlib
import importlib
import itertools
import os
import re
import runpy
import sys
import warnings

import pytest
from helpers.contexts import entered_without_source
from hypothesis import HealthCheck, Phase, given, seed, settings

from cassette_import import Context, Events, install, uninstall
from programs.generated import observed
from programs.generated.entries import PLACES, WAYS, modules, texts

EXAMPLES = int(os.environ.get("CASSETTE_TEST_PRODUCT") or (25 if os.environ.get("CI") else 6))
SEED = os.environ.get("CASSETTE_TEST_SEED", "")

_serial = itertools.count()
_OF_HOOKS = re.compile(r"\S*_Kind\S*:\d+:(?:\([^)]*\))? ?")
"""The frames of hooks and overloads in tracebacks: they are the user's, and the plain program has none."""


class Reading(Context, events=Events.ALL):
    """Active while a module is imported."""

    def prehook(self, f, *args, **kwargs):
        self.seen = len(args) + len(kwargs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("product")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


def run(place, way, names, folder):
    """Import the module of a program and run it; return the observed operations."""
    program, other = names
    for name in names:
        sys.modules.pop(name, None)
    observed.start()
    observed.WAY = way
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if place == "__main__":
                runpy.run_path(str(folder / f"{program}.py"), run_name="__main__")
            else:
                importlib.invalidate_caches()
                with entered_without_source(*[Reading()] * (way == "import")):
                    module = importlib.import_module(program)
                if way == "install":
                    install([program])
                kinds = importlib.import_module(other) if place == "other module" else module
                module._drive(way, lambda: kinds._Kind())
        except observed.Enough:
            pass
        except Exception as error:
            observed.LOG.append(observed.raised(error))
    return [" ".join(_OF_HOOKS.sub("", line).split()) for line in observed.LOG]


def difference(program, kind, place, way, folder):
    """The first operation that differs from those of the plain program; None if there is none."""
    text, of_kind = texts(program, kind, place)
    names = f"generated_{next(_serial)}", f"contexts_{next(_serial)}"
    (folder / f"{names[0]}.py").write_text(text, encoding="utf-8")
    (folder / f"{names[1]}.py").write_text(of_kind or "", encoding="utf-8")
    if place == "pytest module":
        pytest.register_assert_rewrite(names[0])
    try:
        expected = run(place, "plain", names, folder)
        if way == "import":
            install([names[0]])
        found = run(place, way, names, folder)
    finally:
        with contextlib.suppress(Exception):
            uninstall([names[0]])
        for name in names:
            sys.modules.pop(name, None)
    if found == expected:
        return None
    same = [one == other for one, other in zip(found, expected, strict=False)]
    at = [*same, False].index(False)
    return {"line": at, "plain": expected[at : at + 2], "found": found[at : at + 2]}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.filterwarnings("ignore:It looks like `register_random`")  # Hypothesis, of its own generator, from 3.14 on
def test_a_program_behaves_as_without_a_context(folder, place, way):
    @seed(f"{SEED} {place} {way}")  # other programs for each test
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(modules())
    def check(parts):
        program, kind = parts
        assert difference(program, kind, place, way, folder) is None, f"\n{program}\n{kind}"

    check()
