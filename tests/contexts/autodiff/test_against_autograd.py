"""Gradients equal those of autograd (HIPS), for each function that has a rule there."""

import types

import pytest

from cassette_import import NotOverdubbable
from cassette_import.contexts.autodiff import vjp

np = pytest.importorskip("numpy")
autograd = pytest.importorskip("autograd")
anp = pytest.importorskip("autograd.numpy")

from programs import derivatives as derivative_cases  # noqa: E402
from programs.derivatives import CASES, WITHOUT_RULES  # noqa: E402

PEERS = {
    name: types.FunctionType(function.__code__, {**vars(derivative_cases), "np": anp}, closure=function.__closure__)
    for name, (function, _) in {**CASES, **WITHOUT_RULES}.items()
}
"""The same functions, written with `autograd.numpy`."""


def gradients_of_peer(name, arguments, weights):
    def weighted(*given):
        return anp.sum(weights * PEERS[name](*given))

    return autograd.grad(weighted, tuple(range(len(arguments))))(*arguments)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of autograd, where a result does not depend on an argument
@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_autograd(name):
    function, arguments = CASES[name]
    shape = np.shape(function(*arguments))
    weights = np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape) + 0.3
    value, found = vjp(function, arguments, weights if shape else float(weights))
    assert np.array_equal(value, function(*arguments))
    for ours, theirs in zip(found, gradients_of_peer(name, arguments, weights), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", WITHOUT_RULES)
def test_functions_without_a_rule_raise_an_error(name):
    function, arguments = WITHOUT_RULES[name]
    with pytest.raises(NotOverdubbable, match="there is no derivative of"):
        vjp(function, arguments, 1.0)
