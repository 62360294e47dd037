"""The expressions of generated programs, as text. The objects that they compute with are in `observed.py`.

Knows the parts of an expression and the scope it is in; `statements.py` puts expressions into statements.
"""

import sys

VERSION = sys.version_info
LOCALS = ["a", "b", "c", "d"]
GLOBALS = ["g", "h"]
BINARY = ["+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"]
COMPARE = ["<", "<=", "==", "!=", ">", ">=", "is", "is not", "in", "not in"]
CONSTANTS = [
    "(0)",
    "1 ",
    "(2)",
    "(-1)",
    "(2.5)",
    "3j",
    "'s'",
    "''",
    "b'b'",
    "None",
    "True",
    "False",
    "...",
    "(1, 2)",
    "()",
]


class Expressions:
    """Writes expressions; `choose(n)` decides, by numbers below `n`."""

    def __init__(self, choose):
        self.choose = choose
        self.functions = []  # those that may be called, with the helper that runs them
        self.depth = 0  # of expressions
        self.nesting = 0  # of statements
        self.serial = 0
        self.kind = "module"  # the scope of the statement: "module", "class", "def", "gen", "async", "agen"
        self.loop = False
        self.in_comprehension = False

    # ---- choosing

    def pick(self, options):
        return options[self.choose(len(options))]

    def maybe(self, of=2):
        return self.choose(of) == 0

    def several(self, make, least=0, most=3):
        return [make() for _ in range(least + self.choose(most - least + 1))]

    def fresh(self, prefix):
        self.serial += 1
        return f"{prefix}{self.serial}"

    # ---- expressions

    def name(self):
        return self.pick(LOCALS + GLOBALS)

    def expression(self):
        """An expression in parentheses, or an atom."""
        if self.depth >= 3:
            return self.pick([self.name, self.value, self.constant, self.value])()
        self.depth += 1
        try:
            return self.pick(EXPRESSIONS)(self)
        finally:
            self.depth -= 1

    def constant(self):
        return self.pick(CONSTANTS)

    def value(self):
        return "V()"

    def binary(self):
        return f"({self.expression()} {self.pick(BINARY)} {self.expression()})"

    def unary(self):
        return f"({self.pick(['-', '+', '~', 'not '])}{self.expression()})"

    def comparison(self):
        text = self.expression()
        for _ in range(1 + self.choose(3)):
            text += f" {self.pick(COMPARE)} {self.expression()}"
        return f"({text})"

    def connection(self):
        word = self.pick([" and ", " or "])
        return f"({word.join([*self.several(self.operand, 1, 2), self.expression()])})"

    def operand(self):
        """An operand whose truth is tested. (3.12 and 3.13 test it twice if it is an `and` or `or`.)"""
        return self.pick([self.value, self.name, self.subscript, self.call, self.comparison])()

    def conditional(self):
        return f"({self.expression()} if {self.expression()} else {self.expression()})"

    def call(self):
        callee = self.pick(["V()", "V", self.name(), f"{self.name()}.m", f"{self.expression()}", "V().n"])
        if self.functions and self.maybe():
            callee = self.pick(self.functions)
        return f"{callee}({self.arguments()})"

    def arguments(self):
        made = []
        for _ in range(self.choose(3)):
            made.append(self.pick(["", "", "", "*"]) + self.expression())
        for number in range(self.choose(3)):
            made.append(self.pick([f"k{number}={self.expression()}", f"**{{'x{number}': {self.expression()}}}"]))
        return ", ".join(made)

    def builtin(self):
        return self.pick(
            [
                f"list({self.expression()})",
                f"[*map({self.function()}, {self.expression()})]",
                f"sorted([1, 3, 2], key={self.function()})",
                f"isinstance({self.expression()}, V)",
                f"max([{self.expression()}], default={self.expression()})",
                f"dict(zip('ab', {self.expression()}))",
                f"getattr({self.expression()}, 'x', {self.expression()})",
                f"str({self.expression()})",
                f"type({self.expression()})",
                f"next(iter({self.expression()}), {self.expression()})",
                f"attempt(lambda: {self.expression()})",
            ]
        )

    def function(self):
        return f"(lambda x, *y: {self.expression()})"

    def anonymous(self):
        parameters = self.pick(["", "a", "*b", "a, /, c=V()", f"d={self.expression()}", "*, a=1, **c"])
        outer = self.kind, self.in_comprehension
        if self.kind in ("gen", "async", "agen"):
            self.kind = "def"
        made = f"(lambda {parameters}: {self.expression()})"
        self.kind, self.in_comprehension = outer
        return made if self.maybe() else f"{made}({self.pick(['', 'V()', 'a=V()'])})"

    def attribute(self):
        return f"{self.pick([self.expression, self.value])()}.{self.pick(['x', 'y', '__private'])}"

    def subscript(self):
        return f"{self.pick([self.expression, self.value])()}[{self.index()}]"

    def index(self):
        return self.pick(
            [
                self.expression(),
                self.expression(),
                f"{self.expression()}:{self.expression()}",
                f":{self.expression()}",
                "::2",
                f"{self.expression()}, {self.expression()}",
                f"{self.expression()}:, {self.expression()}",
                f"*{self.expression()}, 1",
            ]
        )

    def display(self):
        items = ", ".join(self.pick(["", "", "*"]) + self.expression() for _ in range(self.choose(4)))
        kind = self.choose(3)
        if kind == 0:
            return f"[{items}]"
        if kind == 1:
            return f"({items}{',' if items else ''})"
        return f"{{{items}}}" if items else "set()"

    def mapping(self):
        items = [
            self.pick([f"{self.expression()}: {self.expression()}", f"**{{'k': {self.expression()}}}"])
            for _ in range(self.choose(3))
        ]
        return f"{{{', '.join(items)}}}"

    def string(self):
        parts = []
        for _ in range(1 + self.choose(2)):
            value = self.pick([self.name(), "V()", f"({self.name()} + V())", "V().x", f"{self.name()}[0]"])
            parts.append(f"t{{{value}{self.pick(['', '!r', '!s', ':>5', ':{V()}', '!r:>3'])}}}")
        prefix = self.pick(["f", "f", "t"]) if VERSION >= (3, 14) else "f"
        return f'{prefix}"{"".join(parts)}"'

    def comprehension(self):
        outer, self.in_comprehension = self.in_comprehension, True
        clauses = []
        asynchronous = self.kind in ("async", "agen")
        for _ in range(1 + self.choose(2)):
            word = "async for" if asynchronous and self.maybe(4) else "for"
            literals = [] if word == "async for" else ["[1, V()]", "range(2)", "[(1, V())]"]
            iterable = self.pick(["V()", self.name(), *literals])
            clause = f"{word} {self.comprehension_target()} in {iterable}"
            for _ in range(self.choose(2)):
                clause += f" if {self.expression()}"
            clauses.append(clause)
        element = self.expression()
        text = " ".join(clauses)
        made = self.pick(
            [f"[{element} {text}]", f"{{{element} {text}}}", f"{{{element}: {self.expression()} {text}}}"]
            + ([f"dict.fromkeys({element} {text})", f"({element} {text})"] if "async for" not in text else [])
        )
        self.in_comprehension = outer
        return made

    def comprehension_target(self):
        return self.pick(["x", "y", "x, y", "x, *y", "(x, (y, z))", f"{self.name()}.t", "h[0]", f"{self.name()}[V()]"])

    def walrus(self):
        if self.in_comprehension and self.kind == "class":
            return self.name()
        return f"({self.pick(['a', 'b', 'w'])} := {self.expression()})"

    def suspension(self):
        if self.in_comprehension:
            return self.name()
        if self.kind == "gen":
            return self.pick([f"(yield {self.expression()})", "(yield)", f"(yield from {self.expression()})"])
        if self.kind == "async":
            return f"(await {self.pick(['V()', self.name(), self.expression()])})"
        if self.kind == "agen":
            return self.pick([f"(yield {self.expression()})", f"(await {self.pick(['V()', self.expression()])})"])
        return self.name()

    def test(self):
        return self.expression()


_WRITERS = """
    name constant value binary binary unary comparison connection conditional call call builtin anonymous attribute
    subscript display mapping string comprehension walrus suspension suspension
"""
EXPRESSIONS = [getattr(Expressions, name) for name in _WRITERS.split()]
