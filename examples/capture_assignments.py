"""Captures every assignment `a = …` of unmodified functions, by a pass.

The output lists each assigned value with its name and its line.
"""

import ast

from cassette_import import Context, contextslot, insert_statements, nooverdub, overdub


def mean_and_spread(values):
    total = sum(values)
    mean = total / len(values)
    squares = [(value - mean) ** 2 for value in values]
    spread = (sum(squares) / len(squares)) ** 0.5
    return mean, spread


def capturing(context_type, reflection):
    """The pass: inserts `ctx.capture("a", a, line)` after `a = …`."""
    if isinstance(reflection.tree, ast.Lambda):  # a lambda has no statements
        return reflection.tree

    def count(statement, index):
        return 2 if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name) else None

    def with_capture(statement, index):
        name = statement.targets[0].id
        capture = ast.Attribute(contextslot(), "capture", ast.Load())
        arguments = [ast.Constant(name), ast.Name(name, ast.Load()), ast.Constant(statement.lineno - reflection.lineno)]
        return [statement, ast.Expr(nooverdub(ast.Call(capture, arguments, [])))]

    insert_statements(reflection.tree.body, count, with_capture)
    return reflection.tree


class Capture(Context):
    def __init__(self, **options):
        super().__init__(**options)
        self.captured = []

    def capture(self, name, value, line):
        self.captured.append((line, name, value))


capture = Capture(passes=[capturing])
print(overdub(capture, mean_and_spread, [1, 2, 6]))
for line, name, value in capture.captured:
    print(f"  line {line}: {name} = {value}")
