"""Each function of NumPy and each method of arrays has the right derivative for each argument, or raises an error.

The functions are found in the NumPy that is installed. Each is called with all templates of arguments that it takes;
a function that takes none of them has to be listed in `WITHOUT_NUMBERS`.
"""

import inspect
import warnings

import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import gradient, jvp
from tests.helpers.counted_results import share_of_results

np = pytest.importorskip("numpy")
if np.lib.NumpyVersion(np.__version__) < "2.4.0":
    pytest.skip("the lists are those of NumPy 2.4", allow_module_level=True)

from tests.programs.arrays.arguments_of_functions import TEMPLATES, WITHOUT_NUMBERS  # noqa: E402

NAMESPACES = [
    np, np.linalg, np.fft, np.ma, np.polynomial.polynomial, np.polynomial.chebyshev, np.polynomial.legendre,
    np.polynomial.hermite, np.polynomial.hermite_e, np.polynomial.laguerre, np.lib.stride_tricks, np.rec, np.random,
]  # fmt: skip
CLASSES = [np.ndarray, np.generic, np.random.Generator, np.random.RandomState, np.ma.MaskedArray]


def public(owner):
    """The names and functions of a module or class."""
    for name in dir(owner):
        found = getattr(owner, name, None)
        if not callable(found) or name.startswith("_") or isinstance(found, type(np)):
            continue
        if isinstance(found, type) and not issubclass(found, (np.floating, np.poly1d, np.matrix, np.ma.MaskedArray)):
            continue
        yield f"{owner.__name__}.{name}", found


FUNCTIONS = dict(pair for owner in NAMESPACES for pair in public(owner))
METHODS = dict(pair for owner in CLASSES for pair in public(owner))
SPECIAL_METHODS = {
    f"ndarray.{name}": found
    for name, found in vars(np.ndarray).items()
    if name.startswith("__") and callable(found) and name not in {"__new__", "__setstate__", "__class_getitem__"}
}
UFUNCS = {name: found for name, found in vars(np).items() if isinstance(found, np.ufunc)}


def receiver(name):
    """The arguments in front of those of a template: the receiver of a method."""
    owner = name.split(".")[0]
    if owner == "Generator":
        return (lambda: np.random.default_rng(1),)
    if owner == "RandomState":
        return (lambda: np.random.RandomState(1),)
    if owner == "MaskedArray":
        return (lambda: np.ma.array([0.4, 0.9, 0.2]),)
    return ()


def made(argument, x, tagged):
    """A fresh argument of a call; its numbers are multiplied by `x` if it is tagged."""
    if isinstance(argument, list):
        return [made(part, x, tagged) for part in argument]
    if isinstance(argument, np.ndarray):
        return argument * x if tagged and argument.dtype.kind == "f" else argument.copy()
    return argument * x if tagged and isinstance(argument, float) else argument


def has_numbers(argument):
    if isinstance(argument, list):
        return any(map(has_numbers, argument))
    return isinstance(argument, float) or (isinstance(argument, np.ndarray) and argument.dtype.kind == "f")


class Program:
    """A call of a function, whose arguments at some positions are multiplied by the variable."""

    def __init__(self, function, before, template, positions, keywords=None):
        self.function, self.before, self.template = function, before, template
        self.positions, self.keywords = positions, keywords or {}

    def arguments(self, x):
        found = [made(part, x, number in self.positions) for number, part in enumerate(self.template)]
        if getattr(self.function, "__objclass__", None) is np.generic and found:
            found[0] = np.float64(found[0])
        return found

    def __call__(self, x):
        np.random.seed(1)
        arguments = self.arguments(x)
        keywords = {name: part.copy() for name, part in self.keywords.items()}
        value = self.function(*[make() for make in self.before], *arguments, **keywords)
        return [value, arguments, list(keywords.values())]


def numbers_in(result):
    """The floating-point numbers in a result, one after the other; those of other objects, if NumPy reads them."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return [number for part in result for number in numbers_in(part)]
    if isinstance(result, (np.ndarray, np.generic, float, complex)):
        if np.asarray(result).dtype.kind == "f":
            return [float(number) for number in np.ravel(np.asarray(result))]
    return []


def differences(program, step=1e-6):
    after, before = numbers_in(program(1.0 + step)), numbers_in(program(1.0 - step))
    if len(after) != len(before):
        return None
    return (np.array(after) - np.array(before)) / (2 * step)


def differentiated(program):
    """The derivatives in forward mode, in the order of `numbers_in`; None for an error."""
    try:
        value, found = jvp(program, (1.0,), (1.0,))
    except NotOverdubbable:
        return None
    numbers = []

    def collect(part, derivative):
        if isinstance(part, dict):
            part = list(part.values())
        if isinstance(part, (list, tuple)):
            for number, item in enumerate(part):
                collect(item, derivative[number] if isinstance(derivative, (list, tuple)) else 0.0)
        elif numbers_in(part):
            numbers.extend(np.ravel(np.broadcast_to(derivative, np.shape(part))))

    collect(value, found)
    return np.array(numbers)


class Summed:
    """A program whose result is one number: the weighted sum of the numbers in a result."""

    def __init__(self, program):
        self.program = program

    def __call__(self, x):
        value, arguments, keywords = self.program(x)
        total = 0.0
        for weight, part in enumerate([value, *arguments, *keywords], 2):
            if isinstance(part, (float, np.floating)) or (isinstance(part, np.ndarray) and part.dtype.kind == "f"):
                total = total + weight * np.sum(part * 1.0)
        return total


def programs(name, function):
    """The first calls of a function that succeed, with one and with all arguments tagged."""
    before = receiver(name)
    for template in TEMPLATES:
        if len(template) > MOST_ARGUMENTS.get(name, 9):
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                value = Program(function, before, template, ())(1.0)[0]
            except Exception:
                continue
        positions = tuple(number for number, part in enumerate(template) if has_numbers(part))
        for chosen in {positions, *((number,) for number in positions)}:
            yield Program(function, before, template, chosen), chosen == positions
        if positions and isinstance(value, np.ndarray) and value.dtype.kind == "f" and accepts_out(function):
            yield Program(function, before, template, positions, {"out": np.zeros_like(value)}), False


MOST_ARGUMENTS = {"numpy.nan_to_num": 1, "numpy.unique": 1}
"""Functions whose other arguments are options, which have no derivative."""


def accepts_out(function):
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return isinstance(function, np.ufunc) or "out" in (getattr(function, "__doc__", None) or "")


def check(program, in_reverse):
    """The derivative of a program is right, or it is an error, or differences say nothing."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = differences(program)
        except Exception:
            return
        found = differentiated(program)
        if found is None or expected is None or not np.all(np.isfinite(expected)) or np.any(abs(expected) > 1e5):
            return
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
        if not in_reverse:
            return
        total = Summed(program)
        try:
            (pulled,) = gradient(total, 1.0)
        except NotOverdubbable:
            return
        expected = (float(total(1.0 + 1e-6)) - float(total(1.0 - 1e-6))) / 2e-6
        assert float(pulled) == pytest.approx(expected, rel=1e-4, abs=1e-5)


UNSAFE = {"numpy.test", "numpy.linalg.test", "numpy.fft.test", "numpy.ma.test", "numpy.random.test", "numpy.rec.test"}


@pytest.fixture(autouse=True)
def _files_of_functions_are_temporary(tmp_path, monkeypatch):
    """Functions such as `savetxt` write files named after their arguments."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS | METHODS | SPECIAL_METHODS) - WITHOUT_NUMBERS - UNSAFE))
def test_a_function_has_the_right_derivative_or_is_an_error(name):
    function = (FUNCTIONS | METHODS | SPECIAL_METHODS)[name]
    count = 0
    for program, in_reverse in programs(name, function):
        count += 1
        try:
            check(program, in_reverse)
        except AssertionError as error:
            raise AssertionError(
                f"{name}, {program.template}, tagged: {program.positions}, {program.keywords}"
            ) from error
    assert count, f"{name} takes no template of arguments: add one, or list it as a function without numbers"


UFUNC_METHODS = ("reduce", "accumulate", "outer", "at", "reduceat")


@pytest.mark.parametrize("method", UFUNC_METHODS)
@pytest.mark.parametrize("name", UFUNCS)
def test_a_method_of_a_function_of_elements_has_the_right_derivative_or_is_an_error(name, method):
    function = getattr(UFUNCS[name], method)
    for program, in_reverse in programs(f"{name}.{method}", function):
        check(program, in_reverse)


def first_derivative(name, function):
    """The derivatives of the first call of a function that succeeds with these numbers; None if they are refused."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for program, _ in programs(name, function):
            try:
                differences(program)
            except Exception:
                continue
            return differentiated(program)
    return None


def test_two_fifths_of_the_functions_have_a_derivative():
    every = FUNCTIONS | METHODS | SPECIAL_METHODS
    names = set(every) - WITHOUT_NUMBERS - UNSAFE
    assert share_of_results(lambda name: first_derivative(name, every[name]), names) >= 0.4


def test_methods_of_functions_of_elements_have_derivatives():
    pairs = [(f"{name}.{method}", getattr(UFUNCS[name], method)) for name in UFUNCS for method in UFUNC_METHODS]
    assert sum(first_derivative(*pair) is not None for pair in pairs) >= 20
