"""A day of three satellites, second by second, with the package sgp4, which is written for one time; in a picture.

Usage: python examples/satellite_day.py PICTURE.svg
"""

import copy
import math
import sys

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from sgp4.earth_gravity import wgs72
from sgp4.io import twoline2rv
from sgp4.propagation import gstime, sgp4

from cassette_import.contexts.lanes import vectorize

SATELLITES = {
    "Delta 1": """1 06251U 62025E   06176.82412014  .00008885  00000-0  12808-3 0  3985
2 06251  58.0579  54.0425 0030035 139.1568 221.1854 15.56387291  6774""",
    "Molniya 2-14": """1 08195U 75081A   06176.33215444  .00000099  00000-0  11873-3 0   813
2 08195  64.1586 279.0717 6877146 264.7651  20.2257  2.00491383225656""",
    "GPS": """1 28129U 03058A   06175.57071136 -.00000104  00000-0  10000-3 0   459
2 28129  54.7298 324.8098 0048506 266.2640  93.1663  2.00562768 18443""",
}
FLATTENING = 2 / 298.26 - 1 / 298.26**2


def below(satellite, seconds):
    """The latitude and longitude below a satellite in degrees, and its height in km: written for one time."""
    (x, y, z), _ = sgp4(copy.copy(satellite), seconds / 60, wgs72)
    turned = gstime(satellite.jdsatepoch + seconds / 86400)
    longitude = math.degrees(math.atan2(y, x) - turned) % 360
    if longitude > 180:
        longitude -= 360
    axis = math.hypot(x, y)
    latitude, before = math.atan2(z, axis), math.inf
    while abs(latitude - before) > 1e-12:  # each time takes its own number of steps
        before = latitude
        normal = wgs72.radiusearthkm / math.sqrt(1 - FLATTENING * math.sin(latitude) ** 2)
        latitude = math.atan2(z + normal * FLATTENING * math.sin(latitude), axis)
    return math.degrees(latitude), longitude, math.hypot(axis, z) - wgs72.radiusearthkm


seconds = np.arange(0.0, 86400.0)
points = vectorize(below, packages=["sgp4"])

matplotlib.rcParams["svg.hashsalt"] = "satellites"  # the same picture in each run
figure = Figure(figsize=(7, 3.8))
axes = figure.add_axes((0.1, 0.12, 0.88, 0.84), xlim=(-180, 180), ylim=(-90, 90), xlabel="longitude", ylabel="latitude")
for name, lines in SATELLITES.items():
    satellite = twoline2rv(*lines.splitlines(), wgs72)
    latitude, longitude, height = points(satellite, seconds)
    print(f"{name}: {len(height)} positions, {height.min():.0f} to {height.max():.0f} km high")
    shown = slice(None, None, 60)
    jumps = np.abs(np.diff(longitude[shown], append=longitude[-1])) > 180
    axes.plot(longitude[shown], np.where(jumps, math.nan, latitude[shown]), linewidth=1, label=name)
axes.legend(loc="lower left", ncols=3, fontsize="small")
axes.grid(linewidth=0.3)
figure.savefig(sys.argv[1], metadata={"Date": None})
