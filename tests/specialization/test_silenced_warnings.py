"""Compiling is silent, and the warnings that a program has shown stay known: each is shown once, as in plain Python."""

import warnings

from helpers.command_line import cassette, run

from cassette_import.interpreter.silenced_warnings import SILENCED

PROGRAM = """
import warnings

def first():
    warnings.warn("once")

def second():
    return first() is 3 or 1  # a warning of the compiler

def third():
    first()
    return second()

for function in (first, second, third, first):
    function()
"""


def test_a_warning_is_shown_once_though_functions_are_compiled_in_between(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    plain = run("program.py", folder=tmp_path)
    assert plain.stderr.count("UserWarning: once") == 1
    assert cassette("run", "-c", "noop", "program.py", folder=tmp_path).stderr == plain.stderr


def test_the_filters_of_the_program_stay_as_they_are():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = list(warnings.filters)
        with SILENCED, SILENCED:
            assert len(warnings.filters) == len(before) + 2
        assert warnings.filters == before
