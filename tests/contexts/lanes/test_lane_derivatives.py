"""Derivatives in a vectorized function are those of the scalar calls, for all lanes at once."""

from __future__ import annotations

import math

import pytest

from cassette_import import install
from cassette_import.contexts.autodiff import derivative, gradient, jvp, vjp
from cassette_import.contexts.lanes import EffectError, vectorize

np = pytest.importorskip("numpy")

LANES = np.linspace(-2.0, 2.5, 13)
OTHERS = np.linspace(3.0, -1.0, 13)


def branches(x, y):
    s = [x, y]
    for i in range(3):
        if s[0] > 1:
            s[0] = s[0] / 2
            continue
        s[1] += s[0] ** 2 * i
    return s[1] * math.hypot(x, y) if y > x else math.exp(-s[0]) - s[1] * abs(x)


def folds(x, y):
    return max(x, y) * sum([x, y, 2]) + math.fsum([x, y]) + math.prod([x, y, x]) + math.dist((x, y), (1.0, 2.0))


def remainders(x, y):
    whole, rest = divmod(x, 0.3)
    return whole + rest * y + math.modf(y)[0] + math.fmod(x, 0.7) + round(x, 1) + int(y)


def loops(x, y):
    while x * x > 0.5:
        x = math.sin(x) * 0.9
        if x < 0:
            break
    return math.atan2(x, y) + math.copysign(y, x) + math.pow(2.0, x)


def sorts(x, y):
    first, second, third = sorted([x, y, 0.3])
    return first * 2 + second * second + (x if third is None else third / 3)


def tables(x, y):
    return (1.5, -2.0, 7.0)[int(abs(x))] * x + {True: 2.0, False: y}[x > y] * y


FUNCTIONS = [branches, folds, remainders, loops, sorts, tables]


def close(found, expected):
    return np.allclose(np.array(found, float), np.array(expected, float), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_gradient_by_lanes_is_that_of_the_scalar_calls(f):
    found = vectorize(lambda x, y: gradient(f, x, y))(LANES, OTHERS)
    expected = [gradient(f, x, y) for x, y in zip(LANES.tolist(), OTHERS.tolist(), strict=True)]
    assert close(found, np.transpose(expected))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_second_derivative_by_lanes_is_that_of_the_scalar_calls(f):
    def second(x, y):
        return derivative(lambda u: derivative(lambda v: f(v, y), u), x)

    expected = [second(x, y) for x, y in zip(LANES.tolist(), OTHERS.tolist(), strict=True)]
    assert close(vectorize(second)(LANES, OTHERS), expected)


def test_a_derivative_within_another_one_does_not_get_its_perturbation():
    def nested(x):
        return derivative(lambda y: y * derivative(lambda z: y * z * x, y), x)

    assert close(vectorize(nested)(LANES), [nested(x) for x in LANES.tolist()])


def test_the_point_may_be_the_same_for_all_lanes():
    def slope(x):
        return x * derivative(lambda y: branches(y, x) * x, 2.0)

    assert close(vectorize(slope)(LANES), [slope(x) for x in LANES.tolist()])


def test_structures_of_arguments_and_results_are_those_of_the_scalar_calls():
    def both(x):
        value, slopes = jvp(
            lambda p, q: {"a": p[0] * q["k"], "b": (p[1], 3)}, ([x, 2.0], {"k": x}), ([1.0, x], {"k": 0})
        )
        result, back = vjp(lambda p: [p["a"] * x, p["b"] * p["a"]], ({"a": x, "b": 2.0},), [1.0, x])
        return value["a"], slopes["a"], slopes["b"][0], slopes["b"][1], result[1], back[0]["a"], back[0]["b"]

    assert close(vectorize(both)(LANES), np.transpose([both(x) for x in LANES.tolist()]))


def test_each_lane_has_the_exception_of_its_scalar_derivative():
    results, failures = vectorize(lambda x: derivative(math.sqrt, x), errors="return")(np.array([4.0, 0.0, -1.0] * 5))
    assert {type(failures[lane]) for lane in (1, 4)} == {ZeroDivisionError}
    assert type(failures[2]) is ValueError
    assert sorted(failures) == [lane for lane in range(15) if lane % 3]
    assert results[::3].tolist() == [0.25] * 5


def test_a_number_computed_from_its_text_is_refused():
    with pytest.raises(EffectError, match=r'no derivative by lanes: float computes a number .*effects="split"'):
        vectorize(lambda x: derivative(lambda y: float(f"{y}"), x))(LANES)


def test_a_text_with_a_number_may_be_in_an_exception():
    def checked(x):
        if x < 0:
            raise ValueError(f"negative: {x}")
        return x * x

    _, failures = vectorize(lambda x: derivative(checked, x), errors="return")(LANES)
    assert str(failures[0]) == "negative: -2.0"


@pytest.mark.parametrize(
    "f",
    [lambda x: abs(complex(x, 1.0)), lambda x: math.frexp(x)[0], lambda x: x * len(x.hex())],
    ids=["complex number", "function without a rule", "text"],
)
def test_what_has_no_derivative_by_lanes_is_refused(f):
    with pytest.raises(EffectError, match="no derivative by lanes"):
        vectorize(lambda x: derivative(f, x))(LANES)


def test_a_result_without_numbers_is_refused():
    with pytest.raises(TypeError, match="contains no number to differentiate"):
        vectorize(lambda x: derivative(lambda y: None, x))(LANES)


def test_what_remains_of_a_derivative_that_has_ended_is_a_plain_number():
    def kept(x):
        seen = []
        slope = derivative(lambda y: seen.append(y) or y * y, x)
        return slope + float(str(seen[0]))

    assert close(vectorize(kept)(LANES), [kept(x) for x in LANES.tolist()])


# ---- geodesics


def exact_distance(mp, lat_1, lat_2, longitude, azimuth):
    """The length of the geodesic on the ellipsoid WGS84, from its integrals, with the digits of `mp`.

    The point 1 is in the south, and nearer to a pole than the point 2. `azimuth` is near to that at point 1.
    """
    a, f = mp.mpf(6378137), 1 / mp.mpf("298.257223563")
    reduced_1, reduced_2 = (mp.atan((1 - f) * mp.tan(mp.radians(lat))) for lat in (lat_1, lat_2))
    eccentricity = f * (2 - f) / (1 - f) ** 2

    def course(alpha):
        sine = mp.sin(alpha) * mp.cos(reduced_1)
        k2 = eccentricity * (1 - sine**2)
        cos_1 = mp.cos(alpha)
        cos_2 = mp.sqrt((cos_1 * mp.cos(reduced_1)) ** 2 + mp.cos(reduced_2) ** 2 - mp.cos(reduced_1) ** 2)
        sigma_1 = mp.atan2(mp.sin(reduced_1), cos_1 * mp.cos(reduced_1))
        sigma_2 = mp.atan2(mp.sin(reduced_2), cos_2)
        return sine, k2, sigma_1, sigma_2

    def missed(alpha):
        sine, k2, sigma_1, sigma_2 = course(alpha)
        omega = [mp.atan2(sine * mp.sin(sigma), mp.cos(sigma)) for sigma in (sigma_1, sigma_2)]
        slower = mp.quad(
            lambda s: (2 - f) / (1 + (1 - f) * mp.sqrt(1 + k2 * mp.sin(s) ** 2)),
            [sigma_1, sigma_2],
            method="gauss-legendre",
        )
        return omega[1] - omega[0] - f * sine * slower - mp.radians(longitude)

    _, k2, sigma_1, sigma_2 = course(mp.findroot(missed, mp.radians(azimuth)))
    return (
        a * (1 - f) * mp.quad(lambda s: mp.sqrt(1 + k2 * mp.sin(s) ** 2), [sigma_1, sigma_2], method="gauss-legendre")
    )


def test_gradients_of_geodesic_distances_are_finite_differences_of_the_exact_ones():
    pytest.importorskip("geographiclib", reason="the package whose code is differentiated")
    mp = pytest.importorskip("mpmath", reason="exact distances").mp
    from geographiclib.geodesic import Geodesic

    def distance(lat_1, lon_1, lat_2, lon_2):
        return Geodesic.WGS84.Inverse(lat_1, lon_1, lat_2, lon_2, Geodesic.DISTANCE)["s12"]

    points = np.array([[-40.0, 10.0, 25.0, 60.0], [-70.5, -20.0, 0.25, 100.0]]).T
    many = np.tile(points, 20)
    with install(["geographiclib"]):
        found = np.array(vectorize(lambda *point: gradient(distance, *point))(*many))
    assert np.array_equal(found, np.tile(found[:, :2], 20))
    with mp.workdps(25):
        step = mp.mpf(10) ** -7
        for number, (lat_1, lon_1, lat_2, lon_2) in enumerate(points.T.tolist()):
            start = Geodesic.WGS84.Inverse(lat_1, lon_1, lat_2, lon_2)["azi1"]

            def length(one, other, longitude, start=start):
                return exact_distance(mp, one, other, longitude, start)

            longitude = mp.mpf(lon_2) - lon_1
            slopes = [
                (length(lat_1 + step, lat_2, longitude) - length(lat_1 - step, lat_2, longitude)) / (2 * step),
                (length(lat_1, lat_2, longitude - step) - length(lat_1, lat_2, longitude + step)) / (2 * step),
                (length(lat_1, lat_2 + step, longitude) - length(lat_1, lat_2 - step, longitude)) / (2 * step),
            ]
            slopes.append(-slopes[1])
            assert np.allclose(found[:, number], np.array(slopes, float), rtol=1e-9, atol=1e-5)
