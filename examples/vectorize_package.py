"""A function of a package, with all that it calls, handed to `@vectorize` of numba: a ufunc of NumPy.

numba compiles a function of numbers. A package has its functions in several modules, which numba does not follow, and
options, tables and classes around the numbers. `inline` makes one function of what runs.
"""

import ast

import fluids
import numba
import numpy as np

from cassette_import import install
from cassette_import.contexts.graph import inline

install(["fluids"])


def friction(reynolds, roughness):
    return fluids.friction_factor(Re=reynolds, eD=roughness)


one = inline(friction, 1e5, 1e-4)
one(100.0, 1e-4)  # the laminar flow is another path

module = ast.parse(one.source)
function = module.body[-1]
function.body = [line for line in function.body if "type(" not in ast.unparse(line)]  # numba knows the types
namespace = {}
exec(compile(ast.unparse(module), "<friction>", "exec"), namespace)
ufunc = numba.vectorize("float64(float64, float64)")(namespace["friction"])

speeds = np.geomspace(10.0, 1e8, 1001)
factors = ufunc(speeds, 1e-4)
print(type(ufunc).__name__, factors.shape)
worst = max(abs(found / friction(speed, 1e-4) - 1.0) for speed, found in zip(speeds.tolist(), factors, strict=True))
print(f"the same within {1e-14 if worst < 1e-14 else worst}")
