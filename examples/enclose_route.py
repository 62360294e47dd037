"""How far is it at most? Bounds of a geodesic of geographiclib, which knows nothing of intervals."""

from geographiclib.geodesic import Geodesic

from cassette_import import install
from cassette_import.contexts.intervals import Interval, enclosure

install("geographiclib")

bounds = enclosure(
    Geodesic.WGS84.Direct,
    Interval(40.64, 40.641),  # where it starts, to a thousandth of a degree
    Interval(-73.779, -73.778),
    Interval(51.0, 51.01),  # the course
    Interval(5_000_000, 5_000_100),  # metres
)
for name in ("lat2", "lon2", "azi2"):
    low, high = bounds[name]
    print(f"{name} is between {low:.4f} and {high:.4f}")
