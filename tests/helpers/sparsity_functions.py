"""A hundred functions of six numbers, whose patterns the tests compare with numeric derivatives."""

import cmath
import functools
import itertools
import math
import operator
import statistics
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Point:
    """A point in the plane."""

    x: float
    y: float

    def scaled(self, factor):
        return replace(self, x=self.x * factor, y=self.y * factor)


class Account:
    """An object that changes."""

    def __init__(self, balance):
        self.balance = balance
        self.history = []

    def add(self, amount):
        if amount > 0:
            self.balance = self.balance + amount
        else:
            self.balance = self.balance * 0.5
        self.history.append(amount)


def clamp(x, low, high):
    return low if x < low else high if x > high else x


def rosenbrock(x):
    return [100 * (b - a**2) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(x)]


def brusselator(x):
    out = [0.0] * 6
    for i in range(3):
        u, v = x[i], x[i + 3]
        left, right = x[max(i - 1, 0)], x[min(i + 1, 2)]
        out[i] = 1 + u * u * v - 4 * u + 0.1 * (left - 2 * u + right)
        out[i + 3] = 3 * u - u * u * v
    return out


def early(x):
    if x[0] > 0.5:
        return x[1] * x[2]
    if x[1] < 0.2:
        return x[3]
    return x[4] + x[5]


def newton(x):
    y = 1.0
    for _ in range(30):
        step = (y * y - (1.5 + x[0] * x[0])) / (2 * y)
        y = y - step
        if abs(step) < 1e-12:
            break
    return [y * x[1], x[2]]


def halving(x):
    y = x[0] * 8
    while abs(y) > 0.1:
        y = y / 2 + x[1] * 1e-3
    return [y, x[2]]


def skipped(x):
    total = 0.0
    for v in x:
        if v < 0:
            continue
        total = total + v * x[0]
    return total


def first_large(x):
    for i, v in enumerate(x):
        if v > 0.7:
            found = v * x[(i + 1) % 6]
            break
    else:
        found = x[0] - x[1]
    return found


def limited(x):
    out = []
    for a, b in itertools.pairwise(x):
        slope = b - a
        out.append(0.0 if a * b < 0 else min(abs(a), abs(b)) * math.copysign(1.0, slope))
    return out


def tridiagonal(x):
    c, d = [0.0] * 6, [0.0] * 6
    for i in range(6):
        m = 4.0 - (c[i - 1] if i else 0.0)
        c[i], d[i] = 1.0 / m, (x[i] - (d[i - 1] if i else 0.0)) / m
    for i in range(4, -1, -1):
        d[i] = d[i] - c[i] * d[i + 1]
    return d


def horner(x):
    y = 0.0
    for a in x[1:]:
        y = y * x[0] + a
    return y


def sides_with_stores(x):
    values = [0.0, x[1], x[2]]
    if x[0] > 0:
        values[0] = x[3]
    else:
        values[1] = x[4]
    return values


def objects(x):
    account = Account(x[0])
    for amount in x[1:4]:
        account.add(amount)
    return [account.balance, account.history[1], x[5]]


def closures(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * x[0]

    for v in x[2:4]:
        add(v)
    return [total, x[1]]


def nested(x):
    if x[0] > 0:
        y = x[1] if x[2] > 0 else x[3]
    elif x[1] > 0 and x[4] > 0:
        y = x[5] * x[5]
    else:
        y = 2.0
    return y * x[0]


def checked(x):
    if x[0] > 5:
        raise ValueError("too large")
    assert x[1] < 5, "too large"
    return x[2]


def spline(x):
    t = clamp(x[0], -0.9, 0.9)
    if t < -0.3:
        return x[1] * (1 - t)
    return x[2] * t if t < 0.3 else x[3] + t * x[4]


def domains(x):
    return math.log(x[0]) if x[0] > 0 else math.sqrt(-x[0]) if x[0] < 0 else x[1]


def stored_in_array(x):
    out = np.zeros(6)
    out[0] = x[0]
    out[1:5] = x[1:5] * x[0:4]
    out[5] += x[5] * out[1]
    return out


def views(x):
    out = np.empty((2, 3))
    top = out[0]
    top[:] = x[:3]
    out[1] = top[::-1] * x[3:]
    top *= 2
    return out


def in_branches(x):
    out = x.copy()
    if x[0] > 0:
        out[1:] = x[:-1]
    else:
        out[0] = x[5] ** 2
    return out


def laplacian(x):
    u = x.reshape(2, 3)
    out = -4 * u
    out[1:] += u[:-1]
    out[:-1] += u[1:]
    out[:, 1:] += u[:, :-1]
    out[:, :-1] += u[:, 1:]
    return out.ravel()


def upwind(x):
    flux = np.where(x > 0, x**2 / 2, 0.0) + np.where(np.roll(x, -1) < 0, np.roll(x, -1) ** 2 / 2, 0.0)
    return -np.diff(flux, prepend=flux[-1])


def masked(x):
    y = x * 2
    y[x < 0] = 0.0
    y[3:][x[3:] > 0.5] = x[0]
    return y


MATRIX = np.array([[1.0, 0, 2, 0, 0, 0], [0, 0, 0, 3, 0, 0], [0, 1, 0, 0, 0, -1]])
FULL = np.arange(36.0).reshape(6, 6) + 20 * np.eye(6)

SCALAR = [
    rosenbrock, brusselator, early, newton, halving, skipped, first_large, limited, tridiagonal, horner,
    sides_with_stores, objects, closures, nested, spline, domains,
    lambda x: x[0] + x[1] - x[2] * 3,
    lambda x: [x[0] * x[1], x[2] / (2 + x[3]), -x[4], +x[5]],
    lambda x: [math.sin(x[0]), math.exp(x[1]) * x[2], math.hypot(x[3], x[4])],
    lambda x: [math.atan2(x[0], x[1]), math.tanh(x[2]), math.cosh(x[3]) - math.sinh(x[4]), math.erf(x[5])],
    lambda x: [abs(x[0]), x[1] ** 2, 2.0 ** x[2], (2 + x[3]) ** x[4]],
    lambda x: [x[0] % 0.7, x[1] // 0.5, math.fmod(x[2], 0.6), round(x[3]) + x[4]],
    lambda x: [math.floor(x[0]) * x[1], int(x[2] * 5) * x[3], float(x[4]), bool(x[5])],
    lambda x: [max(x), min(x[0], x[1]), max(x[2:4]), min(x[4:], key=abs)],
    lambda x: sorted(x[:3]) + sorted(x[3:], reverse=True),
    lambda x: [sum(x), math.fsum(x[:3]), math.prod(x[3:]), sum(x[:2], x[4])],
    lambda x: [statistics.mean(x[:2]), statistics.fmean(x[1:4]), statistics.pvariance(x[3:])],
    lambda x: [statistics.median(x[:3]), statistics.stdev(x[2:5]), x[5]],
    lambda x: [math.dist(x[:2], x[2:4]), math.sumprod(x[:2], x[4:]) if hasattr(math, "sumprod") else x[0]],
    lambda x: list(map(math.exp, x)),
    lambda x: list(itertools.accumulate(x)),
    lambda x: functools.reduce(operator.mul, x[1:4]),
    lambda x: [y * 2 for y in x if True],
    lambda x: {"a": x[0], "b": (x[1] * x[2], [x[3]])},
    lambda x: dict(zip("abcdef", x, strict=True))["c"] * x[0],
    lambda x: Point(x[0], x[1]).scaled(x[2]).y,
    lambda x: [clamp(v, -0.5, 0.5) for v in x],
    lambda x: x[0] if x[0] > x[1] else x[1] if x[1] > x[2] else x[2],
    lambda x: (x[0] > 0 and x[1]) or x[2],
    lambda x: (x[0] if not x[1] > 0 else x[2]) + x[3],
    lambda x: x[0] if -0.5 < x[1] < 0.5 else x[2],
    lambda x: x[0] if any(v > 0.9 for v in (0.1, 0.2)) else x[1],
    lambda x: x[0] if any([v > 0.9 for v in x]) else x[1],
    lambda x: x[0] if all([v > -0.9 for v in x[2:]]) else x[1],
    lambda x: [x[0], *x[2:4], x[5]],
    lambda x: x[::-1],
    lambda x: [divmod(x[0], 0.3)[1], math.modf(x[1])[0] * x[2]],
    lambda x: [math.log1p(2 + x[0]), math.sqrt(2 + x[1]), math.cbrt(x[2]) if x[2] else x[3]],
    lambda x: [math.degrees(x[0]), math.radians(x[1]), math.copysign(x[2], x[3]), math.ldexp(x[4], 2)],
    lambda x: (x[0] + 1j * x[1]).real * x[2],
    lambda x: x[0] * 0 + x[1],
    lambda x: [operator.add(x[0], x[1]), operator.truediv(x[2], 3)],
    lambda x: [pow(x[0], 3), x[1] ** 1, x[2] ** 0],
    lambda x: (lambda y, *z: y * z[0])(x[0], *x[3:]),
    lambda x: functools.partial(operator.mul, x[0])(x[1]) + functools.partial(math.pow, 2.0)(x[2]),
    lambda x: f"{len(x)}" and x[2] * x[2],
    lambda x: [cmath.pi * x[0], math.inf if False else x[1]],
    lambda x: next(iter(x[2:])) * sum(v for v in (x[0], x[1])),
    lambda x: [v for pair in zip(x[:3], x[3:], strict=True) for v in pair],
]  # fmt: skip
"""Functions of a list."""

ARRAYS = [
    stored_in_array, views, in_branches, laplacian, upwind, masked,
    lambda x: x + 1,
    lambda x: 2.0 - x * np.sin(x),
    lambda x: np.exp(x[:3]) / (3 + x[3:]),
    lambda x: x.sum(),
    lambda x: [x[:2].mean(), np.sum(x[2:4] ** 2), x[4]],
    lambda x: x.reshape(2, 3).sum(axis=0),
    lambda x: x.reshape(3, 2).mean(axis=1, keepdims=True) * np.ones(2),
    lambda x: np.cumsum(x),
    lambda x: np.cumprod(x[:3]),
    lambda x: np.diff(x),
    lambda x: np.diff(x, n=2),
    lambda x: np.roll(x, 1) - x,
    lambda x: np.concatenate([x[:2], [1.0], x[4:]]),
    lambda x: np.stack([x[:3], x[3:]], axis=1),
    lambda x: np.pad(x, 1, mode="edge")[2:] - np.pad(x, 1)[:-2],
    lambda x: np.pad(x.reshape(2, 3), 1, mode="wrap"),
    lambda x: MATRIX @ x,
    lambda x: np.dot(MATRIX, x * x),
    lambda x: x @ MATRIX.T,
    lambda x: np.einsum("ij,j->i", MATRIX, x),
    lambda x: np.outer(x[:2], x[2:4]),
    lambda x: np.tensordot(x.reshape(2, 3), x.reshape(3, 2), axes=1),
    lambda x: x.reshape(2, 3).T @ x[:2],
    lambda x: np.linalg.solve(FULL, x),
    lambda x: np.linalg.norm(x[:3]) + x[5],
    lambda x: np.where(x > 0, x, x[0]),
    lambda x: np.maximum(x, 0.0) + np.minimum(x[::-1], 0.3),
    lambda x: np.clip(x, -0.5, 0.5),
    lambda x: np.abs(x) * np.sign(x[0]),
    lambda x: np.array([x[0], x[1] * x[2], 3.0]),
    lambda x: np.asarray(x) ** 2,
    lambda x: np.take(x, [0, 2, 4]) * x[np.array([1, 3, 5])],
    lambda x: np.max(x[:3]) + x.min(),
    lambda x: np.sort(x[:4]),
    lambda x: np.gradient(x),
    lambda x: np.gradient(x.reshape(2, 3), axis=1),
    lambda x: np.convolve(x, [1.0, -2.0, 1.0], mode="same"),
    lambda x: np.interp(x, [-1.0, 0.0, 1.0], [0.0, 2.0, 1.0]),
    lambda x: np.trapezoid(x[:4]) if hasattr(np, "trapezoid") else np.trapz(x[:4]),
    lambda x: np.fft.fft(x).real,
    lambda x: np.vstack([x[:3], x[3:]]) * np.arange(3),
    lambda x: np.broadcast_to(x[:3], (2, 3)) * x[3:5, None],
    lambda x: np.repeat(x[:2], 3) + np.tile(x[4:], 3),
    lambda x: np.select([x > 0.5, x < -0.5], [x, x * x[0]], 0.0),
    lambda x: np.tril(np.outer(x[:3], x[:3])),
    lambda x: np.std(x[:3]) + np.var(x[3:5]),
    lambda x: [float(x[0]) * 2, x[1].item(), *x[2:4].tolist()],
    lambda x: np.flip(x)[:2] * np.ones_like(x)[:2],
    lambda x: np.add.reduce(x[:3]) * np.multiply.outer(x[3:4], x[4:])[0, 0],
    lambda x: np.prod(x[:2]) + np.median(x[2:5]),
    lambda x: np.meshgrid(x[:2], x[2:4])[0],
    lambda x: np.kron(x[:2], x[2:4]),
    lambda x: np.array([v * 2 if v > 0 else 0.0 for v in x]) if len(x) > 100 else x,
    lambda x: np.floor(x * 3) + x[0],
]  # fmt: skip
"""Functions of an array."""
