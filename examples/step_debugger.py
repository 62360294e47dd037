"""A stepping debugger in a few lines: after every statement, a pass inserts a call of a method of the context.

This one prints each step, with the local variables that changed. Another one could wait for the user.
"""

import ast

from cassette_import import Context, contextslot, insert_statements, nooverdub, overdub


def collatz(n):
    steps = 0
    while n > 1:
        if n % 2:
            n = 3 * n + 1
        else:
            n = n // 2
        steps += 1
    return steps


def stepping(context_type, reflection):
    """The pass: inserts, after each statement, `ctx.step("the statement", line, {"name": name, …})`."""
    if reflection.function is not collatz:
        return reflection.tree
    names = sorted(
        {node.id for node in ast.walk(reflection.tree) if is_stored(node)} | set(reflection.signature.parameters)
    )

    def with_step(statement, index):
        text = ast.unparse(statement).partition("\n")[0]
        step = ast.Attribute(contextslot(), "step", ast.Load())
        line = ast.Constant(statement.lineno - reflection.lineno)
        values = ast.parse(f"{{name: value for name, value in locals().items() if name in {names}}}", mode="eval").body
        call = nooverdub(ast.Call(step, [ast.Constant(text), line, values], []))
        return [statement, ast.Expr(call)]

    insert_statements(reflection.tree.body, lambda s, index: None if isinstance(s, ast.Return) else 2, with_step)
    return reflection.tree


def is_stored(node):
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


class Stepper(Context):
    passes = [stepping]

    def __init__(self):
        super().__init__()
        self.values = {}

    def step(self, text, line, values):
        changed = {name: value for name, value in values.items() if self.values.get(name) != value}
        self.values.update(changed)
        changes = ", ".join(f"{name} = {value}" for name, value in changed.items())
        print(f"{line}: {text:<15} {changes}".rstrip())


print("steps:", overdub(Stepper(), collatz, 3))
