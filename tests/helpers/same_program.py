"""Runs a program plain and installed, and compares the results of its `main()`."""

import importlib
import re
import sys

from cassette_import import install
from cassette_import.contexts import Noop
from helpers.contexts import ReadsArguments


def inactive(main):
    return main()


def after_a_context(main):
    with ReadsArguments():
        main()
    return main()


def in_noop(main):
    with Noop():
        return main()


def in_a_context_that_reads_arguments(main):
    with ReadsArguments():
        return main()


WAYS = [inactive, after_a_context, in_noop, in_a_context_that_reads_arguments]


def observe(way, main):
    """Return the value or the exception of a run, without addresses."""
    try:
        kind, text = "value", repr(way(main))
    except Exception as error:
        kind, text = type(error).__name__, str(error)
    return kind, re.sub(r"\b0x[0-9a-f]+", "0x", text)


def assert_same(way, source, make_package):
    """Check that the installed program has the result of the plain one."""

    def load():
        sys.modules.pop(name, None)
        return importlib.import_module(name).main

    name = make_package(source)
    plain = load()
    if way is after_a_context:  # a program that stores state runs twice in both cases
        plain()
    expected = observe(inactive, plain)
    main = load()
    install([name])
    assert observe(way, main) == expected


def assert_same_when_imported_in(context, source, make_package):
    """Check the same where the module level is overdubbed too."""
    name = make_package(source)
    expected = observe(inactive, importlib.import_module(name).main)
    del sys.modules[name]
    install([name])
    with context:
        main = importlib.import_module(name).main
        assert observe(inactive, main) == expected
