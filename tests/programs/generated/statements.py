"""A Hypothesis strategy of programs that run, end, and use all of the syntax.

Each program computes with the objects of `observed.py`, which record all operations on them, and has a function
`main()`. Names may be unbound and operands of the wrong kind: that is behaviour, too. Loops are finite; a
function calls those that were defined before it.
"""

import textwrap
import warnings

from hypothesis import reject
from hypothesis import strategies as st

from programs.generated.expressions import BINARY, LOCALS, VERSION, Expressions


class Writer(Expressions):
    """Writes one program."""

    def block(self, most=3):
        """The lines of one to `most` statements."""
        self.nesting += 1
        lines = []
        for _ in range(1 + self.choose(most)):
            lines += self.statement()
        self.nesting -= 1
        return lines

    def indented(self, lines):
        return ["    " + line for line in lines]

    def statement(self):
        choices = SIMPLE if self.nesting >= 3 else SIMPLE + COMPOUND
        made = self.pick(choices)(self)
        if self.nesting == 1 and self.kind != "class" and self.maybe():  # so that the rest runs, too
            return ["try:", *self.indented(made), "except Exception as error:", "    note(raised(error))"]
        return made

    def target(self):
        return self.pick(
            [
                self.pick(LOCALS),
                self.pick(LOCALS),
                self.name(),
                f"{self.name()}.x",
                f"{self.name()}.__private",
                f"{self.name()}[{self.index()}]",
                "a, b",
                "a, *b",
                f"{self.name()}.x, (b, c)",
                f"[{self.name()}[0], *{self.name()}.y]",
                f"*a, {self.name()}[V()]",
            ]
        )

    def assign(self):
        targets = " = ".join(self.several(self.target, 1, 2))
        value = self.pick([self.expression, self.expression, lambda: "[V(), V()]", lambda: "V(), [V(), 2]"])()
        return [f"{targets} = {value}"]

    def single_target(self):
        return self.pick([self.name(), f"{self.name()}.x", f"{self.name()}[{self.index()}]"])

    def augmented(self):
        target = self.single_target()
        if "[*" in target or ", *" in target:
            target = "a[0]"
        return [f"{target} {self.pick(BINARY)}= {self.expression()}"]

    def annotated(self):
        target = self.pick([self.pick(LOCALS), f"{self.name()}.x", f"{self.name()}[0]"])
        if self.kind == "module":
            target = "g.x"
        return [f"{target}: {self.pick(['int', 'V()'])}" + self.pick(["", f" = {self.expression()}"])]

    def delete(self):
        return [f"del {', '.join(self.several(self.single_target, 1, 2))}".replace("[*", "[")]

    def bare(self):
        return [self.expression()]

    def note(self):
        return [f"note('n', {self.expression()})"]

    def leave(self):
        if self.kind in ("def", "async", "gen") and self.maybe(3):
            return [f"return {self.expression()}"]
        if self.kind == "agen" and self.maybe():
            return ["return"]
        if self.loop and self.maybe():
            return [self.pick(["break", "continue"])]
        return ["pass"]

    def throw(self):
        return [
            self.pick(
                [
                    f"raise Boom({self.expression()})",
                    f"raise Boom(1) from {self.pick(['None', 'Boom(2)', self.expression()])}",
                    f"assert {self.expression()}, {self.expression()}",
                    "raise",
                    f"raise {self.expression()}",
                    f"if {self.test()}: raise Boom",
                ]
            )
        ]

    def bring(self):
        return [
            self.pick(
                [
                    "import math as a",
                    "from operator import add as b, neg",
                    "import os.path",
                    "from operator import nothing_of_this_name",
                    "import collections.abc as c",
                ]
            )
        ]

    def choice(self):
        lines = [f"if {self.test()}:", *self.indented(self.block())]
        if self.maybe(3):
            lines += [f"elif {self.test()}:", *self.indented(self.block())]
        if self.maybe():
            lines += ["else:", *self.indented(self.block())]
        return lines

    def in_loop(self, header):
        outer, self.loop = self.loop, True
        lines = [header, *self.indented(self.block())]
        self.loop = outer
        if self.maybe(3):
            lines += ["else:", *self.indented(self.block(1))]
        return lines

    def repeat(self):
        asynchronous = self.kind in ("async", "agen") and self.maybe(3)
        literals = [] if asynchronous else ["[V(), V()]", "range(2)", "[(1, V()), V()]"]
        iterable = self.pick(["V()", "V()", *literals, self.name()])
        return self.in_loop(f"{'async ' if asynchronous else ''}for {self.target()} in {iterable}:")

    def repeat_while(self):
        counter = self.fresh("left")
        lines = self.in_loop(f"while {counter} and {self.test()}:")
        return [f"{counter} = 2", lines[0], f"    {counter} -= 1", *lines[1:]]

    def handle(self):
        star = self.maybe(4)
        outer = self.loop
        lines = ["try:", *self.indented(self.block())]
        finally_only = not star and self.maybe(4)
        if not finally_only:
            for kind in self.several(lambda: self.pick(["Boom", "(TypeError, NameError)", "Exception"]), 1, 2):
                name = self.pick(["", " as a", " as e"])
                if star:
                    self.loop, kind_of = False, self.kind  # no `return`, `break` or `continue` there
                    self.kind = {"def": "plain", "gen": "gen*", "async": "async*", "agen": "agen*"}.get(
                        kind_of, kind_of
                    )
                    body = self.block()
                    self.kind, self.loop = kind_of, outer
                else:
                    body = self.block()
                lines += [f"except{'*' if star else ''} {kind}{name}:", *self.indented(body)]
            if self.maybe(4):
                lines += ["else:", *self.indented(self.block(1))]
        if finally_only or self.maybe(4):
            self.loop, kind_of = False, self.kind
            self.kind = {"def": "plain", "gen": "gen*", "async": "async*", "agen": "agen*"}.get(kind_of, kind_of)
            body = self.block(2)  # without `return`, of which the compiler warns
            self.kind, self.loop = kind_of, outer
            lines += ["finally:", *self.indented(body)]
        return lines

    def manage(self):
        asynchronous = self.kind in ("async", "agen") and self.maybe()
        items = []
        for _ in range(1 + self.choose(2)):
            item = self.pick(["V()", "V()", self.name(), "V().m"])
            items.append(item + self.pick(["", " as a", f" as {self.name()}.x", " as (a, b)", " as h[0]"]))
        return [f"{'async ' if asynchronous else ''}with {', '.join(items)}:", *self.indented(self.block())]

    def match(self):
        subject = self.pick([self.expression(), "[1, V()]", "{'k': V()}", "V()", "(1, 2, 3)"])
        lines = [f"match {subject}:"]
        patterns = [
            "1",
            "[1, x]",
            "[x, *y]",
            "{'k': x, **y}",
            "V(number=x)",
            "V() as x",
            "None | True",
            "(1, _)",
            "str()",
        ]
        for pattern in self.several(lambda: self.pick(patterns), 1, 3):
            guard = self.pick(["", f" if {self.test()}"])
            lines += [f"    case {pattern}{guard}:", *self.indented(self.indented(self.block(2)))]
        if self.maybe(3):
            lines += ["    case _:", *self.indented(self.indented(self.block(1)))]
        return lines

    def define(self):
        name = self.fresh("inner")
        lines = self.definition(name, method=self.kind == "class")
        if self.kind in ("class",):
            return lines
        return [*lines, f"note('inner', {name}({self.pick(['', 'V()', 'V(), V()'])}))"]

    def define_class(self):
        name = self.fresh("C")
        bases = self.pick(["", "()", "(object)", "(V)", "(metaclass=type)", "(Exception)"])
        decorator = self.pick(["", "", "@keep"])
        outer = self.kind, self.loop, self.in_comprehension
        self.kind, self.loop, self.in_comprehension = "class", False, False
        body = self.block(4)
        self.kind, self.loop, self.in_comprehension = outer
        parameters = self.pick(["", "[T]", "[T: (int, str)]"]) if VERSION >= (3, 13) else ""
        # (3.12 itself takes the private names of what comes after such a class for those of the class.)
        lines = [
            f"class {name}{parameters}{bases}:",
            *self.indented(["__slots__ = ()"] if self.maybe(6) else []),
            *self.indented(body),
        ]
        return ([decorator] if decorator else []) + [*lines, f"attempt({name})"]

    def definition(self, name, method=False, kind=None):
        """The lines of a function that begins by giving its names values."""
        kind = kind or self.pick(["def", "def", "gen", "async", "agen"])
        outer = self.kind, self.loop, self.in_comprehension, self.nesting, self.depth
        self.depth = 0
        parameters = self.pick(
            [
                "a=V(), b=V()",
                "a=None, *b",
                "a=None, /, b=None, **c",
                f"a={self.expression() if self.kind != 'class' else 1}, *, c=V()",
                "*a, d=1, **c",
                "a: V() = None, *b: int",
            ]
        )
        decorators = [
            self.pick(["@keep", "@keep", "@attempting", "@(lambda f: note('decorates', f) or f)"])
            for _ in range(self.choose(2))
        ]
        generic = self.pick(["", "", "[T]", "[T: V(), *U, **W]"]) if VERSION >= (3, 12) else ""
        self.kind, self.loop, self.in_comprehension = kind, False, False
        word = "async def" if kind in ("async", "agen") else "def"
        declared = []
        if outer[0] not in ("module", "class") and self.maybe(3) and "d=" not in parameters:
            declared = ["nonlocal d"]
        elif self.maybe(4):
            declared = ["global g"]
        nested = outer[3]
        body = [f"'''{name}'''"] * self.maybe(4) + declared + ["c, d = V(), [V(), 2, V()]"] * (not self.maybe(4))
        if "**c" in parameters or "c=" in parameters:
            body = [line.replace("c, d =", "b, d =") for line in body]
        if self.maybe(6) and not method:
            body.append("note('locals', sorted(locals()))")
        self.nesting = min(nested, 2)
        body += self.block(5)
        if kind in ("gen", "agen"):
            body.append("yield V()")
        result = self.pick(["", " -> V()"])
        self.kind, self.loop, self.in_comprehension, self.nesting, self.depth = outer
        parameters = f"self, {parameters.replace('/, ', '')}" if method else parameters
        return [*decorators, f"{word} {name}{generic}({parameters}){result}:", *self.indented(body)]

    # ---- the program

    def program(self):
        lines = PREAMBLE.splitlines()
        runs = []
        self.nesting = 1
        for _ in range(self.choose(3)):
            kind = self.pick(["assign", "augmented", "bare", "comprehension", "define_class", "choice", "repeat"])
            made = getattr(self, kind)()
            made = [made] if isinstance(made, str) else made
            lines += ["try:", *self.indented(made), "except Exception as error:", "    note(raised(error))"]
        for _ in range(1 + self.choose(4)):
            name = self.fresh("f")
            kind = self.pick(["def", "def", "def", "gen", "async", "agen"])
            self.nesting = 0
            made = self.definition(name, kind=kind)
            lines += ["try:", *self.indented(made), "except Exception as error:", "    note(raised(error))"]
            arguments = self.pick(["", "V()", "V(), V()", "1, [2]"])
            way = self.choose(4)
            runs.append(
                {
                    "def": f"{name}({arguments})",
                    "gen": f"drain({name}({arguments}), {way})",
                    "async": f"run({name}({arguments}))",
                    "agen": f"run(drain_async({name}({arguments}), {way}))",
                }[kind]
            )
            if kind == "def":
                self.functions.append(name)
        lines += ["def main():", *(f"    attempt(lambda: {call})" for call in runs)]
        return "\n".join(lines) + "\n"


PREAMBLE = textwrap.dedent(
    """\
    from programs.generated.observed import Boom, V, attempt, drain, drain_async, note, raised, run


    def keep(thing):
        note("keeps", thing)
        return thing


    def attempting(function):
        return lambda *arguments: attempt(function, *arguments)


    g, h = V(), [V(), 1, {}]
    a, b, c, d = V(), V(), [V(), 2, V()], V()
    """
)

SIMPLE = [
    Writer.bare, Writer.note, Writer.assign, Writer.assign, Writer.augmented, Writer.augmented, Writer.annotated,
    Writer.delete, Writer.leave, Writer.throw, Writer.bring,
]  # fmt: skip
COMPOUND = [
    Writer.choice, Writer.choice, Writer.repeat, Writer.repeat, Writer.repeat_while, Writer.handle, Writer.handle,
    Writer.manage, Writer.match, Writer.define, Writer.define_class,
]  # fmt: skip


@st.composite
def programs(draw):
    """The text of a program; a few that do not compile are left out."""
    text = Writer(lambda count: draw(st.integers(0, count - 1))).program()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<written>", "exec")
        except SyntaxError:
            reject()
    return text
