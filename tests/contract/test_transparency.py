"""A program notices neither that it is installed nor a context that changes nothing.

Each program runs plain first, and then again from a fresh copy of its module in one of the ways below; what
`main()` returns or raises, tracebacks down to the columns included, has to be the same.
"""

import gc
import importlib
import sys
import time

import pytest
from helpers.contexts import ArgumentFree, ReadsArguments
from helpers.heap import no_new_holders_of_wrappers
from helpers.tagging_contexts import TagsArguments, TagsNothing
from programs.transparency import (
    bindings,
    calls,
    classes,
    errors,
    frames,
    generators,
    introspection,
    lifetimes,
    statements,
    values,
)

from cassette_import import Context, Events, install, overdub
from cassette_import.runtime.tagging import live_metadata

TABLES = (calls, classes, errors, frames, generators, introspection, lifetimes, statements)
PROGRAMS = {name: source for table in TABLES for name, source in table.PROGRAMS.items()}
SINCE_3_12 = {name: source for table in TABLES for name, source in getattr(table, "SINCE_3_12", {}).items()}
if sys.version_info >= (3, 12):
    PROGRAMS |= SINCE_3_12
LOOKING_AT_VALUES = values.PROGRAMS | bindings.PROGRAMS


class Unhooked(Context):
    """Intercepts nothing."""


class WithErrorhook(ArgumentFree):
    """It has an errorhook as well."""

    def errorhook(self, exception, f, *args, **kwargs):
        pass


class Prehook(Context):
    def prehook(self, f, *args, **kwargs):
        pass


class ArgumentFreeOfAll(ArgumentFree, events=Events.ALL):
    """Its hooks are argument-free and see every kind of event."""


class Targeted(Context):
    """Has a target that no program calls."""


Targeted.overdub.register(time.ctime)(lambda ctx, f, *seconds: None)


def in_a_context_that_tags(load):
    module = load(True)
    return overdub(TagsNothing(), module.main)


def in_a_context_that_tags_all_arguments(load):
    module = load(True)
    return overdub(TagsArguments(), module.main)


def plain(load):
    return load(False).main()


def installed_and_inactive(load):
    return load(True).main()


def in_a_context_without_hooks(load):
    module = load(True)
    return overdub(Unhooked(), module.main)


def in_a_context_with_a_target_that_is_not_matched(load):
    module = load(True)
    return overdub(Targeted(), module.main)


def in_a_context_with_empty_hooks(load):
    module = load(True)
    return overdub(ArgumentFree(), module.main)


def in_a_context_with_an_empty_errorhook(load):
    module = load(True)
    return overdub(WithErrorhook(), module.main)


def installed_after_its_import(load):
    module = load(False)
    install([module.__name__])
    return overdub(ArgumentFree(), module.main)


def imported_inside_of_the_context(load):
    with ArgumentFree():
        return load(True).main()


def in_two_contexts(load):
    module = load(True)
    with ArgumentFree(), Prehook():
        return module.main()


def after_a_context(load):
    module = load(True)
    with ArgumentFree():
        pass
    return module.main()


def in_a_context_of_all_events(load):
    module = load(True)
    return overdub(ArgumentFreeOfAll(), module.main)


def in_a_context_that_reads_all_events(load):
    module = load(True)
    return overdub(ReadsArguments(), module.main)


def imported_inside_of_a_context_that_reads_all_events(load):
    with ReadsArguments():
        return load(True).main()


WAYS_WITHOUT_HOOKS = [
    installed_and_inactive,
    in_a_context_without_hooks,
    in_a_context_with_a_target_that_is_not_matched,
    after_a_context,
]
WAYS = [
    *WAYS_WITHOUT_HOOKS,
    in_a_context_with_empty_hooks,
    in_a_context_with_an_empty_errorhook,
    installed_after_its_import,
    imported_inside_of_the_context,
    in_two_contexts,
    in_a_context_of_all_events,
    in_a_context_that_reads_all_events,
    imported_inside_of_a_context_that_reads_all_events,
    in_a_context_that_tags,
    in_a_context_that_tags_all_arguments,
]


def observe(way, load):
    """Return the outcome of a program: the value, or the exception with its traceback and notes."""
    try:
        return "value", repr(way(load))
    except BaseException as error:  # KeyboardInterrupt and SystemExit are observations too
        return "exception", describe(error)


def describe(error):
    return {
        "type": type(error).__name__,
        "text": str(error),
        "notes": getattr(error, "__notes__", None),
        "cause": error.__cause__ and describe(error.__cause__),
        "context": error.__context__ and describe(error.__context__),
        "suppress": error.__suppress_context__,
        "traceback": traceback_entries(error.__traceback__),
    }


def traceback_entries(tb):
    """The entries of a traceback, without those of this file."""
    entries = []
    while tb is not None:
        code = tb.tb_frame.f_code
        if code.co_filename != __file__:
            positions = list(code.co_positions())[tb.tb_lasti // 2]
            entries.append((code.co_filename, code.co_qualname, tb.tb_lineno, positions))
        tb = tb.tb_next
    return entries


@pytest.fixture
def no_metadata_of_earlier_tests():
    """Let values that earlier tests of the process have tagged and left behind count as none.

    Events take more frames and time while there is metadata.
    """
    gc.collect()
    references = live_metadata._references_of_modules
    (count,) = map(sys.getrefcount, (live_metadata.METADATA,))
    left = count - references[0]
    references[0] += left
    live_metadata.refresh_names()
    yield
    references[0] -= left


@pytest.fixture
def compare(make_package, no_metadata_of_earlier_tests):
    """Run a program plain and in some way, and compare."""

    def compare(source, way):
        name = make_package(source)

        def load(installing):
            sys.modules.pop(name, None)
            if installing:
                install([name])
            return importlib.import_module(name)

        expected = observe(plain, load)
        assert observe(way, load) == expected

    return compare


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_behaves_the_same(name, way, compare):
    compare(PROGRAMS[name], way)


@pytest.mark.parametrize("way", WAYS_WITHOUT_HOOKS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", lifetimes.WITHOUT_HOOKS)
def test_program_behaves_the_same_without_hooks(name, way, compare):
    compare(lifetimes.WITHOUT_HOOKS[name], way)


@pytest.mark.parametrize(
    "way", [in_a_context_that_tags, in_a_context_that_tags_all_arguments], ids=lambda way: way.__name__
)
@pytest.mark.parametrize("name", LOOKING_AT_VALUES)
def test_program_never_gets_a_wrapper(name, way, compare):
    with no_new_holders_of_wrappers():
        compare(LOOKING_AT_VALUES[name], way)
