"""Arguments with which functions of NumPy can be called, and the functions that take no numbers."""

import numpy as np

VECTOR = np.array([0.31, 0.73, 0.47])
OTHER = np.array([1.3, 0.42, 0.85])
MATRIX = np.array([[0.9, 0.2, 0.31], [0.1, 0.8, 0.4], [0.5, 0.3, 1.1]])
SYMMETRIC = MATRIX + MATRIX.T + 3 * np.eye(3)
MASK = np.array([True, False, True])
PLACES = np.array([0, 2, 1])
NUMBER = 0.6
CUBE = np.arange(24.0).reshape(2, 3, 4) / 7 + 0.1

TEMPLATES = [
    (np.array(0.6),),
    (VECTOR,), (MATRIX,), (SYMMETRIC,), (NUMBER,), (VECTOR, OTHER), (SYMMETRIC, VECTOR), (MATRIX, SYMMETRIC),
    (MATRIX, 1), (VECTOR, NUMBER), (NUMBER, NUMBER + 1.0), (VECTOR, OTHER, 2.3 * VECTOR), (NUMBER, VECTOR, OTHER),
    ([VECTOR, OTHER],), ([0.3, 0.8],), (VECTOR, PLACES), (PLACES, VECTOR), (MASK, VECTOR), (VECTOR, MASK),
    (VECTOR, MASK, OTHER), (MASK, VECTOR, OTHER), (VECTOR, 0, 1.7), (VECTOR, PLACES, OTHER), (VECTOR, (3, 1)),
    ((2, 2), NUMBER), (MATRIX, 0, 1), (VECTOR, float), ("i,i->", VECTOR, OTHER), (VECTOR, PLACES, 0),
    (VECTOR, PLACES, OTHER, 0), (PLACES, [VECTOR, OTHER, VECTOR]), ([MASK, ~MASK], [VECTOR, OTHER], NUMBER),
    (3, NUMBER), (NUMBER, 3), (2, VECTOR), (), (VECTOR, [VECTOR, OTHER]), (lambda row: row * 2.0, 0, VECTOR),
    (lambda a, axis: np.sum(a, axis, keepdims=True), MATRIX, [0]), (lambda i, j: i * 2.0, (2, 2)),
    (5, [0.2, 0.3, 0.5]), ([0.4, 0.2], [[1.1, 0.15], [0.15, 1.1]]), ([0.4, 0.2], [0.5, 0.3], [1, 2]),
    (VECTOR, VECTOR, VECTOR, [1, 2, 3]), (CUBE,), (CUBE, 2), ([(NUMBER, 1.0)],), (VECTOR, MASK, 0.3),
    ("i,i->i", VECTOR, OTHER), (VECTOR, 2), (OTHER, VECTOR, 1), (1.0, 2.0 + NUMBER, 4),
]  # fmt: skip
"""Tuples of arguments, each of which some functions take."""

WITHOUT_NUMBERS = set(
    """
Generator.multivariate_hypergeometric Generator.zipf MaskedArray.argpartition MaskedArray.astype MaskedArray.choose
MaskedArray.diagonal MaskedArray.dump MaskedArray.getfield MaskedArray.item MaskedArray.partition
MaskedArray.reshape MaskedArray.resize MaskedArray.swapaxes MaskedArray.to_device MaskedArray.tofile
MaskedArray.trace RandomState.hypergeometric RandomState.seed RandomState.set_state RandomState.zipf generic.astype
generic.choose generic.compress generic.diagonal generic.dump generic.getfield generic.nonzero generic.put
generic.reshape generic.resize generic.searchsorted generic.setfield generic.sort generic.swapaxes generic.to_device
generic.tofile generic.trace ndarray.__and__ ndarray.__array_function__ ndarray.__array_ufunc__ ndarray.__delitem__
ndarray.__format__ ndarray.__index__
ndarray.__iand__ ndarray.__ilshift__ ndarray.__invert__ ndarray.__ior__ ndarray.__irshift__
ndarray.__ixor__ ndarray.__lshift__ ndarray.__or__ ndarray.__rand__ ndarray.__rlshift__ ndarray.__ror__
ndarray.__rrshift__ ndarray.__rshift__ ndarray.__rxor__ ndarray.__xor__ ndarray.dump ndarray.resize ndarray.setfield
ndarray.to_device ndarray.tofile numpy.binary_repr numpy.bitwise_and numpy.bitwise_left_shift numpy.bitwise_or
numpy.bitwise_right_shift numpy.bitwise_xor numpy.busday_count numpy.busday_offset numpy.datetime_as_string
numpy.datetime_data numpy.empty numpy.empty_like numpy.eye numpy.float16 numpy.float32 numpy.floating numpy.fromfile
numpy.frompyfunc numpy.fromregex numpy.fromstring numpy.gcd numpy.genfromtxt numpy.half numpy.identity numpy.indices
numpy.isdtype numpy.isnat numpy.issubdtype numpy.lcm numpy.left_shift numpy.load numpy.loadtxt numpy.ma.bitwise_and
numpy.ma.bitwise_or numpy.ma.bitwise_xor numpy.ma.corrcoef numpy.ma.empty numpy.ma.empty_like
numpy.ma.flatten_structured_array numpy.ma.fromflex numpy.ma.identity numpy.ma.indices numpy.ma.left_shift
numpy.ma.make_mask_descr numpy.ma.make_mask_none numpy.ma.masked_all numpy.ma.ones numpy.ma.right_shift
numpy.ma.zeros numpy.mask_indices numpy.nested_iters numpy.ones numpy.packbits numpy.polynomial.chebyshev.chebgauss
numpy.polynomial.chebyshev.chebinterpolate numpy.polynomial.chebyshev.chebpts1 numpy.polynomial.chebyshev.chebpts2
numpy.polynomial.hermite.hermgauss numpy.polynomial.hermite_e.hermegauss numpy.polynomial.laguerre.laggauss
numpy.polynomial.legendre.leggauss numpy.promote_types numpy.random.get_bit_generator numpy.random.hypergeometric
numpy.random.seed numpy.random.set_bit_generator numpy.random.set_state numpy.random.zipf numpy.ravel_multi_index
numpy.rec.fromfile numpy.right_shift numpy.savetxt numpy.set_printoptions numpy.setbufsize numpy.seterr
numpy.seterrcall numpy.show_config numpy.show_runtime numpy.single numpy.typename numpy.unpackbits
numpy.unravel_index numpy.zeros
""".split()
)
"""Functions that take no numbers, are not defined for them, or make garbage: they make arrays of constants, take
integers, read files, or know types, options and texts."""
