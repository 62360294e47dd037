"""Functions that a program hands over to what keeps them are called with the numbers that they carry, in each context.

The product of the table of what keeps functions, of what carries a number, and of contexts of numbers.
"""

import pytest

pytest.importorskip("flint", reason="enclosures need python-flint")
pytest.importorskip("mpmath", reason="shadows need mpmath")
pytest.importorskip("scipy", reason="patterns are arrays of SciPy")

import numpy as np
from helpers.slopes import Slopes

from cassette_import import CassetteError
from cassette_import.contexts.algebra import Number, evaluate
from cassette_import.contexts.autodiff import derivative, gradient
from cassette_import.contexts.boundaries import CALLBACK_TAKERS
from cassette_import.contexts.contract import contract
from cassette_import.contexts.intervals import Interval, enclosure
from cassette_import.contexts.lanes import vectorize
from cassette_import.contexts.precision import shadow, significant
from cassette_import.contexts.sparsity import jacobian
from tests.programs.numbers_handed_over import CARRIERS, PROGRAMS, USES


def _contracts(program):
    low, high = contract(program, ((2.0, 4.0),), (9.0, 9.0))[0]
    return 2.999 < low <= 3.0 <= high < 3.001


CONTEXTS = {
    "derivative": lambda program: derivative(program, 3.0) == 6.0,
    "gradient": lambda program: gradient(program, 3.0) == (6.0,),
    "enclosure": lambda program: all(square in enclosure(program, Interval(2.5, 3.5)) for square in (6.25, 12.25)),
    "contract": _contracts,
    "evaluate": lambda program: evaluate(Slopes(), program, Number(3.0, 1.0)).meaning == 6.0,
    "shadow": lambda program: float(shadow(program, 3.0).exact) == 9.0,
    "significant": lambda program: significant(program, 3.1) > 15.0,
    "jacobian": lambda program: jacobian(lambda v: program(v[0]), [3.0]).toarray().tolist() == [[True]],
}
"""Whether what a context says of the square of a number is right."""

REFUSED = {"signal.signal", "sched.scheduler", "argparse._ActionsContainer.add_argument"}
REFUSED |= {"concurrent.futures._base.Future.add_done_callback"}
"""What calls these functions is a leaf that gets their numbers, or an object that holds them: that may be an error."""


def test_each_row_of_the_table_has_a_program():
    assert USES.keys() == set(CALLBACK_TAKERS)


def _programs(name):
    """The programs of a row, one for each carrier."""
    for carrier in CARRIERS:
        program = PROGRAMS[name, carrier]
        try:
            assert program(3.0) == 9.0
        except ImportError as missing:
            pytest.skip(str(missing))
        yield program


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("name", CALLBACK_TAKERS)
def test_a_function_that_was_handed_over_carries_its_number(name, context):
    for program in _programs(name):
        try:
            assert CONTEXTS[context](program)
        except CassetteError:
            assert name in REFUSED


@pytest.mark.parametrize("name", CALLBACK_TAKERS)
def test_a_function_that_was_handed_over_carries_its_lanes_or_is_refused(name):
    numbers = np.arange(100.0)
    for program in _programs(name):
        try:
            assert (vectorize(program)(numbers) == numbers**2).all()
        except CassetteError:
            continue
