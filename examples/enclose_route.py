"""Bounds of the end of a route, computed by geographiclib, which is not written for intervals."""

from geographiclib.geodesic import Geodesic

from cassette_import import install
from cassette_import.contexts.intervals import Interval, enclosure

install("geographiclib")

bounds = enclosure(
    Geodesic.WGS84.Direct,
    Interval(40.64, 40.641),  # the start of the route, to a thousandth of a degree
    Interval(-73.779, -73.778),
    Interval(51.0, 51.01),  # its direction, in degrees
    Interval(5_000_000, 5_000_100),  # its length, in metres
)
for name in ("lat2", "lon2", "azi2"):
    low, high = bounds[name]
    print(f"{name} is between {low:.4f} and {high:.4f}")
