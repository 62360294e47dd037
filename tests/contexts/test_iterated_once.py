"""Contexts of numbers iterate over an object of the program as often as plain Python does."""

import pytest

from cassette_import import overdub
from cassette_import.contexts import Flops, Precision, Provenance

BEGIN = """
import math, statistics

class Once:
    def __init__(self):
        self.is_used = False
    def __iter__(self):
        if self.is_used:
            raise RuntimeError("twice")
        self.is_used = True
        return iter([1.0, 3.0, 8.0])

class Counting:
    def __init__(self):
        self.number = 0
    def __iter__(self):
        self.number += 1
        return iter([1.0, 3.0, float(self.number)])

class Unsized:
    def __iter__(self):
        return iter([1.0, 3.0, 8.0])
    def __len__(self):
        raise RuntimeError("unsized")

class Longer(list):
    def __len__(self):
        self.append(1.0)
        return 1

"""
CALLS = [
    "sum({})", "sum({}, 1.0)", "math.fsum({})", "math.prod({})", "statistics.mean({})", "statistics.fmean({})",
    "statistics.stdev({})", "statistics.pvariance({})", "statistics.median_low({})", "max({})", "min({})",
    "statistics.fmean([1.0, 2.0, 3.0], weights={})", "statistics.geometric_mean({})", "statistics.mode({})",
]  # fmt: skip


def outcome(call):
    try:
        return call()
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize(
    ("context", "argument"),
    [
        *[(context, argument) for context in (Flops, Provenance, Precision) for argument in ("Once()", "Counting()")],
        *[(context, argument) for context in (Flops, Provenance) for argument in ("Unsized()", "Longer([1.0, 3.0])")],
    ],
)
@pytest.mark.parametrize("call", CALLS)
def test_a_call_has_the_same_result(make_program, context, call, argument):
    if context is Precision:
        pytest.importorskip("mpmath")
    program, other = (make_program(f"{BEGIN}def main():\n    return {call.format(argument)}\n") for _ in range(2))
    assert outcome(lambda: overdub(context(), other.main)) == outcome(program.main)


def test_operations_of_sums_over_objects_of_the_program_are_counted(make_program):
    program = make_program(f"{BEGIN}def main():\n    return sum(Once()), math.prod(Unsized()), sum([1.0, 2.0])\n")
    flops = Flops()
    overdub(flops, program.main)
    assert {"add", "mul"} <= set(flops.summary().split())
