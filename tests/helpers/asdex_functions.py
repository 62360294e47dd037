"""Functions in the style of the examples of asdex. `xp` is NumPy, or the NumPy of JAX while asdex follows them."""

import numpy as xp


def laplacian(field):
    return xp.roll(field, 1, 0) + xp.roll(field, -1, 0) + xp.roll(field, 1, 1) + xp.roll(field, -1, 1) - 4 * field


def brusselator(x):
    u, v = x[:9].reshape(3, 3), x[9:].reshape(3, 3)
    du = 1.0 + u**2 * v - 4.4 * u + 10.0 * laplacian(u)
    dv = 3.4 * u - u**2 * v + 10.0 * laplacian(v)
    return xp.concatenate([du.ravel(), dv.ravel()])


def heat(x):
    return xp.concatenate([-2 * x[0:1] + x[1:2], x[:-2] - 2 * x[1:-1] + x[2:], x[-2:-1] - 2 * x[-1:]])


def unary(x):
    return xp.array(
        [
            *(xp.sin(x[0]), xp.cos(x[1]), xp.tan(x[2]), xp.exp(x[3]), xp.log(x[4] + 1), xp.sqrt(xp.abs(x[5]) + 1)),
            *(xp.sinh(x[0]), xp.cosh(x[1]), xp.tanh(x[2]), xp.arcsin(x[3]), xp.arccos(x[4]), xp.arctan(x[5])),
            *(xp.arcsinh(x[0]), xp.arccosh(x[1] + 2), xp.arctanh(x[2] * 0.5), xp.cbrt(x[3]), xp.square(x[4])),
            *(xp.exp2(x[5]), xp.log1p(x[0]), xp.expm1(x[1]), xp.log2(x[2] + 1)),
        ]
    )


def steps(x):
    return xp.array([x[0] * x[1], xp.ceil(x[0] * x[1]), x[0] * xp.round(x[1]), xp.floor(x[2]), xp.sign(x[3])])


def comparisons(x):
    return xp.array([(x[0] < x[1]).astype(float), (x[0] == x[1]).astype(float), (x[2] >= x[1]).astype(float)])


def indices(x):
    n = x.shape[0]
    return xp.array([x[i + 1] ** 2 - x[i] ** 2 + x[n - 1 - i] ** 2 - x[n - i - 2] ** 2 for i in range(n - 1)])


def polynomial(x):
    return xp.array([x[0] * x[1] + xp.sin(x[2]), x[3], x[0] * x[1] * x[3], x[4] ** 2.5, x[5] ** x[5]])


def convolution(x):
    return xp.convolve(x, xp.array([1.0, -2.0, 0.5]), mode="valid")


def ampgo(x):
    return xp.array([xp.sin(x[0]) + xp.sin(10.0 / 3.0 * x[0]) + xp.log(xp.abs(x[0])) - 0.84 * x[0] + 3.0])


JACOBIANS = {
    "differences": lambda x: (x[1:] - x[:-1]) ** 2,
    "simple": lambda x: xp.array([x[0] + x[1], x[1] * x[2], x[2]]),
    "readme": lambda x: xp.array([x[0] ** 2, 2 * x[0] * x[1] ** 2, xp.sin(x[2])]),
    "heat": heat,
    "unary": unary,
    "steps": steps,
    "comparisons": comparisons,
    "indices": indices,
    "polynomial": polynomial,
    "convolution": convolution,
    "ampgo07": ampgo,
    "identity": lambda x: x,
    "constant": lambda x: xp.array([1.0]),
    "squares": lambda x: x**2,
    "power zero": lambda x: x**0,
    "sum and product": lambda x: xp.array([xp.sum(x), xp.prod(x)]),
    "zero": lambda x: xp.array([0 * x[0], x[1] * 0, x[2]]),
    "zeros of an array": lambda x: x * xp.array([1.0, 0.0, 2.0, 0.0, 0.0, 3.0]),
    "clip": lambda x: xp.clip(x, 0.0, 1.0),
    "clip by inputs": lambda x: xp.array([xp.clip(x[0], x[1], x[2])]),
    "dot": lambda x: xp.array([xp.dot(x[:2], x[3:5])]),
    "extremes": lambda x: xp.array([xp.minimum(x[0], x[1]), xp.maximum(x[1], x[2])]),
    "binary": lambda x: xp.array([xp.arctan2(x[0], x[1]), xp.remainder(x[1], x[2]), xp.hypot(x[3], x[4])]),
    "where": lambda x: xp.where(x > 0, x[::-1], x**2),
    "cumulative sum": lambda x: xp.cumsum(x),
    "reshaped": lambda x: x.reshape(2, 3).T.ravel(),
    "axis": lambda x: x.reshape(2, 3).sum(axis=0),
    "largest of an axis": lambda x: x.reshape(2, 3).max(axis=1),
    "outer": lambda x: xp.outer(x[:2], x[3:]).ravel(),
    "matrix": lambda x: xp.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]]) @ x[:3],
    "matrix product": lambda x: (x.reshape(2, 3) @ x.reshape(3, 2)).ravel(),
    "stacked": lambda x: xp.stack([x[:3], x[3:]], axis=1).ravel(),
    "tiled": lambda x: xp.tile(x[:2], 3),
    "repeated": lambda x: xp.repeat(x[:2], 2),
    "padded": lambda x: xp.pad(x[:3], 1),
    "flipped": lambda x: xp.flip(x),
    "split": lambda x: xp.concatenate(xp.split(x, 3)[::-1]),
    "indexed": lambda x: x[xp.array([5, 0, 0])],
    "sorted": lambda x: xp.sort(x),
    "brusselator": brusselator,
}
"""Functions of six numbers; the last one has eighteen."""

HESSIANS = {
    "linear": lambda x: x[0] + 2 * x[1] + 3 * x[2],
    "product": lambda x: x[0] * x[1],
    "quadratic": lambda x: x[0] ** 2 + x[1] ** 2,
    "differences": lambda x: ((x[1:] - x[:-1]) ** 2).sum(),
    "cubes of differences": lambda x: xp.sum((x[1:] - x[:-1]) ** 3),
    "division": lambda x: x[0] / x[1] + x[2] / 1.0 + 1.0 / x[3],
    "products and constants": lambda x: x[0] * x[1] + x[2] * 1.0 + 1.0 * x[3],
    "products of products": lambda x: (x[0] * x[1]) * (x[2] * x[3]),
    "rosenbrock": lambda x: xp.sum((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2),
    "exponential": lambda x: xp.exp(x[0] + x[1]) + x[2] * xp.sin(x[3]),
    "power": lambda x: x[0] + x[1] * x[2] + 1.0 / x[3] + x[1] ** x[4],
    "zero": lambda x: 0 * x[0] ** 2 + x[1] ** 2,
    "dot": lambda x: xp.dot(x, x),
    "products of neighbours": lambda x: xp.dot(x[:-1], x[1:]),
}


def size_of(name):
    """The number of inputs of a function."""
    return 18 if name == "brusselator" else 6
