"""Slices a program by a pass: what it prints is taken out of it, and comes back as a function to be called later.

The pass threads a callback through every call and every return of the program's functions: each returns what it
returned before, and with it all that it would have printed. The program knows nothing of that.
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
    body = replace_match(threaded, is_call, reflection.tree.body)
    insert_statements(body, lambda statement, index: 1 if isinstance(statement, ast.Return) else None, with_callback)
    reflection.tree.body = [*ast.parse("callback = lambda: None").body, *body]
    return reflection.tree


def is_call(node):
    return isinstance(node, ast.Call)


def threaded(call):
    """`(step := ctx.through(f, x), callback := ctx.then(callback, step[1]), step[0])[2]`"""
    made = ast.parse("((step := ...), (callback := ...), step[0])[2]", mode="eval").body
    step, kept, _ = made.value.elts
    step.value = of_context("through", call.func, *replace_match(threaded, is_call, call.args))
    step.value.keywords = replace_match(threaded, is_call, call.keywords)
    kept.value = of_context("then", name("callback"), ast.parse("step[1]", mode="eval").body)
    return made


def of_context(method, *arguments):
    """A call of a method of the context, which is no event for it."""
    return nooverdub(ast.Call(ast.Attribute(contextslot(), method, ast.Load()), [*arguments], []))


def with_callback(statement, index):
    return [ast.Return(ast.Tuple([statement.value, name("callback")], ast.Load()))]


def name(text):
    return ast.Name(text, ast.Load())


class Slicing(Context):
    passes = [slicing]

    def through(self, f, *args, **kwargs):
        """What runs in the place of a call: its result, and what it would have printed, as a function or None."""
        if f is print:
            return None, lambda: print(*args, **kwargs)
        if f in PROGRAM:
            return f(*args, **kwargs)
        return f(*args, **kwargs), None

    def then(self, callback, more):
        return callback if more is None else lambda: (callback(), more())


result, say = overdub(Slicing(), report, [3, 4, 8])
print("result:", result)
say()
