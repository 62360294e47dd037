"""Functions whose source or bytecode another package reads are left alone; others of the same names are not."""

import pytest

from cassette_import import overdub

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
