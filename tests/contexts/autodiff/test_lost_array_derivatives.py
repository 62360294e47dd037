"""A derivative through NumPy is right or an error: ways without a rule never lose it silently."""

import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import derivative, gradient

np = pytest.importorskip("numpy")
if np.lib.NumpyVersion(np.__version__) < "2.4.0":
    pytest.skip("the programs use functions of NumPy 2.4", allow_module_level=True)

from tests.helpers.counted_results import share_of_results  # noqa: E402
from tests.programs.arrays import calling_functions, moving_arrays  # noqa: E402

PROGRAMS = {**moving_arrays.PROGRAMS, **calling_functions.PROGRAMS}
SINGLE = {"float32", "view float32", "np.sin dtype int", "np.sum dtype"}
"""These compute with single precision, so differences need a larger step."""


def central(f, x, step):
    return (float(f(x + step)) - float(f(x - step))) / (2 * step)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("differentiate", [derivative, lambda f, x: gradient(f, x)[0]], ids=["forward", "reverse"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_derivative_of_a_program_with_arrays_is_right_or_an_error(name, differentiate):
    program = PROGRAMS[name]
    try:
        found = differentiate(program, 2.7)
    except NotOverdubbable:
        return
    step, tolerance = (1e-2, 1e-2) if name in SINGLE else (1e-5, 1e-4)
    assert float(found) == pytest.approx(central(program, 2.7, step), rel=tolerance, abs=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("differentiate", [derivative, gradient], ids=["forward", "reverse"])
def test_half_of_the_programs_with_arrays_have_a_derivative(differentiate):
    assert share_of_results(lambda program: differentiate(program, 2.7), PROGRAMS.values()) >= 0.5


@pytest.mark.parametrize(
    ("program", "leaf"),
    [
        (lambda x: np.poly1d([x, 1.0])(2.0), "numpy.poly1d"),
        (lambda x: np.linalg.svd(x * np.eye(2))[1][0], "numpy.linalg.svd"),
        (lambda x: memoryview(x * np.eye(2))[0, 0], ""),
    ],
    ids=["object", "function", "buffer"],
)
def test_the_error_names_the_leaf_and_the_call_site(program, leaf):
    with pytest.raises(NotOverdubbable, match=rf"there is no derivative of .*{leaf}.*, at .*{__file__}:\d+ in .*: \S"):
        derivative(program, 3.0)


@pytest.mark.parametrize("differentiate", [derivative, gradient])
def test_a_program_that_catches_the_error_of_an_array_gets_no_derivative(differentiate):
    def program(x):
        try:
            return np.fft.fft([x, 1.0])[0].real
        except Exception:
            return 1.0

    with pytest.raises(NotOverdubbable, match="there is no derivative of"):
        differentiate(program, 3.0)


class Weight:
    """Its special methods compute with a number that it holds."""

    def __init__(self, value):
        self.value = value

    def __round__(self, digits=0):
        return self.value * 3

    def __floordiv__(self, other):
        return self.value * other

    def __matmul__(self, other):
        return self.value * other

    def __getitem__(self, other):
        return self.value * other

    def __array__(self, dtype=None, copy=None):
        return np.array([self.value])

    __rfloordiv__ = __mul__ = __rmul__ = __rmatmul__ = __floordiv__


@pytest.mark.parametrize("differentiate", [derivative, lambda f, x: gradient(f, x)[0]], ids=["forward", "reverse"])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: round(Weight(x)),
        lambda x: round(Weight(x), x),
        lambda x: Weight(x) // 2,
        lambda x: x // Weight(x),
        lambda x: Weight(x) @ 2,
        lambda x: x @ Weight(x),
        lambda x: Weight(x)[x],
    ],
)
def test_a_special_method_of_the_program_has_its_derivative_beside_numpy(program, differentiate):
    assert differentiate(program, 2.5) == pytest.approx(central(program, 2.5, 1e-5))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("differentiate", [derivative, gradient])
@pytest.mark.parametrize(
    "program",
    [
        lambda x: (np.array([x]) * Weight(x))[0],
        lambda x: np.array([x]) @ Weight(x),
        lambda x: (np.array([x]) // Weight(x))[0],
        lambda x: np.maximum(Weight(x), x)[0],
        lambda x: np.dot(Weight(x), np.array([x])),
    ],
)
def test_an_object_that_holds_a_number_with_a_derivative_is_no_operand_of_an_array(program, differentiate):
    with pytest.raises(NotOverdubbable, match="there is no derivative of"):
        differentiate(program, 2.5)


def test_an_assignment_to_memory_of_another_object_is_an_error():
    def program(x):
        memory = bytearray(16)
        first, second = np.frombuffer(memory), np.frombuffer(memory)
        first[0] = x
        return second.sum()

    with pytest.raises(NotOverdubbable, match="memory belongs to another object"):
        derivative(program, 3.0)


def test_results_that_do_not_depend_on_the_values_need_no_rule():
    def program(x):
        array = x * np.ones((2, 3))
        seen = [array.shape, array.ndim, array.dtype.name, array.flags.owndata, len(array), array.itemsize]
        np.testing.assert_equal(array.shape, (2, 3))
        array.setflags(write=False)
        return array.sum() * len(seen), f"{array}", np.array2string(array)

    assert derivative(program, 3.0)[0] == 36.0
