"""Patterns beside those that asdex finds for the same function in JAX."""

import json
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="the patterns are arrays")
pytest.importorskip("scipy", reason="the patterns are sparse arrays of SciPy")

from helpers import asdex_functions  # noqa: E402
from helpers.asdex_functions import HESSIANS, JACOBIANS, size_of  # noqa: E402

from cassette_import.contexts.sparsity import hessian, jacobian  # noqa: E402

RECORDED = json.loads(Path(__file__).with_name("asdex_patterns.json").read_text(encoding="utf-8"))
CASES = [*(("jacobian", name) for name in JACOBIANS), *(("hessian", name) for name in HESSIANS)]
FUNCTIONS = {"jacobian": JACOBIANS, "hessian": HESSIANS}


def rows(pattern):
    return ["".join("x" if one else "." for one in row) for row in pattern]


def point(name):
    return np.linspace(0.1, 0.9, size_of(name))


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_pattern_is_that_of_asdex(kind, name):
    find = jacobian if kind == "jacobian" else hessian
    assert rows(find(FUNCTIONS[kind][name], point(name)).toarray()) == RECORDED[kind][name]


def test_asdex_finds_the_recorded_patterns(monkeypatch):
    """asdex 0.5.2 needs a version of JAX below 0.12, so no environment of tox installs it."""
    pytest.importorskip("jax", reason="asdex follows functions of JAX")
    asdex = pytest.importorskip("asdex", reason="asdex compares the recorded patterns", exc_type=ImportError)
    import jax.numpy

    monkeypatch.setattr(asdex_functions, "xp", jax.numpy)
    for kind, name in CASES:
        find = asdex.jacobian_sparsity if kind == "jacobian" else asdex.hessian_sparsity
        found = find(FUNCTIONS[kind][name], jax.numpy.asarray(point(name)))
        assert rows(np.array(found.todense()).astype(bool)) == RECORDED[kind][name]
