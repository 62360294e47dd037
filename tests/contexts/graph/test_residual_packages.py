"""Residual programs of functions of other packages have their results to the last bit."""

import ast
import random

import pytest

from cassette_import import install
from cassette_import.contexts.graph import residual, unknown

ELEMENTS = {
    "near": (
        "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991",
        "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482",
    ),
    "deep": (
        "1 11801U          80230.29629788  .01431103  00000-0  14311-1      13",
        "2 11801  46.7916 230.4354 7318036  47.4722  10.4117  2.28537848    13",
    ),
}


@pytest.mark.parametrize("orbit", ELEMENTS)
def test_the_positions_of_one_satellite_are_those_of_sgp4_to_the_last_bit(orbit):
    pytest.importorskip("sgp4", reason="sgp4 is in no extra")
    from sgp4.earth_gravity import wgs72
    from sgp4.io import twoline2rv
    from sgp4.propagation import sgp4

    satellite = twoline2rv(*ELEMENTS[orbit], wgs72)
    numbers = random.Random(20)
    times = [numbers.uniform(0.0, 1440.0) for _ in range(500)]
    expected = [sgp4(satellite, time, wgs72) for time in times]
    with install(["sgp4"]):
        position = residual(sgp4, satellite, unknown("t", 100.0), wgs72)
        assert list(map(repr, map(position, times))) == list(map(repr, expected))
    imported = {
        alias.name
        for node in ast.walk(ast.parse(position.source))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= {"math"}
    assert position.paths < 20


def test_a_geodesic_from_a_known_point_is_a_program():
    pytest.importorskip("geographiclib", reason="geographiclib is in the extra test")
    with install(["geographiclib"]):
        from geographiclib.geodesic import Geodesic

        def target(earth, azimuth):
            found = earth.Direct(40.6, -73.8, azimuth, 5e6)
            return found["lat2"], found["lon2"]

        reached = residual(target, Geodesic.WGS84, unknown("azimuth", 51.0))
        for azimuth in (51.0, -12.5, 123.25, 89.0):
            assert repr(reached(azimuth)) == repr(target(Geodesic.WGS84, azimuth))
