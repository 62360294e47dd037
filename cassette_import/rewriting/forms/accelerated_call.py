"""The accelerated form of a call: the hooks are two functions that take the callee as it is, in C if there is C.

``f(g(x), y)`` becomes::

    @7.leave(@c0, (@p := @7.enter(@c0, f, @a0_0 := g(x)))(@a0_0, y), @p, @a0_0, @p := @a0_0 := None)

`enter` returns the callee, and `leave` the result. Both ignore further arguments, which are evaluated before they are
called, and keep what they get alive until they return. So there is no tuple, except for many arguments. The pending
event, for the handler of exceptions, is the callee itself.
"""

from __future__ import annotations

import ast
from typing import Final

from cassette_import.rewriting import temporaries
from cassette_import.rewriting.forms.hooked_event import Variables, as_written, into_temporaries
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.variant_names import VariantNames

IGNORED: Final = 4
"""How many arguments more than their own `enter` takes at most; `leave` takes one more, which clears temporaries."""


def accelerated_call(
    node: ast.Call, names: VariantNames, variables: Variables, depth: int, has_posthook: bool = True
) -> ast.expr:
    """The event of a call without splats.

    Parameters
    ----------
    node:
        The call.
    names:
        The names of the variant.
    variables:
        The variables of the function that need no temporaries.
    depth:
        How deeply events nest in its operands.
    has_posthook:
        Whether there is `leave`. If not, there is no errorhook either.
    """
    at = At(node)
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    steps: list[ast.expr] = []
    used: list[str] = []
    stays = variables.names.__contains__
    reads = into_temporaries(at, values, temporaries.arguments(depth), steps, used, stays)
    read = as_written(values, reads)
    count = len(node.args)
    keywords = [
        At(value).put(ast.keyword(keyword.arg, value))
        for keyword, value in zip(node.keywords, read[count:], strict=True)
    ]
    recorder = temporaries.context(0)
    entered = at.call(at.symbol(names.enter), [at.load(recorder), node.func, *_few(at, steps)])
    if not has_posthook:
        result = at.call(entered, read[:count], keywords)
        return at.pick([result, at.clear(used)], 0) if used else result
    result = at.call(at.let(temporaries.PENDING, entered), read[:count], keywords)
    kept = [at.load(temporaries.PENDING), *_few(at, [at.load(name) for name in used])]
    cleared = at.clear([temporaries.PENDING, *used])
    return at.call(at.symbol(names.leave), [at.load(recorder), result, *kept, cleared])


def _few(at: At, values: list[ast.expr]) -> list[ast.expr]:
    """What hooks ignore, as so few arguments that those in Python have a parameter for each."""
    if len(values) <= IGNORED:
        return values
    rest = at.put(ast.Tuple(values[IGNORED - 1 :], ast.Load()))
    return [*values[: IGNORED - 1], rest]
