"""Scalar functions of which the ways to run them on arrays are compared in `lanes_table.py`.

They stand in a separate file, which `vectorize` converts.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np


def companded(x: float) -> float:
    """One branch: the transfer function of sRGB."""
    if x <= 0.0031308:
        return 12.92 * x
    return 1.055 * x ** (1.0 / 2.4) - 0.055


def kepler(mean: float, eccentricity: float) -> float:
    """A loop that each lane leaves in its own time: Kepler's equation by Newton's method."""
    e = mean if eccentricity < 0.8 else math.pi
    for _ in range(50):
        step = (e - eccentricity * math.sin(e) - mean) / (1.0 - eccentricity * math.cos(e))
        e = e - step
        if abs(step) < 1e-14:
            break
    return e


def companded_by_hand(x: Any) -> Any:
    """The same, rewritten for arrays: each side for its elements."""
    out = np.empty_like(x)
    low = x <= 0.0031308
    out[low] = 12.92 * x[low]
    high = ~low
    out[high] = 1.055 * x[high] ** (1.0 / 2.4) - 0.055
    return out


def kepler_by_hand(mean: Any, eccentricity: Any) -> Any:
    """The same, rewritten for arrays: each turn for the elements that are in the loop."""
    e = np.where(eccentricity < 0.8, mean, math.pi)
    out, which = np.empty_like(e), np.arange(len(e))
    for _ in range(50):
        step = (e - eccentricity * np.sin(e) - mean) / (1.0 - eccentricity * np.cos(e))
        e = e - step
        done = np.abs(step) < 1e-14
        out[which[done]] = e[done]
        rest = ~done
        if not rest.any():
            return out
        e, mean, eccentricity, which = e[rest], mean[rest], eccentricity[rest], which[rest]
    out[which] = e
    return out


C_SOURCE = """
#include <math.h>
void companded(long n, const double *x, double *out) {
    for (long i = 0; i < n; i++)
        out[i] = x[i] <= 0.0031308 ? 12.92 * x[i] : 1.055 * pow(x[i], 1.0 / 2.4) - 0.055;
}
void kepler(long n, const double *mean, const double *eccentricity, double *out) {
    for (long i = 0; i < n; i++) {
        double e = eccentricity[i] < 0.8 ? mean[i] : 3.141592653589793;
        for (int k = 0; k < 50; k++) {
            double step = (e - eccentricity[i] * sin(e) - mean[i]) / (1.0 - eccentricity[i] * cos(e));
            e = e - step;
            if (fabs(step) < 1e-14) break;
        }
        out[i] = e;
    }
}
"""
"""The same by hand, in C."""

LINES = (
    "1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991",
    "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482",
)


def satellite() -> tuple[Callable[[float], Any], Callable[[Any], Any]]:
    """A satellite's position by minutes, in Python; and for an array, by the package's own C++."""
    from sgp4.api import Satrec
    from sgp4.earth_gravity import wgs72
    from sgp4.io import twoline2rv
    from sgp4.propagation import sgp4

    found = twoline2rv(*LINES, wgs72)
    compiled = Satrec.twoline2rv(*LINES)

    def position(minutes: float) -> Any:
        return sgp4(copy.copy(found), minutes, wgs72)[0]

    def own(minutes: Any) -> Any:
        return compiled.sgp4_array(0.0 * minutes + compiled.jdsatepoch, compiled.jdsatepochF + minutes / 1440.0)

    return position, own


def distance(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """The distance of two points, by geographiclib."""
    from geographiclib.geodesic import Geodesic

    return Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2)["s12"]  # type: ignore[no-any-return]


def friction(reynolds: float, roughness: float) -> float:
    """The friction factor of a pipe, by fluids."""
    from fluids import friction_factor

    return friction_factor(Re=reynolds, eD=roughness)  # type: ignore[no-any-return]


def sun(latitude: float, longitude: float) -> float:
    """The elevation of the sun, by astral."""
    import datetime

    from astral import Observer
    from astral.sun import elevation

    return elevation(  # type: ignore[no-any-return]
        Observer(latitude, longitude, 0.0), datetime.datetime(2024, 6, 1, 12, tzinfo=datetime.timezone.utc)
    )


def destination(latitude: float, longitude: float, azimuth: float, length: float) -> Any:
    """Where a geodesic of the package geographiclib ends."""
    from geographiclib.geodesic import Geodesic

    found = Geodesic.WGS84.Direct(latitude, longitude, azimuth, length)
    return found["lat2"], found["lon2"], found["azi2"]


def water(temperature: float, pressure: float) -> float:
    """The density of water and steam, in any of five regions, by the package chemicals."""
    from chemicals.iapws import iapws97_rho

    return iapws97_rho(temperature, pressure)  # type: ignore[no-any-return]


def sun_path(century: float) -> Any:
    """The declination of the sun and the equation of time, by the package astral."""
    from astral.sun import eq_of_time, sun_declination

    return sun_declination(century), eq_of_time(century)
