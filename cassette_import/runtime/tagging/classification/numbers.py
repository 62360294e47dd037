"""The classification of `operator`, `math` and `statistics`."""

from __future__ import annotations

from typing import Final

from cassette_import.runtime.tagging.classification.table import Table

OPERATOR: Final = Table(
    moves={
        "an item becomes the result": "getitem itemgetter",
        "an attribute becomes the result": "attrgetter",
        "the argument becomes an item": "setitem",
        "items become items of the result": "concat iconcat",
        "arguments become parts of the object": "methodcaller",
        "arguments become arguments of the callee": "call",
    },
    computes=(
        "abs add and_ floordiv iadd iand ifloordiv ilshift imatmul imod imul index inv invert ior ipow irshift isub"
        " itruediv ixor lshift matmul mod mul neg or_ pos pow rshift sub truediv xor"
    ),
    consumes=(
        "contains countOf delitem eq ge gt indexOf is_ is_not is_none is_not_none le length_hint lt ne not_ truth"
    ),
)

MATH: Final = Table(
    moves={},
    computes=(
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf erfc exp exp2 expm1"
        " fabs factorial floor fma fmax fmin fmod frexp fsum gamma gcd hypot isqrt lcm ldexp lgamma log log10 log1p"
        " log2 modf nextafter perm pow prod radians remainder sin sinh sqrt sumprod tan tanh trunc ulp"
    ),
    consumes="isclose isfinite isinf isnan isnormal issubnormal signbit",
)

STATISTICS: Final = Table(
    moves={
        "an item becomes the result": "median median_low median_high mode",
        "items become items of the result": "multimode",
        "arguments become parts of the object": "LinearRegression LinearRegression: _make _replace",
        "parts become parts of the result": "LinearRegression: _asdict",
    },
    computes=(
        "correlation covariance fmean geometric_mean harmonic_mean kde kde_random linear_regression mean"
        " median_grouped pstdev pvariance quantiles stdev variance NormalDist NormalDist: *"
    ),
)
