"""Turns branches into calls: `x if c else y`, and a simple `if`/`else`, become `ifelse(c, x, y)`.

Python cannot overload a branch. This pass makes it possible: here, `ifelse` computes both sides, so one run of a
function that is written for one number computes the results for many numbers.
"""

import ast

from cassette_import import Context, overdub, replace_match


def tax(income):
    allowance = 10 if income < 50 else 5
    if income > 30:
        rate = 0.5
    else:
        rate = 0.2
    return (income - allowance) * rate


class Many:
    """Several numbers; an operator applies to all of them at once."""

    def __init__(self, *values):
        self.values = values

    def _each(self, operation, other):
        others = other.values if isinstance(other, Many) else [other] * len(self.values)
        return Many(*map(operation, self.values, others))

    def __lt__(self, other):
        return self._each(lambda a, b: a < b, other)

    def __gt__(self, other):
        return self._each(lambda a, b: a > b, other)

    def __sub__(self, other):
        return self._each(lambda a, b: a - b, other)

    def __mul__(self, other):
        return self._each(lambda a, b: a * b, other)


def ifelse(condition, x, y):
    """Replace a branch: choose `x` or `y` for each number."""
    if not isinstance(condition, Many):
        return x if condition else y
    return Many(*(x if truth else y for truth in condition.values))


def branchless(context_type, reflection):
    """The pass: replaces the branches of `tax` by calls of `ifelse`."""
    if reflection.function is not tax:
        return reflection.tree
    return replace_match(as_call, is_simple_branch, reflection.tree)


def is_simple_branch(node):
    """Return whether a node is `x if c else y`, or an `if` whose two sides only assign to the same name."""
    if isinstance(node, ast.If) and len(node.body) == len(node.orelse) == 1:
        sides = node.body + node.orelse
        return all(isinstance(side, ast.Assign) for side in sides) and len({ast.dump(s.targets[0]) for s in sides}) == 1
    return isinstance(node, ast.IfExp)


def as_call(node):
    if isinstance(node, ast.If):
        (then,), (otherwise,) = node.body, node.orelse
        return ast.Assign(then.targets, as_call(ast.IfExp(node.test, then.value, otherwise.value)))
    parts = [replace_match(as_call, is_simple_branch, part) for part in (node.test, node.body, node.orelse)]
    return ast.Call(ast.Name("ifelse", ast.Load()), parts, [])


class Branchless(Context):
    passes = [branchless]


print("one by one: ", [tax(income) for income in (20, 40, 60)])
print("all at once:", list(overdub(Branchless(), tax, Many(20, 40, 60)).values))
