"""Odd programs that once behaved differently in a context: each is run plain and overdubbed, and compared."""

import importlib
import pathlib

import pytest
from helpers.contexts import ArgumentFree, ReadsEverything, Replacing, Tagging

from cassette_import import Context, Events, canrecurse, fallback, install, recurse, tag

PROGRAMS = sorted(path.stem for path in pathlib.Path(__file__).with_name("odd").glob("*.py"))


class ReadsCalls(ReadsEverything, events=Events.DEFAULT):
    """Its hooks read the arguments of calls and operators alone."""


class TaggingAll(Context, tagging=True):
    """Every argument of every call is tagged, but classes."""

    def overdub(self, f, *args, **kwargs):
        go_on = recurse if canrecurse(self, f, *args, **kwargs) else fallback
        args = [self.tagged(value) for value in args]
        return go_on(self, f, *args, **{name: self.tagged(value) for name, value in kwargs.items()})

    def tagged(self, value):
        return value if issubclass(type(value), type) else tag(value, self, "m")  # classes cannot be tagged


class Spreading(TaggingAll, tagging=True):
    """Every argument of every call is tagged, and all values that are computed from it."""

    def computed(self, value, f, *args, **kwargs):
        return "m"


def observe(main):
    try:
        return "value", repr(main())
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.filterwarnings("ignore:'.*' in a 'finally' block:SyntaxWarning")  # PEP 765, from 3.14 on
@pytest.mark.parametrize("context_type", [ArgumentFree, ReadsCalls, Replacing, Tagging, TaggingAll, Spreading])
@pytest.mark.parametrize("program", PROGRAMS)
def test_odd_program_behaves_as_without_a_context(program, context_type, make_package):
    source = pathlib.Path(__file__).with_name("odd").joinpath(f"{program}.py").read_text(encoding="utf-8")
    plain = importlib.import_module(make_package(source))
    overdubbed = importlib.import_module(make_package(source))
    expected = observe(plain.main)
    install([overdubbed.__name__])
    with context_type():
        found = observe(overdubbed.main)
    assert (found[0], found[1].replace(overdubbed.__name__, plain.__name__)) == expected


@pytest.mark.filterwarnings("ignore::cassette_import.CassetteWarning")
def test_S7_an_expression_too_deep_to_be_rewritten_runs_all_the_same(make_package):
    # How deep is too deep depends on the version; a warning names the functions that are left alone.
    program = importlib.import_module(make_package("def main():\n    return " + " + ".join(["int(1)"] * 900)))
    install([program.__name__])
    with ReadsCalls():
        assert program.main() == 900
