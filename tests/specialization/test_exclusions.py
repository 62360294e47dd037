"""Functions whose source or bytecode another package reads are left alone; others of the same names are not."""

import pytest

from cassette_import import overdub
from cassette_import.specialization.exclusions import own_names
from cassette_import.specialization.registry import registry
from cassette_import.specialization.source_file import SourceFile

SOURCE = """
    class {first}:
        @staticmethod
        def {last}(function):
            return function

    @{first}.{last}
    def work(x):
        return abs(x)

    def main():
        return work(-1)
"""


@pytest.mark.parametrize(
    ("first", "last", "seen"),
    [("numba", "njit", False), ("ti", "kernel", False), ("mine", "kernel", True), ("mine", "left_alone", True)],
)
def test_decorators_of_compilers_are_known_by_their_names(first, last, seen, make_program, Recorder):
    program = make_program(SOURCE.format(first=first, last=last))
    recorder = Recorder()
    overdub(recorder, program.main)
    assert (abs in recorder.functions) is seen


IMPORTS = """
    import cassette_import as own
    import cassette_import.contexts.lanes
    import cassette_importer, other
    from cassette_import.contexts.lanes import (
        EffectError,  # an error, and more
        vectorize as v,
    )
    def f():
        from cassette_import.contexts.backends import jit
"""


def test_names_that_a_module_imports_from_this_package_are_no_other_compilers():
    assert own_names(IMPORTS) == {"own", "cassette_import", "EffectError", "v", "jit"}


def test_a_function_is_not_left_alone_while_it_is_specialised(make_program, Recorder, monkeypatch):
    """Another thread that calls it meanwhile hands tagged values over to it."""
    program = make_program("def main(): return abs(-1)")
    answers = []
    find = SourceFile.find

    def find_and_ask(source, code):
        answers.append((registry.index.reason_left_alone(program.main), registry.index.overdubbable(program.main)))
        return find(source, code)

    monkeypatch.setattr(SourceFile, "find", find_and_ask)
    overdub(Recorder(), program.main)
    assert set(answers) == {(None, True)}
