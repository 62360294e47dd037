"""Systems of equations with known real roots, for the tests of `solve`: polynomials, trigonometry and usual benchmarks.

The roots are expressions of mpmath, evaluated with forty digits. Those without a closed form are refined from a start.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import asin, atan, cos, cosh, exp, log, sin, sqrt, tan, tanh
from typing import Any

import mpmath
from mpmath import mpf

mpmath.mp.dps = 40
pi = mpmath.pi


@dataclass
class System:
    """The equation f(…) = value in a box; `roots` returns tuples, in any order."""

    name: str
    f: Callable[..., Any]
    box: tuple[Any, ...]
    value: Any
    roots: Callable[[], Any]


def one(*roots: Any) -> list[tuple[Any, ...]]:
    return [(mpf(root),) for root in roots]


def near(f: Callable[..., Any], *starts: Any) -> list[tuple[Any, ...]]:
    """The roots that Newton's method finds from these starts."""
    found = []
    for start in starts:
        root = mpmath.findroot(f, start, tol=1e-60, maxsteps=100)
        found.append(tuple(root) if hasattr(root, "rows") else (root,))
    return found


def signs(*values: Any) -> list[tuple[Any, ...]]:
    """All choices of signs."""
    points: list[tuple[Any, ...]] = [()]
    for value in values:
        points = [(*point, sign * mpf(value)) for point in points for sign in (1, -1)]
    return points


def wilkinson(x):
    product = 1.0
    for n in range(1, 9):
        product = product * (x - n)
    return product


def horner(x):
    total = 0.0
    for coefficient in (2, -9, 13, -6):
        total = total * x + coefficient
    return total


def chebyshev(x):
    before, now = 1.0, x
    for _ in range(6):
        before, now = now, 2 * x * now - before
    return now


def piecewise(x):
    if x < 0:
        return x * x - 3
    if x < 2:
        return 1 - x
    return x - 2.5


def clamped(x):
    return max(min(x * x - 2, 1.0), x - 5)


def rosenbrock(x, y):
    return -400 * x * (y - x * x) - 2 * (1 - x), 200 * (y - x * x)


def himmelblau(x, y):
    return x * x + y - 11, x + y * y - 7


def himmelblau_gradient(x, y):
    a, b = x * x + y - 11, x + y * y - 7
    return 4 * x * a + 2 * b, 2 * a + 4 * y * b


def freudenstein_roth(x, y):
    return -13 + x + ((5 - y) * y - 2) * y, -29 + x + ((y + 1) * y - 14) * y


def beale(x, y):
    return 1.5 - x * (1 - y), 2.25 - x * (1 - y * y)


def powell_badly_scaled(x, y):
    return 10000 * x * y - 1, exp(-x) + exp(-y) - 1.0001


def broyden(*x):
    around = (0.0, *x, 0.0)
    return [(3 - 2 * x[i]) * x[i] - around[i] - 2 * around[i + 2] + 1 for i in range(len(x))]


def brown(*x):
    total = sum(x)
    product = 1.0
    for one in x:
        product = product * one
    return [*(x[i] + total - (len(x) + 1) for i in range(len(x) - 1)), product - 1]


def brown_3_roots():
    # x = y = a, z = 4 - 3a, and a²(4 - 3a) = 1
    return [(a, a, 4 - 3 * a) for a in (mpf(1), (1 + mpmath.sqrt(13)) / 6, (1 - mpmath.sqrt(13)) / 6)]


def robot(c1, s1, c2, s2):
    """Both angles of an arm with two links, as sines and cosines."""
    return (
        c1 + c1 * c2 - s1 * s2 - 1.2,
        s1 + s1 * c2 + c1 * s2 - 0.5,
        c1 * c1 + s1 * s1 - 1,
        c2 * c2 + s2 * s2 - 1,
    )


def robot_roots():
    x, y = mpf(1.2), mpf(0.5)
    found = []
    for sign in (1, -1):
        c2 = (x * x + y * y) / 2 - 1
        s2 = sign * mpmath.sqrt(1 - c2 * c2)
        c1 = (x * (1 + c2) + y * s2) / ((1 + c2) ** 2 + s2 * s2)
        s1 = (y * (1 + c2) - x * s2) / ((1 + c2) ** 2 + s2 * s2)
        found.append((c1, s1, c2, s2))
    return found


def ferraris_tronconi(x, y):
    return (
        0.5 * sin(x * y) - 0.25 * y / 3.125 - 0.5 * x,
        0.92 * (exp(2 * x) - 2.75) + 2.75 * y / 3.125 - 5.5 * x,
    )


def kepler(e):
    return e - 0.75 * sin(e) - 1


def van_der_waals(v):
    return 8 * 0.9 / (3 * v - 1) - 3 / v**2


SYSTEMS = [
    System("square root of 2", lambda x: x * x, ((0, 10),), 2, lambda: one(mpmath.sqrt(2))),
    System("both square roots", lambda x: x * x, ((-10, 10),), 2, lambda: one(mpmath.sqrt(2), -mpmath.sqrt(2))),
    System("cubic", lambda x: x**3 - x, ((-2, 3),), 0, lambda: one(-1, 0, 1)),
    System("cubic without real companions", lambda x: x**3 - 2, ((-5, 5),), 0, lambda: one(mpmath.cbrt(2))),
    System("Wallis", lambda x: x**3 - 2 * x - 5, ((-10, 10),), 0, lambda: near(lambda x: x**3 - 2 * x - 5, 2.1)),
    System("quartic", lambda x: x**4 - 5 * x**2 + 4, ((-9, 9),), 0, lambda: one(-2, -1, 1, 2)),
    System("Wilkinson 8", wilkinson, ((-1, 10),), 0, lambda: one(*range(1, 9))),
    System("Horner", horner, ((-10, 10),), 0, lambda: one(1, 1.5, 2)),
    System(
        "Chebyshev 7",
        chebyshev,
        ((-2, 2),),
        0,
        lambda: one(0, *(mpmath.cos(pi * (2 * k + 1) / 14) for k in (0, 1, 2, 4, 5, 6))),
    ),
    System("no real root", lambda x: x**4 + x**2 + 1, ((-50, 50),), 0, list),
    System("quintic", lambda x: x**5 - x - 1, ((-100, 100),), 0, lambda: near(lambda x: x**5 - x - 1, 1.2)),
    System("negative power", lambda x: x**-2, ((0.01, 10),), 4, lambda: one(0.5)),
    System("rational", lambda x: (x * x - 1) / (x + 3), ((-2.5, 9),), 1, lambda: one(*_quadratic(1, -1, -4))),
    System("pole inside", lambda x: 1 / x, ((-3, 2),), -2, lambda: one(-0.5)),
    System("multiples of pi", sin, ((-10, 10),), 0, lambda: one(*(k * pi for k in range(-3, 4)))),
    System("cosine", cos, ((0, 20),), 0.5, lambda: one(*_cosines(20))),
    System(
        "tangent",
        tan,
        ((-5, 5),),
        1,
        lambda: one(
            pi / 4,
            pi / 4 + pi,
            pi / 4 - pi,
        ),
    ),
    System("Dottie", lambda x: cos(x) - x, ((-10, 10),), 0, lambda: near(lambda x: mpmath.cos(x) - x, 0.7)),
    System("x sin x", lambda x: x * sin(x), ((1, 20),), 0, lambda: one(*(k * pi for k in range(1, 7)))),
    System("sine of 1/x", lambda x: sin(1 / x), ((0.05, 1),), 0, lambda: one(*(1 / (k * pi) for k in range(1, 7)))),
    System("sinc", lambda x: sin(x) / x if x != 0 else 1.0, ((-7, 7),), 0, lambda: one(-2 * pi, -pi, pi, 2 * pi)),
    System("tan x = x", lambda x: sin(x) - x * cos(x), ((1, 15),), 0, lambda: _tangents()),
    System("exponential", exp, ((-50, 50),), 2, lambda: one(mpmath.log(2))),
    System("omega", lambda x: x * exp(x), ((-1, 5),), 1, lambda: one(mpmath.lambertw(1).real)),
    System("two branches", lambda x: x * exp(x), ((-5, 1),), -0.25, lambda: _lambert(mpf(-0.25))),
    System("logarithm", lambda x: x - log(x), ((0, 10),), 2, lambda: _lambert_log()),
    System("power tower", lambda x: x**x, ((0.5, 5),), 4, lambda: one(2)),
    System("catenary", cosh, ((-5, 5),), 2, lambda: one(mpmath.acosh(2), -mpmath.acosh(2))),
    System("magnet", lambda m: m - tanh(1.5 * m), ((-2, 2),), 0, lambda: _magnet()),
    System("square root", lambda x: sqrt(x) - x + 1, ((-3, 9),), 0, lambda: one((3 + mpmath.sqrt(5)) / 2)),
    System(
        "arcs",
        lambda x: asin(x) + atan(x),
        ((-1, 1),),
        1,
        lambda: near(lambda x: mpmath.asin(x) + mpmath.atan(x) - 1, 0.5),
    ),
    System("real power", lambda x: x**1.5 - x, ((0.1, 9),), 2, lambda: near(lambda x: x**1.5 - x - 2, 2.8)),
    System("Kepler", kepler, ((0, 7),), 0, lambda: near(lambda e: e - 0.75 * mpmath.sin(e) - 1, 1.6)),
    System("van der Waals", van_der_waals, ((0.4, 20),), 0.647, lambda: _gas()),
    System("pieces", piecewise, ((-9, 9),), 0, lambda: one(-mpmath.sqrt(3), 1, 2.5)),
    System("absolute value", lambda x: abs(x - 1) - 2, ((-9, 9),), 0, lambda: one(-1, 3)),
    System("minimum and maximum", clamped, ((-9, 3),), 0, lambda: one(-mpmath.sqrt(2), mpmath.sqrt(2))),
    System("circle and line", lambda x, y: (x * x + y * y, x - y), ((-3, 3), (-3, 3)), (1, 0), lambda: _diagonal()),
    System(
        "circle and hyperbola", lambda x, y: (x * x + y * y, x * y), ((-3, 3), (-3, 3)), (4, 1), lambda: _hyperbola()
    ),
    System(
        "circles",
        lambda x, y: (x**2 + y**2, (x - 1) ** 2 + y**2),
        ((-9, 9), (-9, 9)),
        (1, 1),
        lambda: [(mpf(1) / 2, y) for (y,) in signs(mpmath.sqrt(3) / 2)],
    ),
    System(
        "circle and parabola",
        lambda x, y: (x**2 + y**2, y - x**2),
        ((-9, 9), (-9, 9)),
        (2, 0),
        lambda: [(mpf(1), mpf(1)), (mpf(-1), mpf(1))],
    ),
    System("Rosenbrock", rosenbrock, ((-5, 5), (-5, 5)), (0, 0), lambda: [(mpf(1), mpf(1))]),
    System(
        "Himmelblau",
        himmelblau,
        ((-6, 6), (-6, 6)),
        (0, 0),
        lambda: near(himmelblau, (3, 2), (-2.8, 3.1), (-3.8, -3.3), (3.6, -1.8)),
    ),
    System("Himmelblau's critical points", himmelblau_gradient, ((-6, 6), (-6, 6)), (0, 0), lambda: _critical()),
    System("Freudenstein and Roth", freudenstein_roth, ((-50, 50), (-50, 50)), (0, 0), lambda: [(mpf(5), mpf(4))]),
    System("Beale", beale, ((-9, 9), (-9, 9)), (0, 0), lambda: [(mpf(3), mpf(1) / 2)]),
    System("Powell's badly scaled", powell_badly_scaled, ((1e-6, 20), (1e-6, 20)), (0, 0), lambda: _powell()),
    System("Ferraris and Tronconi", ferraris_tronconi, ((0.25, 1), (1.5, 6.5)), (0, 0), lambda: _ferraris()),
    System(
        "trigonometric pair",
        lambda x, y: (sin(x) + cos(y), cos(x) - sin(y) - 1),
        ((0, 2), (0, 4)),
        (0, 0),
        lambda: _pair(),
    ),
    System(
        "polar", lambda r, t: (r * cos(t), r * sin(t)), ((0.1, 5), (-3, 3)), (1, 1), lambda: [(mpmath.sqrt(2), pi / 4)]
    ),
    System(
        "exponential pair",
        lambda x, y: (exp(x) - y, x + y),
        ((-3, 3), (-3, 3)),
        (0, 0),
        lambda: [(-w, w) for w in [mpmath.lambertw(1).real]],
    ),
    System("Broyden 2", broyden, ((-2, 2),) * 2, (0, 0), lambda: _broyden(2)),
    System("Broyden 3", broyden, ((-2, 0.5),) * 3, (0, 0, 0), lambda: _broyden(3)),
    System("Brown 2", brown, ((-5, 5),) * 2, (0, 0), lambda: [(mpf(1), mpf(1)), (mpf(1) / 2, mpf(2))]),
    System("Brown 3", brown, ((-5, 8),) * 3, (0, 0, 0), brown_3_roots),
    System(
        "symmetric",
        lambda x, y, z: (x + y + z, x * y + y * z + z * x, x * y * z),
        ((-9, 9),) * 3,
        (6, 11, 6),
        lambda: _permutations(1, 2, 3),
    ),
    System(
        "sphere",
        lambda x, y, z: (x * x + y * y + z * z, x - y, y - 2 * z),
        ((-5, 5),) * 3,
        (9, 0, 0),
        lambda: [(2 * s, 2 * s, s) for s in (mpf(1), mpf(-1))],
    ),
    System(
        "three circles",
        lambda x, y, z: (x * x + y * y, y * y + z * z, z * z + x * x),
        ((-5, 5),) * 3,
        (2, 2, 2),
        lambda: signs(1, 1, 1),
    ),
    System("robot", robot, ((-2, 2),) * 4, (0, 0, 0, 0), robot_roots),
    System(
        "linear",
        lambda a, b, c, d: (a + b + c + d, a - b, b + 2 * c, c - d),
        ((-9, 9),) * 4,
        (4, 1, 0, 1),
        lambda: _linear(),
    ),
]


def _quadratic(a, b, c):
    root = mpmath.sqrt(mpf(b) ** 2 - 4 * a * c)
    return (-b + root) / (2 * mpf(a)), (-b - root) / (2 * mpf(a))


def _cosines(limit):
    angles = [sign * pi / 3 + 2 * k * pi for k in range(5) for sign in (1, -1)]
    return [angle for angle in angles if 0 <= angle <= limit]


def _tangents():
    return near(lambda x: mpmath.sin(x) - x * mpmath.cos(x), 4.49, 7.725, 10.904, 14.066)


def _lambert(x):
    return one(mpmath.lambertw(x).real, mpmath.lambertw(x, -1).real)


def _lambert_log():
    return one(*(-mpmath.lambertw(-mpmath.exp(-2), k).real for k in (0, -1)))


def _magnet():
    (found,) = near(lambda m: m - mpmath.tanh(1.5 * m), 0.86)
    return [found, (-found[0],), (mpf(0),)]


def _gas():
    return [root for root in near(lambda v: 8 * mpf(0.9) / (3 * v - 1) - 3 / v**2 - mpf(0.647), 0.6, 1.0, 2.35)]


def _diagonal():
    half = mpmath.sqrt(mpf(1) / 2)
    return [(half, half), (-half, -half)]


def _hyperbola():
    a, b = mpmath.sqrt(2 + mpmath.sqrt(3)), mpmath.sqrt(2 - mpmath.sqrt(3))
    return [(a, b), (b, a), (-a, -b), (-b, -a)]


def _critical():
    return near(
        himmelblau_gradient, (3, 2), (-2.805, 3.131), (-3.779, -3.283), (3.584, -1.848), (-0.27, -0.92), (-3.07, -0.08),
        (-0.13, -1.95), (0.087, 2.88), (3.39, 0.07),
    )  # fmt: skip


def _powell():
    (found,) = near(lambda x, y: (10000 * x * y - 1, mpmath.exp(-x) + mpmath.exp(-y) - mpf(1.0001)), (1.098e-5, 9.106))
    return [found, found[::-1]]


def _ferraris():
    return near(
        lambda x, y: (
            mpmath.sin(x * y) / 2 - y / 12.5 - x / 2,
            mpf(0.92) * (mpmath.exp(2 * x) - 2.75) + 2.75 * y / 3.125 - 5.5 * x,
        ),
        (0.3, 2.8),
        (0.5, 3.1),
    )


def _pair():
    # sin x = -cos y and cos x = 1 + sin y: the sum of squares says sin y = -1/2
    return [(pi / 3, 7 * pi / 6)]


def _broyden(size):
    starts = {2: [(-0.45, -0.39), (1.65, 0.26)], 3: [(-0.6, -0.6, -0.6)]}
    return near(broyden, *starts[size])


def _permutations(*values):
    import itertools

    return [tuple(map(mpf, order)) for order in itertools.permutations(values)]


def _linear():
    return [(mpf(5), mpf(4), mpf(-2), mpf(-3))]
