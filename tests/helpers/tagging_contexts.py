"""Contexts with tagging that change nothing: one tags no values, the other all arguments of all functions.

They are importable on their own, so that the suites of packages can be run in them.
"""

import ast

from cassette_import import Context, contextslot, nooverdub, replace_match, tag
from cassette_import.runtime.tagging.rewritten_code import tidy


class TagsNothing(Context, tagging=True):
    """Values could carry metadata, and none do."""

    def prehook(self, f, *args, **kwargs):
        pass


def mark_arguments(context_type, reflection):
    """A pass: every function begins with tagging its arguments, one by one, those of `*args` too."""
    tree, arguments = reflection.tree, reflection.tree.args
    methods = {part.arg: "mark" for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    if arguments.vararg is not None:
        methods[arguments.vararg.arg] = "mark_all"
    if arguments.kwarg is not None:
        methods[arguments.kwarg.arg] = "mark"

    def marked(name):
        method = ast.Attribute(contextslot(), methods[name], ast.Load())
        return nooverdub(ast.Call(method, [ast.Name(name, ast.Load())], []))

    def is_argument(node):
        return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in methods

    if isinstance(tree, ast.Lambda):  # its body has no place for assignments
        tree.body = replace_match(lambda node: marked(node.id), is_argument, tree.body)
        return tree
    has_docstring = isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant)
    tree.body[has_docstring:has_docstring] = [
        ast.Assign([ast.Name(name, ast.Store())], marked(name)) for name in methods
    ]
    return tree


class TagsArguments(Context, tagging=True):
    """Every argument of every overdubbed function is tagged, but classes, which carry no metadata."""

    passes = (mark_arguments,)

    def mark(self, value):
        return value if issubclass(type(value), type) else tag(value, self, "an argument")

    def mark_all(self, values):
        return self.mark(tidy(tuple([self.mark(value) for value in values])))
