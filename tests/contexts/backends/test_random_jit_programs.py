"""Random programs of numbers: the code of their flow has Python's results, at each point that it computes."""

import importlib.util
import random

import pytest

from cassette_import.contexts.backends.jitted import Explorer
from cassette_import.contexts.backends.kernel import KERNEL, FlowKernel, leaves
from cassette_import.contexts.graph import NotRepresentable, inline
from cassette_import.contexts.graph.nodes import Node, evaluated

COUNT = 5


class Program:
    def __init__(self, r):
        self.r = r
        self.lines = []
        self.depth = 0
        self.loops = []
        self.vars = ["x", "y", "a", "b"]
        self.ints = ["n", "m"]
        self.budget = r.randint(6, 22)
        self.nloop = 0

    def expr(self, d=0):
        r = self.r
        if d > 2 or r.random() < 0.35:
            return r.choice(
                [
                    *self.vars,
                    *self.vars,
                    f"{r.uniform(-3, 3):.2f}",
                    f"float({r.choice(self.ints)})",
                    "box.v",
                    "c[0]",
                    "c[1]",
                    "T[%s]" % r.choice(["n % 5", "m % 5", "-1", "abs(n) % 20"]),
                ]
            )
        k = r.random()
        if k < 0.55:
            return f"({self.expr(d + 1)} {r.choice('+-*')} {self.expr(d + 1)})"
        if k < 0.65:
            return f"({self.expr(d + 1)} / ({self.expr(d + 1)} * 0.0 + {r.choice([2.0, 3.0, -1.5])}))"
        if k < 0.75:
            return f"abs({self.expr(d + 1)})"
        if k < 0.82:
            return f"min({self.expr(d + 1)}, {self.expr(d + 1)})"
        if k < 0.9:
            return f"({self.expr(d + 1)} if {self.test(d + 1)} else {self.expr(d + 1)})"
        if k < 0.95:
            return f"helper({self.expr(d + 1)}, {self.expr(d + 1)})"
        return f"math.sqrt(abs({self.expr(d + 1)}))"

    def iexpr(self):
        r = self.r
        return r.choice(
            [
                r.choice(self.ints),
                f"({r.choice(self.ints)} + {r.randint(-2, 3)})",
                f"({r.choice(self.ints)} * {r.randint(-1, 2)})",
                f"({r.choice(self.ints)} // {r.choice([2, 3])})",
                f"({r.choice(self.ints)} % {r.choice([2, 3, 5])})",
                str(r.randint(0, 4)),
            ]
        )

    def test(self, d=1):
        r = self.r
        k = r.random()
        if k < 0.6:
            return f"{self.expr(d + 1)} {r.choice(['<', '>', '<=', '>='])} {self.expr(d + 1)}"
        if k < 0.8:
            return f"{self.iexpr()} {r.choice(['<', '>', '==', '!='])} {self.iexpr()}"
        if k < 0.9:
            return f"({self.test(d + 1) if d < 3 else 'x > y'} {r.choice(['and', 'or'])} {self.expr(2)} > 0.5)"
        return f"not {self.expr(2)} > 1.0"

    def emit(self, s):
        self.lines.append("    " * (self.depth + 1) + s)

    def body(self, n):
        self.depth += 1
        start = len(self.lines)
        for _ in range(n):
            self.statement()
        if len(self.lines) == start:
            self.emit("pass")
        self.depth -= 1

    def statement(self):
        r = self.r
        self.budget -= 1
        k = r.random()
        if self.budget < 0:
            k = k * 0.4
        if k < 0.22:
            self.emit(f"{r.choice(self.vars)} = clip({self.expr()})")
        elif k < 0.30:
            self.emit(f"{r.choice(self.ints)} = iclip({self.iexpr()})")
        elif k < 0.36:
            self.emit(f"{r.choice(self.vars)} {r.choice(['+=', '-='])} {self.expr(2)}")
        elif k < 0.39:
            self.emit(f"{r.choice(['box.v', 'c[0]', 'c[1]'])} = clip({self.expr(1)})")
        elif k < 0.42:
            self.emit(f"{r.choice(self.vars)}, {r.choice(self.vars)} = {self.expr(2)}, {self.expr(2)}")
        elif k < 0.62 and self.depth < 4:
            self.emit(f"if {self.test()}:")
            self.body(r.randint(1, 3))
            if r.random() < 0.3:
                self.emit(f"elif {self.test()}:")
                self.body(r.randint(1, 2))
            if r.random() < 0.6:
                self.emit("else:")
                self.body(r.randint(1, 3))
        elif k < 0.72 and self.depth < 3:
            self.nloop += 1
            i = f"w{self.nloop}"
            self.emit(f"{i} = 0")
            self.emit(
                f"while {i} < {r.choice(['4', 'n % 6', '7'])} and {self.test(2)}:"
                if r.random() < 0.7
                else f"while {self.test(2)}:"
            )
            self.depth += 1
            self.emit(f"{i} += 1")
            self.emit(f"if {i} > {r.randint(3, 9)}:")
            self.emit("    break")
            self.depth -= 1
            self.loops.append(1)
            self.body(r.randint(1, 3))
            self.loops.pop()
        elif k < 0.84 and self.depth < 3:
            self.nloop += 1
            i = f"k{self.nloop}"
            it = r.choice(
                [
                    f"range({r.randint(2, 5)})",
                    f"range({r.randint(16, 22)})",
                    f"range({r.choice(self.ints)} % 6)",
                    "range(2, 9, 3)",
                    f"range({r.randint(3, 6)}, 0, -1)",
                    "T[:3]",
                    "T",
                ]
            )
            self.emit(f"for {i} in {it}:")
            kinds = self.vars if it.startswith("T") else self.ints
            kinds.append(i)
            self.loops.append(1)
            self.body(r.randint(1, 3))
            self.loops.pop()
            kinds.remove(i)
        elif k < 0.88 and self.loops:
            self.emit(f"if {self.test()}:")
            self.emit("    " + r.choice(["break", "continue"]))
        elif k < 0.92:
            self.emit(f"if {self.test()}:")
            self.emit(f"    return {self.result()}")
        elif k < 0.94:
            self.emit(f"box = Box({self.expr(2)})")
        elif k < 0.96:
            self.emit("c = [c[1], %s]" % self.expr(2))
        else:
            self.emit(f"{r.choice(self.vars)} = helper({self.expr(1)}, {self.expr(1)})")

    def result(self):
        return "x, y, a + b, n, m, box.v, c[0]"

    def text(self, name):
        self.emit("a, b, m = 1.0, x, 2")
        self.emit("box = Box(y)")
        self.emit("c = [x, y]")
        while self.budget > 0:
            self.statement()
        self.emit(f"return {self.result()}")
        return f"def {name}(x, y, n):\n" + "\n".join(self.lines) + "\n"


HEAD = """import math
T = (0.5, -1.25, 2.0, 0.0, 3.5, -0.75, 1.0, 0.25, -2.0, 1.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2)
class Box:
    def __init__(self, v):
        self.v = v
def clip(v):
    if v > 50.0:
        return 50.0
    return v if v > -50.0 else -50.0
def iclip(v):
    return v if -40 < v < 40 else 3
def helper(p, q):
    if p < q:
        return q - p
    for i in range(3):
        if p > i * q:
            return p * 0.5
    return p
"""


def outcome(f, *arguments):
    try:
        return repr(f(*arguments))
    except Exception as error:
        return repr(error)


def computed(explorer, code, point):
    """The result of the code; None if it leaves the point to Python."""
    kernel, template = explorer.kernel, explorer.kernel.traces[0].result
    try:
        path, *numbers = code(*point)
    except ArithmeticError:
        return None
    if path < 0:
        return None
    rows = {float: iter(numbers), int: iter(numbers[kernel.floats :])}
    made = [next(rows[float]) if kind is float else kind(next(rows[int])) for kind in kernel.kinds[0]]
    pairs = zip(leaves(template), made, strict=True)
    return repr(evaluated(template, {leaf.number: value for leaf, value in pairs if isinstance(leaf, Node)}))


def functions(seed, tmp_path):
    """Random functions, with points for each."""
    path = tmp_path / f"programs_{seed}.py"
    texts = [Program(random.Random(seed + number)).text(f"f{number}") for number in range(COUNT)]
    path.write_text(HEAD + "\n".join(texts))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for number in range(COUNT):
        numbers = random.Random(number)
        points = [
            (numbers.choice([0.0, -0.0, 1.0]) if k % 3 == 0 else numbers.uniform(-4, 4), numbers.uniform(-4, 4), k - 3)
            for k in range(6)
        ]
        yield getattr(module, f"f{number}"), points


@pytest.mark.parametrize("seed", range(0, 100, COUNT))
def test_random_programs_have_the_results_of_python(seed, tmp_path):
    compared = 0
    for function, points in functions(seed, tmp_path):
        try:
            explorer = Explorer(inline(function, *points[0]), FlowKernel)
        except NotRepresentable:
            continue
        explorer.explore([(point, point) for point in points])
        names = {}
        exec(explorer.kernel.source, names)
        for point in points:
            found = computed(explorer, names[KERNEL], point)
            assert found in (None, outcome(function, *point))
            compared += found is not None
    assert compared > 2 * COUNT  # of six points of each program; those that are refused say nothing


@pytest.mark.parametrize("seed", range(100, 150, COUNT))
def test_residuals_of_random_programs_have_the_results_of_python(seed, tmp_path):
    for function, points in functions(seed, tmp_path):
        try:
            program = inline(function, *points[0])
        except NotRepresentable:
            continue
        assert [outcome(program, *point) for point in points] == [outcome(function, *point) for point in points]
