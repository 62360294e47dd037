"""Which expression of a package loses the digits of its result? `shadow` names it, and checks a repair.

`LMTD` of the package ht is the logarithmic mean of two differences of temperatures. If these are nearly equal, their
quotient is nearly one: its rounding error is as large as its logarithm.
"""

from math import log1p

from ht import LMTD

from cassette_import import install
from cassette_import.contexts.precision import shadow, significant

install("ht")


def repaired(hot_in, hot_out, cold_in, cold_out):
    """The same mean; the logarithm gets the distance of the quotient from one, which loses nothing."""
    first, second = hot_in - cold_out, hot_out - cold_in
    difference = second - first
    return difference / log1p(difference / first) if difference else first


temperatures = 100.0, 60.0, 30.0, 70.000000001
for mean in (LMTD, repaired):
    print(f"{mean.__name__}: {shadow(mean, *temperatures)}")
    print(f"  significant digits: {significant(mean, *temperatures):.1f}")
