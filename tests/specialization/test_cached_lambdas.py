"""Lambdas of one line share no compiled body, also where their code does not show which of them it is."""

import pytest
from helpers.command_line import run

LAMBDAS = {
    "their parameters have different names": ("[lambda a, b: 1, lambda a, c: 2]", "[f(0, 0) for f in made]"),
    "they are in a call with names": ("[*dict(x=lambda a: None, y=lambda b: 'b').values()]", "[f(0) for f in made]"),
    "some have the same parameters": (
        "[lambda a: 1, lambda a: 2, lambda b: 3, lambda *b: 4, lambda a, *b: 5, lambda *, b: 6, lambda a, **b: 7]",
        "[f(b=0) if n == 5 else f(0) for n, f in enumerate(made)]",
    ),
    "one has the type of a constant": ("[lambda a: 1, lambda b: 1.0, lambda c: True]", "[f(0) for f in made]"),
    "they are in the body of a class": ("C.made", "[f(0) for f in made]"),
    "a method makes them": ("C().make()", "[f(0) for f in made]"),
}
PROGRAM = """
class C:
    made = [lambda a: 1, lambda b: 2]

    def make(self):
        return [lambda a: 3, lambda b: 4, lambda c: self]

    def __repr__(self):
        return "C"


made = {made}


def call():
    return {call}


print(call(), call())
"""


@pytest.mark.parametrize("context", ["noop", "profile"])
@pytest.mark.parametrize("name", LAMBDAS)
def test_each_lambda_runs_its_own_body_if(name, context, tmp_path):
    made, call = LAMBDAS[name]
    (tmp_path / "program.py").write_text(PROGRAM.format(made=made, call=call))
    plain = run("program.py", folder=tmp_path)
    assert plain.status == 0
    for _ in range(2):  # the second process reads what the first one has cached
        command = ("-m", "cassette_import", "run", "-c", context, "program.py")
        assert run(*command, folder=tmp_path, PYTHONDONTWRITEBYTECODE="").stdout.startswith(plain.stdout)
