"""Functions of arrays and numbers, written with plain NumPy, that use what autograd has rules for.

`CASES` are those that have derivatives here too, `WITHOUT_RULES` those that have none.
"""

import numpy as np

_random = np.random.RandomState(0)


def _array(*shape):
    return _random.standard_normal(shape)


A, B = _array(3, 4), _array(3, 4)
POSITIVE, SMALL = np.abs(A) + 0.4, np.tanh(A) * 0.9
ROW, COLUMN, NUMBER = _array(4), _array(3, 1), 0.7
SQUARE, OTHER_SQUARE = _array(3, 3) + 2 * np.eye(3), _array(3, 3)
DEFINITE = SQUARE @ SQUARE.T + np.eye(3)
STACK, CUBE = _array(2, 3, 3) + 2 * np.eye(3), _array(2, 3, 4)
TIES = np.array([[1.0, 2.0, 2.0], [3.0, 0.5, 3.0]])

UNARY = (
    "negative", "abs", "absolute", "fabs", "exp", "exp2", "expm1", "sin", "cos", "tan", "arctan", "sinh", "cosh",
    "tanh", "arcsinh", "rad2deg", "degrees", "deg2rad", "radians", "square", "sinc", "floor", "ceil", "round",
    "rint", "around", "trunc", "sign", "nan_to_num", "ravel", "squeeze", "flipud", "fliplr", "triu", "tril",
    "transpose", "sum", "mean", "prod", "var", "std", "max", "min", "amax", "amin", "cumsum", "atleast_1d",
    "atleast_2d", "atleast_3d", "diff", "real", "conj", "conjugate", "real_if_close", "rot90",
)  # fmt: skip
OF_POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "reciprocal", "exp")
OF_SMALL = ("arcsin", "arccos", "arctanh")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2",
          "true_divide", "mod", "remainder", "arctan2", "hypot")  # fmt: skip
PRODUCTS = ("dot", "matmul", "inner", "outer", "kron")
REDUCTIONS = ("sum", "mean", "prod", "var", "std", "max", "min", "cumsum")


def called(name, **keywords):
    """Return a function that calls NumPy's function of this name."""
    return lambda *given: getattr(np, name)(*given, **keywords)


def _named(names, *arguments):
    return {name: (called(name), arguments) for name in names}


CASES = {
    **_named(UNARY, A),
    **{f"{name} of positive": case for name, case in _named(OF_POSITIVE, POSITIVE).items()},
    **{f"{name} of small": case for name, case in _named(OF_SMALL, SMALL).items()},
    **_named(("arccosh",), POSITIVE + 1),
    **_named(BINARY, A, B + 0.1),
    **{f"{name} with a row": case for name, case in _named(BINARY, A, ROW).items()},
    **{f"{name} with a column": case for name, case in _named(BINARY, COLUMN, B).items()},
    **{f"{name} with a number": case for name, case in _named(BINARY, A, NUMBER).items()},
    **_named(("dot", "matmul", "inner", "kron"), SQUARE, OTHER_SQUARE),
    **{f"{name} of vectors": case for name, case in _named(PRODUCTS, ROW, ROW + 1).items()},
    **{f"{name} of matrix and vector": case for name, case in _named(("dot", "matmul", "inner"), A, ROW).items()},
    **{f"{name} of stacks": case for name, case in _named(("dot", "matmul"), STACK, A).items()},
    **{
        f"{name} along {axis}{', kept' * kept}": (
            called(name, axis=axis, keepdims=True) if kept else called(name, axis=axis),
            (CUBE,),
        )
        for name in REDUCTIONS
        for axis in (0, -1, (0, 2))
        for kept in (False, True)
        if name != "cumsum" or (not kept and axis != (0, 2))
    },
    **{f"{name} of equals": case for name, case in _named(("max", "min"), TIES).items()},
    "power": (lambda x, y: np.power(x, y), (POSITIVE, B)),
    "power of a number": (lambda x: np.power(x, 3), (A,)),
    "where": (lambda x, y: np.where(x > y, x, y * x), (A, B)),
    "reshape": (lambda x: np.reshape(x, (2, 6)), (A,)),
    "reshape in another order": (lambda x: np.reshape(x, (2, 6), order="F"), (A,)),
    "roll": (lambda x: np.roll(x, 2, axis=1), (A,)),
    "roll all": (lambda x: np.roll(x, 3), (A,)),
    "array_split": (lambda x: np.array_split(x, 3, axis=1)[1], (A,)),
    "split": (lambda x: np.split(x, [1, 2], axis=1)[1], (A,)),
    "vsplit": (lambda x: np.vsplit(x, 3)[0], (A,)),
    "hsplit": (lambda x: np.hsplit(x, 2)[1], (A,)),
    "dsplit": (lambda x: np.dsplit(x, 2)[1], (CUBE,)),
    "ravel in another order": (lambda x: np.ravel(x, order="F"), (A,)),
    "expand_dims": (lambda x: np.expand_dims(x, 1), (A,)),
    "squeeze of an axis": (lambda x: np.squeeze(x, axis=1), (COLUMN,)),
    "diag of a matrix": (lambda x: np.diag(x), (SQUARE,)),
    "diag of a vector": (lambda x: np.diag(x, 1), (ROW,)),
    "rot90 thrice": (lambda x: np.rot90(x, 3), (A,)),
    "trace": (lambda x: np.trace(x, offset=1), (SQUARE,)),
    "full": (lambda x: np.full((2, 3), x), (NUMBER,)),
    "triu with an offset": (lambda x: np.triu(x, k=1), (A,)),
    "clip": (lambda x: np.clip(x, -0.5, 0.6), (A,)),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 2), (CUBE,)),
    "moveaxis": (lambda x: np.moveaxis(x, 0, -1), (CUBE,)),
    "rollaxis": (lambda x: np.rollaxis(x, 2), (CUBE,)),
    "diff twice": (lambda x: np.diff(x, n=2, axis=0), (A,)),
    "gradient": (lambda x: np.gradient(x), (ROW,)),
    "repeat": (lambda x: np.repeat(x, 2, axis=1), (A,)),
    "repeat all": (lambda x: np.repeat(x, 2), (A,)),
    "tile": (lambda x: np.tile(x, (2, 3)), (A,)),
    "transpose of axes": (lambda x: np.transpose(x, (2, 0, 1)), (CUBE,)),
    "broadcast_to": (lambda x: np.broadcast_to(x, (3, 4)), (COLUMN,)),
    "var with degrees of freedom": (lambda x: np.var(x, axis=1, ddof=1), (A,)),
    "std with degrees of freedom": (lambda x: np.std(x, axis=1, ddof=1), (A,)),
    "tensordot": (lambda x, y: np.tensordot(x, y, axes=([1, 2], [0, 1])), (CUBE, A)),
    "tensordot of a number of axes": (lambda x, y: np.tensordot(x, y, 1), (SQUARE, A)),
    "concatenate": (lambda x, y: np.concatenate((x, y, x), axis=1), (A, B)),
    "vstack": (lambda x, y: np.vstack([x, y]), (A, ROW)),
    "hstack": (lambda x, y: np.hstack([x, y]), (A, B)),
    "dstack": (lambda x, y: np.dstack([x, y]), (A, B)),
    "column_stack": (lambda x, y: np.column_stack([x, y]), (A, B)),
    "stack": (lambda x, y: np.stack([x, y], axis=1), (A, B)),
    "append": (lambda x, y: np.append(x, y), (A, ROW)),
    "array of parts": (lambda x, y: np.array([x[0], y[1], x[2] * 2]), (A, B)),
    "array of numbers": (lambda x, y: np.array([[x, y], [y * y, 1.0]]), (0.3, 0.8)),
    "sort along an axis": (lambda x: np.sort(x, axis=0), (ROW,)),
    "partition": (lambda x: np.partition(x, 1), (ROW,)),
    "einsum": (lambda x, y: np.einsum("ij,kj->ik", x, y), (A, B)),
    "einsum of three": (lambda x, y, z: np.einsum("ij,jk,kl->il", x, y, z), (SQUARE, OTHER_SQUARE, A)),
    "einsum without a result": (lambda x, y: np.einsum("ij,ij", x, y), (A, B)),
    "item": (lambda x: x[1, 2], (A,)),
    "slice": (lambda x: x[::-1, 1:3], (A,)),
    "items by numbers": (lambda x: x[[0, 0, 2], [1, 1, 3]], (A,)),
    "items by truth": (lambda x: x[x > 0], (A,)),
    "new axis": (lambda x: x[:, None, ...], (A,)),
    "pad": (lambda x: np.pad(x, ((1, 0), (2, 1)), "constant"), (A,)),
    "select": (lambda x: np.select([x > 0.5, x > 0], [x, x * x], 0.0), (A,)),
    "astype": (lambda x: x.astype(float) * 2, (A,)),
    "linspace": (lambda x: np.linspace(x, 2 * x, 4), (NUMBER,)),
    "cross": (lambda x, y: np.cross(x, y), (SQUARE, OTHER_SQUARE)),
    "operators": (lambda x, y: (x + y) * x / (1.5 + y * y) - x**2 + 2 ** (-x) + (-y) % 3.0, (A, B)),
    "matmul as an operator": (lambda x, y: x @ y, (SQUARE, A)),
    "attributes": (lambda x: x.T.reshape(-1) * x.size + len(x) + x.ndim, (A,)),
    "methods": (lambda x: x.sum(0) * x.mean() + x.max(axis=0) - x.cumsum(0)[1] + x.std(), (A,)),
    "loop": (lambda x: sum(row.sum() ** 2 for row in x), (A,)),
    "softmax": (lambda x: np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x)), axis=1, keepdims=True), (A,)),
    "logistic loss": (
        lambda x, w: -np.sum(np.log(1 / (1 + np.exp(-np.dot(x, w)))) * np.array([1.0, 0.0, 1.0])),
        (A, ROW),
    ),
    "inv": (lambda x: np.linalg.inv(x), (SQUARE,)),
    "pinv": (lambda x: np.linalg.pinv(x), (A,)),
    "inv of a stack": (lambda x: np.linalg.inv(x), (STACK,)),
    "det": (lambda x: np.linalg.det(x), (SQUARE,)),
    "slogdet": (lambda x: np.linalg.slogdet(x)[1], (SQUARE,)),
    "solve": (lambda x, y: np.linalg.solve(x, y), (SQUARE, COLUMN)),
    "solve of several": (lambda x, y: np.linalg.solve(x, y), (SQUARE, A)),
    "norm": (lambda x: np.linalg.norm(x), (A,)),
    "norm of a vector": (lambda x: np.linalg.norm(x, 3), (ROW,)),
    "norm along an axis": (lambda x: np.linalg.norm(x, axis=1), (A,)),
    "cholesky": (lambda x: np.linalg.cholesky(x @ x.T + np.eye(3)), (SQUARE,)),
}

WITHOUT_RULES = {
    "eigh": (lambda x: np.linalg.eigh(x)[0], (DEFINITE,)),
    "eig": (lambda x: np.linalg.eig(x)[0], (DEFINITE,)),
    "svd": (lambda x: np.linalg.svd(x)[1], (A,)),
    "nuclear norm": (lambda x: np.linalg.norm(x, "nuc"), (A,)),
    "fft": (lambda x: np.fft.fft(x), (ROW,)),
    "rfft": (lambda x: np.fft.rfft(x), (ROW,)),
    "ifft": (lambda x: np.fft.ifft(x), (ROW,)),
    "fftshift": (lambda x: np.fft.fftshift(x), (ROW,)),
    "angle": (lambda x: np.angle(x), (A,)),
    "imag": (lambda x: np.imag(x), (A,)),
}
