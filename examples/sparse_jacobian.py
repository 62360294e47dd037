"""A stiff differential equation, solved with the pattern of its Jacobian and without it.

The right-hand side is the Brusselator on a square grid, as it is in textbooks: nothing in it knows of patterns. SciPy
estimates the Jacobian by differences, one for each input, or, with a pattern, one for each colour of its columns.

    python examples/sparse_jacobian.py 16      # the number of points along a side
"""

import sys
import time

import numpy as np
from scipy.integrate import solve_ivp

from cassette_import.contexts.sparsity import coloring, jacobian


def laplacian(field):
    """Differences of second order with periodic boundaries."""
    neighbours = np.roll(field, 1, 0) + np.roll(field, -1, 0) + np.roll(field, 1, 1) + np.roll(field, -1, 1)
    return neighbours - 4 * field


def brusselator(t, y, diffusion=10.0):
    """The right-hand side: two substances, which react and diffuse."""
    side = int(np.sqrt(len(y) / 2))
    u, v = y.reshape(2, side, side)
    reaction = u * u * v
    du = 1 + reaction - 4.4 * u + diffusion * laplacian(u)
    dv = 3.4 * u - reaction + diffusion * laplacian(v)
    return np.concatenate([du.ravel(), dv.ravel()])


def start(side):
    """The concentrations at the beginning."""
    x, y = np.meshgrid(np.linspace(0, 1, side, endpoint=False), np.linspace(0, 1, side, endpoint=False))
    return np.concatenate([(22 * y * (1 - y) ** 1.5).ravel(), (27 * x * (1 - x) ** 1.5).ravel()])


def main(side):
    """Solve the equation both ways, and compare the times and the results."""
    y0 = start(side)
    began = time.perf_counter()
    pattern = jacobian(lambda y: brusselator(0.0, y), y0)
    detected = time.perf_counter()
    sparse = solve_ivp(brusselator, (0, 1), y0, method="BDF", jac_sparsity=pattern)
    with_pattern = time.perf_counter()
    dense = solve_ivp(brusselator, (0, 1), y0, method="BDF")
    without = time.perf_counter()
    colors = coloring(pattern).max() + 1
    print(f"{len(y0)} inputs, {pattern.nnz} entries, {colors} colours")
    print(f"detection {detected - began:.2f} s, solution with the pattern {with_pattern - detected:.2f} s")
    print(f"solution without it {without - with_pattern:.2f} s")
    print(f"{(without - with_pattern) / (with_pattern - began):.1f} times faster, detection included")
    difference = np.abs(sparse.y[:, -1] - dense.y[:, -1]).max()
    print(f"greatest difference between the results {difference:.1e}")
    return difference


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 16)
