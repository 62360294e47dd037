"""Lanes: unmodified packages give each lane the result of the scalar call."""

from __future__ import annotations

import copy
import math

import pytest

from cassette_import import install
from cassette_import.contexts.lanes import vectorize

np = pytest.importorskip("numpy")

LATITUDES = [0.0, -0.0, 90.0, -90.0, 45.0, 30.5, -30.5, 1e-300, 5e-324, 89.999999, math.nan, math.inf]
LONGITUDES = [0.0, 180.0, -180.0, 179.5, -179.9999, 10.25, 540.0, math.nan, 1e-12]


def near(one, other):
    """Equal up to the rounding errors of elementary functions, which a computation may enlarge."""
    return one == other or (one != one and other != other) or abs(one - other) <= 1e-9 * max(1.0, abs(other))


def points(count):
    source = np.random.default_rng(7)
    first, second = source.choice(LATITUDES, count), source.choice(LATITUDES, count)
    first[::3], second[::3] = source.uniform(-90, 90, len(first[::3])), source.uniform(-90, 90, len(first[::3]))
    second[::7] = -first[::7]  # antipodes
    eastern, western = source.choice(LONGITUDES, count), source.choice(LONGITUDES, count)
    western[::7] = eastern[::7] + 180.0
    return first, eastern, second, western


def test_geodesics_between_all_kinds_of_points():
    geodesic = pytest.importorskip("geographiclib.geodesic").Geodesic

    def inverse(lat1, lon1, lat2, lon2):
        return geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2)

    lanes = points(1500)
    with install(["geographiclib"]):
        result, failures = vectorize(inverse, errors="return", max_paths=None)(*lanes)
    assert failures == {}
    for number, values in enumerate(zip(*[lane.tolist() for lane in lanes], strict=True)):
        expected = inverse(*values)
        for name in ("s12", "a12", "lat1", "lat2"):
            assert near(result[name][number] / 1e3, expected[name] / 1e3), (name, values)


def test_the_error_of_a_satellite_is_that_of_the_scalar_call():
    pytest.importorskip("sgp4", reason="sgp4 is in no extra")
    from sgp4.earth_gravity import wgs72
    from sgp4.io import twoline2rv
    from sgp4.propagation import sgp4

    satellite = twoline2rv(
        "1 28350U 04020A   06167.21788666  .16154492  76267-5  18678-3 0  8894",
        "2 28350  64.9977 345.6130 0024870 260.7578  99.9590 16.47856722116490",
        wgs72,
    )

    def position(minutes):
        own = copy.copy(satellite)
        return sgp4(own, minutes, wgs72), own.error

    lanes = np.arange(0.0, 4000.0, 10.0)  # it decays on the way
    with install(["sgp4"]):
        (found, _), error = vectorize(position)(lanes)
    assert set(error.tolist()) > {0}
    for number, minutes in enumerate(lanes.tolist()):
        (expected, _), code = position(minutes)
        assert error[number] == code
        for part, value in zip(found, expected, strict=True):
            assert part[number] is value or near(part[number], value)
