"""Separates the output of a program from its computation, by a pass.

The pass threads a callback through every call and every return of the program's functions. Each function returns its
result together with a callback. The callback prints the output of the function later.
"""

import ast

from cassette_import import Context, contextslot, insert_statements, nooverdub, overdub, replace_match


def total(prices):
    print("adding up", len(prices), "prices")
    return sum(prices)


def report(prices):
    print("the report")
    print("their mean:", total(prices) / len(prices))
    return max(prices)


PROGRAM = {total, report}


def slicing(context_type, reflection):
    """The pass: `f(x)` becomes a call of `through`, and `return x` becomes `return x, callback`."""
    if reflection.function not in PROGRAM:
        return reflection.tree
    body = replace_match(with_callback, is_call, reflection.tree.body)
    insert_statements(body, lambda statement, index: 1 if isinstance(statement, ast.Return) else None, return_both)
    reflection.tree.body = [*ast.parse("callback = lambda: None").body, *body]
    return reflection.tree


def is_call(node):
    return isinstance(node, ast.Call)


def with_callback(call):
    """`(step := ctx.through(f, x), callback := ctx.then(callback, step[1]), step[0])[2]`"""
    expression = ast.parse("((step := ...), (callback := ...), step[0])[2]", mode="eval").body
    step, callback, _ = expression.value.elts
    step.value = method_of_context("through", call.func, *replace_match(with_callback, is_call, call.args))
    step.value.keywords = replace_match(with_callback, is_call, call.keywords)
    callback.value = method_of_context("then", name("callback"), ast.parse("step[1]", mode="eval").body)
    return expression


def method_of_context(method, *arguments):
    """Build a call of a method of the context, which is not an event."""
    return nooverdub(ast.Call(ast.Attribute(contextslot(), method, ast.Load()), [*arguments], []))


def return_both(statement, index):
    return [ast.Return(ast.Tuple([statement.value, name("callback")], ast.Load()))]


def name(text):
    return ast.Name(text, ast.Load())


class Slicing(Context):
    passes = [slicing]

    def through(self, f, *args, **kwargs):
        """Replace a call: return its result, and a function that prints its output, or None."""
        if f is print:
            return None, lambda: print(*args, **kwargs)
        if f in PROGRAM:
            return f(*args, **kwargs)
        return f(*args, **kwargs), None

    def then(self, callback, more):
        return callback if more is None else lambda: (callback(), more())


result, print_output = overdub(Slicing(), report, [3, 4, 8])
print("result:", result)
print_output()
