"""`solve`: every root is enclosed, and a box that is said to be unique has exactly one."""

import math
import subprocess
import sys

import pytest

pytest.importorskip("flint", reason="contract needs python-flint")
pytest.importorskip("mpmath", reason="mpmath computes the roots")

import mpmath
from helpers.equations import SYSTEMS

from cassette_import.contexts.contract import TooManyPaths, contract, solve


def holds(box, root):
    return all(mpmath.mpf(low) <= x <= mpmath.mpf(high) for x, (low, high) in zip(root, box, strict=True))


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_root_is_in_one_unique_box(system):
    roots = [root for root in system.roots() if holds(system.box, root)]
    found = solve(system.f, system.box, system.value, width=1e-8)
    assert all(sum(holds(one.box, root) for root in roots) == 1 for one in found if one.unique)
    assert len(found) == len(roots)
    assert all(one.unique for one in found)
    assert all(high - low < 1e-8 for one in found for low, high in one.box)


DOUBLE = {
    "touching": (lambda x: x**4 - 2 * x * x + 1, ((-3, 3),), 0, [(-1,), (1,)]),
    "tangent circles": (lambda x, y: (x * x + y * y, (x - 3) ** 2 + y * y), ((-5, 5),) * 2, (1, 4), [(1, 0)]),
    "triple": (lambda x: (x - 1) ** 3 + 0.0 * x, ((-3, 2.5),), 0, [(1,)]),
    "corner": (lambda x: abs(x * x - 1), ((-3, 3),), 0, [(-1,), (1,)]),
    "at a branch": (lambda x: x - 1 if x < 1 else 2 * x - 2, ((-3, 3),), 0, [(1,)]),
    "sine touches": (lambda x: math.sin(x) + math.cos(2 * x), ((-2, -1.2),), -2, [(-mpmath.pi / 2,)]),
    "at the bound": (lambda x: math.log(x), ((1, 9),), 0, [(1,)]),
    "outside the domain": (lambda x: math.sqrt(x), ((-9, 9),), 0, [(0,)]),
}


@pytest.mark.parametrize("name", DOUBLE)
def test_a_root_that_cannot_be_proven_is_in_some_box(name):
    f, box, value, roots = DOUBLE[name]
    found = solve(f, box, value, width=1e-4)
    for root in roots:
        assert any(holds(one.box, root) for one in found)
    for one in found:
        assert not one.unique or sum(holds(one.box, root) for root in roots) == 1


def test_a_box_of_a_manifold_is_never_unique():
    found = solve(lambda x, y: x * x + y * y, ((-2, 2), (-2, 2)), 1, width=0.2)
    assert found
    assert not any(one.unique for one in found)
    for n in range(100):
        point = math.cos(n), math.sin(n)
        assert any(
            all(low - 1e-15 <= x <= high + 1e-15 for x, (low, high) in zip(point, one.box, strict=True))
            for one in found
        )


def test_an_inner_box_has_only_solutions():
    found = solve(lambda x, y: x * x + y * y, ((-3, 3), (-3, 3)), (1, 4), width=0.2)
    inner = [one.box for one in found if one.inner]
    assert all(1 <= x * x + y * y <= 4 for (a, b), (c, d) in inner for x in (a, b) for y in (c, d))
    area = sum((b - a) * (d - c) for (a, b), (c, d) in inner)
    everything = sum((b - a) * (d - c) for (a, b), (c, d) in (one.box for one in found))
    assert 7 < area < 3 * math.pi < everything < 12


def test_two_roots_in_neighbouring_floats_are_not_one():
    gap = 2.0**-40
    found = solve(lambda x: (x - 1) * (x - 1 - gap), ((-3, 3),), 0, width=1e-15)
    for root in (1.0, 1.0 + gap):
        assert any(low <= root <= high for ((low, high),) in (one.box for one in found))
    assert all(
        sum(low <= root <= high for root in (1.0, 1.0 + gap)) == 1 for ((low, high),), unique, _ in found if unique
    )


def test_a_box_with_too_many_paths_is_bisected():
    def steps(x):
        return math.floor(x) + x

    found = solve(steps, ((0, 1000),), 1200.5, width=1e-6)
    assert [(one.box, one.unique) for one in found] == [(((600.5, 600.5),), True)]


def test_a_loop_that_the_box_does_not_decide_is_an_error():
    def halvings(x):
        while x > 1:
            x = x / 2
        return x

    with pytest.raises(TooManyPaths) as caught:
        contract(halvings, ((0, 1e9),), 0.75, max_paths=8)
    assert "x > 1" in str(caught.value)
    assert "max_paths=" in str(caught.value)


@pytest.mark.parametrize("width", [0, -1.0, "1", None, True])
def test_the_width_must_be_a_number_above_zero(width):
    with pytest.raises(ValueError, match="width is a number above zero"):
        solve(lambda x: x, ((0, 1),), 0, width=width)


def test_solutions_are_sorted_and_have_names():
    found = solve(lambda x: x * x, ((-9, 9),), 4, width=1e-6)
    assert found == sorted(found)
    assert [one.unique for one in found] == [True, True]
    assert found[0].box[0][0] <= -2 <= found[0].box[0][1]


def test_the_package_is_needed_only_for_use():
    code = "import sys; sys.modules['flint'] = None; import cassette_import.contexts.contract"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert "install cassette_import[contract]" in shown
