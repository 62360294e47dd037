"""All densities at which the standard equation of state of water, as `chemicals` has it, gives one pressure at 500 K.

The package is not written for intervals. Two of the densities are those of vapour and liquid; the equation of state
has further ones in between, where it describes no stable state.
"""

from chemicals.iapws import iapws95_P

from cassette_import import install
from cassette_import.contexts.contract import solve
from cassette_import.contexts.intervals import Interval, enclosure

install("chemicals")


def pressure(density):
    return iapws95_P(500.0, density)


for (side,), unique, _ in solve(pressure, ((0.001, 1200),), 2.64e6, width=1e-6):
    low, high = (pressure_at.low - 2.64e6 for pressure_at in (enclosure(pressure, Interval(x, x)) for x in side))
    assert unique
    assert low * high < 0  # the pressure is below the value on one side, and above it on the other
    print(f"one density between {side[0]:.12f} and {side[1]:.12f} kg/m³")
