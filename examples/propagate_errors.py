"""How exact is the distance between two points that were measured? Errors propagate through geographiclib.

The package is not changed, and knows nothing of errors. A number system is a table, or here a formula: the meaning of
a number is the error that each measurement contributes to it, to first order. Common errors cancel, as they should.
"""

import math

from geographiclib.geodesic import Geodesic

from cassette_import import install
from cassette_import.contexts.algebra import Algebra, Number, evaluate, has_slopes, slope


class Errors(Algebra):
    """The meaning of a number: by measurement, the part of the standard deviation that comes from it."""

    follows_values = True  # a comparison is decided by the measured values
    decisions = dict.fromkeys((round, int, math.floor), lambda value, parts, *digits: value)

    def lift(self, value):
        return {}  # a constant is exact

    def knows(self, f):
        return has_slopes(f)

    def meaning(self, f, value, values, operands):
        found = {}
        for number, parts in enumerate(operands):
            if parts:
                factor = slope(f, number, value, values)
                for measurement, part in parts.items():
                    found[measurement] = found.get(measurement, 0.0) + factor * part
        return found


def measured(name, value, deviation):
    """A measurement, which is independent of all others."""
    return Number(value, {name: deviation})


def deviation(number):
    """The standard deviation of a result."""
    return math.hypot(*number.meaning.values())


def distance_and_rest(lat1, lon1, lat2, lon2, walked):
    """The distance between two points, and what remains of it."""
    distance = Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2)["s12"]
    return distance, distance - walked, distance - distance


if __name__ == "__main__":
    install("geographiclib")
    results = evaluate(
        Errors(),
        distance_and_rest,
        measured("latitude of the start", 52.5200, 1e-5),
        measured("longitude of the start", 13.4050, 1e-5),
        measured("latitude of the end", 52.3906, 2e-5),
        measured("longitude of the end", 13.0645, 2e-5),
        measured("walked", 5_000.0, 10.0),
    )
    for name, number in zip(("distance", "rest", "distance - distance"), results, strict=True):
        print(f"{name}: {number.value:.2f} m ± {deviation(number):.2f} m")
    for measurement, part in sorted(results[1].meaning.items()):
        print(f"  {measurement}: {abs(part):.2f} m")
