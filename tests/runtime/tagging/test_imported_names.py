"""A function that imports a name gets the metadata of the attribute of the module."""

import pytest

from cassette_import import install
from cassette_import.contexts.autodiff import derivative
from cassette_import.contexts.intervals import Interval, enclosure

SOURCE = """
    import sys

    value = 0.0

    def by_attribute(x):
        module = sys.modules[__name__]
        module.value = x
        from {name} import value
        return value * 2.0

    def by_global(x):
        global value
        value = x
        from {name} import value as found
        return found * 2.0

    def relative(x):
        global value
        value = x
        from . import value as found, sys as other
        return found * 2.0 if other is sys else None

    def in_a_nested_function(x):
        global value
        value = x * 1.0
        def read():
            from {name} import value
            return lambda: value * 2.0
        return read()()

    def of_another_module(x):
        import colorsys
        colorsys.found = x
        try:
            from colorsys import found
            return found * 2.0
        finally:
            del colorsys.found

    def in_a_generator(x):
        global value
        value = x
        def read():
            from {name} import value
            yield value
        return sum(read()) * 2.0
"""
FUNCTIONS = ["by_attribute", "by_global", "relative", "in_a_nested_function", "of_another_module", "in_a_generator"]


@pytest.fixture
def program(make_package, import_fresh):
    name = make_package(SOURCE.replace("{name}", "made_for_imports"), name="made_for_imports")
    install([name])
    return import_fresh(name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_imported_name_keeps_its_derivative(name, program):
    assert derivative(getattr(program, name), 3.0) == 2.0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_imported_name_keeps_its_enclosure(name, program):
    pytest.importorskip("flint")
    found = enclosure(getattr(program, name), Interval(1.0, 2.0))
    assert 1.999 < found.low <= 2.0
    assert 4.0 <= found.high < 4.001


def test_an_imported_name_without_metadata_is_what_it_was(program):
    assert program.by_global(3.0) == 6.0
    assert derivative(lambda x: program.relative(1.0) * x, 3.0) == 2.0
