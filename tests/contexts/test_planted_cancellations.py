"""`shadow` finds cancellations that are planted into the bodies of FPBench: which expression, and no other one.

In a body, the value E of one expression at a time becomes (E + big) - big, which loses half of its bits.
"""

import ast
import importlib.util
import math
import random
import sys

import pytest

pytest.importorskip("mpmath", reason="shadows need mpmath")

from helpers.fpbench import BODIES

from cassette_import.contexts.precision import shadow

BITS = 30
"""How many bits a planted cancellation loses, at least."""
VISIBLE = 2.0**-44
"""An error of the result that is larger than this one comes from a culprit: more than five bits of its 53 are lost."""


class Planted(ast.NodeTransformer):
    """Plants a cancellation into one of the expressions that compute something."""

    def __init__(self, place, size):
        self.place, self.size, self.count = place, size, 0

    def generic_visit(self, node):
        node = super().generic_visit(node)
        if isinstance(node, (ast.BinOp, ast.Call)):
            self.count += 1
            if self.count == self.place:
                big = ast.Constant(self.size)
                return ast.BinOp(ast.BinOp(node, ast.Add(), big), ast.Sub(), big)
        return node


def text_of(name, statements, arguments):
    body = [*statements[:-1], f"return {statements[-1]}"]
    return f"def {name}({', '.join(arguments)}):\n" + "".join(f"    {line}\n" for line in body)


def point_of(name, ranges):
    generator = random.Random(name)
    return [generator.uniform(*bounds) for bounds in ranges.values()]


class Order(ast.NodeVisitor):
    """The expressions in the order in which `Planted` counts them."""

    def __init__(self):
        self.found = []

    def generic_visit(self, node):
        super().generic_visit(node)
        if isinstance(node, (ast.BinOp, ast.Call)):
            self.found.append(node)


def sizes(statements, given):
    """The sizes of the values of all expressions in a body."""
    given, order, found = dict(given), Order(), []
    for line in statements:
        tree = ast.parse(line).body[0]
        order.visit(tree)
        found += [abs(eval(ast.unparse(node), {"math": math}, given)) for node in order.found[len(found) :]]
        if isinstance(tree, ast.Assign):
            given[tree.targets[0].id] = eval(ast.unparse(tree.value), {"math": math}, given)
    return found


def cases():
    """Texts of functions with one planted cancellation each, how the planted expression ends, and the arguments."""
    found = []
    for name, (ranges, statements) in BODIES.items():
        point = point_of(name, ranges)
        for place, size in enumerate(sizes(statements, zip(ranges, point, strict=True)), 1):
            label, big = f"f{len(found)}", 2.0 ** (BITS + math.frexp(size)[1])
            tree = Planted(place, big).visit(ast.parse(text_of(label, statements, ranges)))
            found.append((label, ast.unparse(ast.fix_missing_locations(tree)), f"- {big!r}", point))
    return found


def imported(path, text):
    path.write_text(f"import math\n\n\n{text}\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What `shadow` finds in each body with a planted cancellation, and how the planted expression ends."""
    planted = cases()
    path = tmp_path_factory.mktemp("fpbench") / "planted_bodies.py"
    module = imported(path, "\n\n".join(text for _, text, _, _ in planted))
    yield [(shadow(getattr(module, label), *point), big) for label, _, big, point in planted]
    del sys.modules[module.__name__]


def test_planted_cancellations_are_attributed_to_their_expressions(results):
    visible = [(found, big) for found, big in results if found.relative_error > VISIBLE]
    attributed = [found for found, big in visible if found.culprits and found.culprits[0].text.endswith(big)]
    assert len(visible) > 350
    assert len(attributed) >= 0.9 * len(visible)


def test_other_expressions_are_rarely_culprits(results):
    culprits = [one.text.endswith(big) for found, big in results for one in found.culprits]
    assert len(culprits) > 350
    assert culprits.count(False) <= 0.05 * len(culprits)
