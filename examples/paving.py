"""A paving: boxes of solutions of an inequality, boxes that may have some, and the rest, in a picture.

Usage: python examples/paving.py PICTURE.svg
"""

import math
import sys

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from cassette_import.contexts.contract import solve


def ring(x, y):
    """A ring with five lobes."""
    return math.hypot(x, y) * (1 + 0.25 * math.sin(5 * math.atan2(y, x)))


BOX = (-2.5, 2.5), (-2.5, 2.5)
found = solve(ring, BOX, (1, 1.6), width=0.06)

matplotlib.rcParams["svg.hashsalt"] = "paving"  # the same picture in each run
figure = Figure(figsize=(5, 5))
axes = figure.add_axes((0.08, 0.08, 0.9, 0.9), aspect="equal", xlim=BOX[0], ylim=BOX[1])
for inner, color in ((True, "#2f9e44"), (False, "#f08c00")):
    sides = [one.box for one in found if one.inner is inner]
    outlines = [Path([(a, c), (b, c), (b, d), (a, d), (a, c)], closed=True) for ((a, b), (c, d)) in sides]
    axes.add_patch(PathPatch(Path.make_compound_path(*outlines), facecolor=color, edgecolor="white", linewidth=0.3))
figure.savefig(sys.argv[1], metadata={"Date": None})
print(f"{sum(one.inner for one in found)} boxes of solutions, {sum(not one.inner for one in found)} on the boundary")
