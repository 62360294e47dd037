"""Functions of one number and of many whose derivatives are measured; their `module` argument has the elementary
functions.

They stand in a separate file: functions of a file that run by turns in a context and without one cost more. The
functions from `kepler` on, but for `pendulum` and `bodies`, were not profiled while the contexts were made quick.
"""

from __future__ import annotations

import math
from typing import Any


def polynomial(x: Any, module: Any = math) -> Any:
    """Horner's rule."""
    total = 0.0
    for n in range(30):
        total = total * x + n
    return total


def chain(x: Any, module: Any = math) -> Any:
    """A composition of elementary functions."""
    for _ in range(20):
        x = module.sin(x) * module.exp(-x) + module.sqrt(x * x + 1.0)
    return x


def newton(x: Any, module: Any = math) -> Any:
    """A root by iteration."""
    y = x
    for _ in range(20):
        y = y - (y * y * y - x) / (3.0 * y * y)
    return y


def rosenbrock(xs: Any, module: Any = math) -> Any:
    """Of many numbers."""
    total = 0.0
    for n in range(len(xs) - 1):
        total = total + 100.0 * (xs[n + 1] - xs[n] ** 2) ** 2 + (1.0 - xs[n]) ** 2
    return total


def kepler(eccentricity: Any, module: Any = math) -> Any:
    """A position on an orbit: the equation of Kepler, by Newton's method."""
    mean = anomaly = 1.2
    for _ in range(12):
        error = anomaly - eccentricity * module.sin(anomaly) - mean
        anomaly = anomaly - error / (1.0 - eccentricity * module.cos(anomaly))
    return module.cos(anomaly) - eccentricity


def pendulum(length: Any, module: Any = math) -> Any:
    """The angle of a pendulum after ten steps of the method of Runge and Kutta."""

    def slopes(angle: Any, speed: Any) -> tuple[Any, Any]:
        return speed, -9.81 / length * module.sin(angle)

    angle, speed, step = 0.5, 0.0, 0.01
    for _ in range(10):
        a1, s1 = slopes(angle, speed)
        a2, s2 = slopes(angle + 0.5 * step * a1, speed + 0.5 * step * s1)
        a3, s3 = slopes(angle + 0.5 * step * a2, speed + 0.5 * step * s2)
        a4, s4 = slopes(angle + step * a3, speed + step * s3)
        angle = angle + step / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        speed = speed + step / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)
    return angle


def mean_square(xs: Any, module: Any = math) -> Any:
    """A loop over a list of numbers."""
    total = 0.0
    for x in xs:
        total = total + (x - 1.0) * (x - 1.0)
    return module.sqrt(total / len(xs))


def _normal(x: Any, module: Any) -> Any:
    t = 1.0 / (1.0 + 0.2316419 * x)
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    return 1.0 - 0.3989422804014327 * module.exp(-0.5 * x * x) * series


def black_scholes(spot: Any, module: Any = math) -> Any:
    """The prices of options by Black and Scholes, with branches."""
    total = 0.0
    for strike in (90.0, 95.0, 100.0, 105.0, 110.0):
        d1 = (module.log(spot / strike) + (0.02 + 0.045) * 0.75) / (0.3 * 0.8660254037844386)
        d2 = d1 - 0.3 * 0.8660254037844386
        n1 = _normal(d1, module) if d1 > 0.0 else 1.0 - _normal(-d1, module)
        n2 = _normal(d2, module) if d2 > 0.0 else 1.0 - _normal(-d2, module)
        total = total + spot * n1 - strike * 0.985111939603063 * n2
    return total


def moments(xs: Any, module: Any = math) -> Any:
    """The skewness of numbers, by generator expressions and a comprehension."""
    mean = sum(x for x in xs) / len(xs)
    centred = [x - mean for x in xs]
    variance = sum(c * c for c in centred) / len(xs)
    return sum(c**3 for c in centred) / variance**1.5


class Vector:
    """A vector in space, as a class of a program."""

    def __init__(self, x: Any, y: Any, z: Any) -> None:
        self.x = x
        self.y = y
        self.z = z

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def scaled(self, factor: Any) -> Vector:
        """The vector times a number."""
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other: Vector) -> Any:
        """The product with another vector."""
        return self.x * other.x + self.y * other.y + self.z * other.z


class Body:
    """A body that forces move."""

    def __init__(self, mass: Any, position: Vector, velocity: Vector) -> None:
        self.mass = mass
        self.position = position
        self.velocity = velocity

    def step(self, force: Vector, time: float) -> None:
        """Move for some time."""
        self.velocity = self.velocity + force.scaled(time / self.mass)
        self.position = self.position + self.velocity.scaled(time)


def bodies(mass: Any, module: Any = math) -> Any:
    """A body on a spring: objects of classes hold the numbers."""
    body = Body(mass, Vector(1.0, 0.5, 0.0), Vector(0.0, 0.0, 0.2))
    for _ in range(10):
        body.step(body.position.scaled(-2.0), 0.1)
    return body.position.dot(body.position)


def geodesic(azimuth: Any, module: Any = math) -> Any:
    """The latitude at the end of a geodesic, by GeographicLib, which computes with `math`."""
    from geographiclib.geodesic import Geodesic  # type: ignore[import-untyped,unused-ignore]

    return Geodesic.WGS84.Direct(40.6, -73.8, azimuth, 5.5e6)["lat2"]


OF_ONE = {
    polynomial: 1.5, chain: 1.5, newton: 1.5, kepler: 0.3, pendulum: 1.2, black_scholes: 101.0, bodies: 1.3,
    geodesic: 51.0,
}  # fmt: skip
"""The functions of one number, and where they are differentiated."""

OF_MANY = {
    rosenbrock: [1.0 + n / 10 for n in range(10)],
    mean_square: [0.5 + n / 100 for n in range(100)],
    moments: [0.5 + n / 100 for n in range(100)],
}
"""The functions of a list of numbers."""
