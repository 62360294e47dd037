"""The table of rules: from a function to the rule function that is called instead of it.

A rule is registered by the decorator of its rule function, in the file of `rules/` that is named after the kind of
leaf:

    @rule(list.pop, deque.pop, deque.popleft)
    def pop(call: LeafCall) -> Any: ...
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, NamedTuple

from cassette_import.runtime.tagging.fast_path import RULED_WHILE_TAGGED, PlainIf, any_arguments, apply_always
from cassette_import.runtime.tagging.leaf_call import RuleFunction


class Rule(NamedTuple):
    """The rule of one function."""

    function: Any
    rule_function: RuleFunction


RULES: Final[dict[int, Rule]] = {}
"""The rules of functions, by the identity of the function."""

RULES_OF_TYPES: Final[dict[int, RuleFunction]] = {}
"""The rule functions for callable objects, by the identity of their type: `operator.itemgetter`, for example."""


def rule(
    *functions: Any,
    while_untagged: bool = False,
    while_tagged: bool = False,
    plain_if: PlainIf | None = None,
    returns_method_result: bool = False,
) -> Callable[[RuleFunction], RuleFunction]:
    """Register the rule function of some functions.

    Parameters
    ----------
    *functions:
        The functions. Those that do the same to metadata share a rule function.
    while_untagged:
        Whether the rule function is called although nothing is tagged: functions that keep or call callbacks, which
        may tag the first value.
    while_tagged:
        Whether the rule function is called as soon as there is metadata anywhere, although no argument has any:
        functions that decide by the results of callbacks.
    plain_if:
        The same as `while_untagged`, except for arguments for which this condition holds.
    returns_method_result:
        Whether the functions return what a special method of the program returns, wrapped if the method wrapped it.
        Without `plain_if` the plain call does the same with any arguments as long as nothing is tagged.
    """

    def register(rule_function: RuleFunction) -> RuleFunction:
        for function in functions:
            RULES[id(function)] = Rule(function, rule_function)
            if while_tagged:
                RULED_WHILE_TAGGED.add(id(function))
            if returns_method_result:
                apply_always(function, plain_if or any_arguments, returns_method_result=True)
            elif while_untagged or plain_if is not None:
                apply_always(function, plain_if, returns_method_result=False)
        return rule_function

    return register


def rule_of_type(kind: type) -> Callable[[RuleFunction], RuleFunction]:
    """Register the rule function of all callable objects of a type."""

    def register(rule_function: RuleFunction) -> RuleFunction:
        RULES_OF_TYPES[id(kind)] = rule_function
        return rule_function

    return register


RULES_OF_CODE: Final[dict[tuple[str, str], RuleFunction]] = {}
"""The rule functions for Python functions of the standard library, by module and qualified name of their code.

So no module is imported for its rules, and a rule may be for the inner function of a decorator."""


def rule_of_code(module: str, *names: str) -> Callable[[RuleFunction], RuleFunction]:
    """Register the rule function of some Python functions of a module, by the qualified names of their code."""

    def register(rule_function: RuleFunction) -> RuleFunction:
        RULES_OF_CODE.update(((module, name), rule_function) for name in names)
        return rule_function

    return register


def rule_of_python_function(function: FunctionType) -> RuleFunction | None:
    """The rule function of a Python function of the standard library, if it has one."""
    namespace = function.__globals__
    module = namespace.get("__name__")
    found = RULES_OF_CODE.get((module, function.__code__.co_qualname))  # type: ignore[arg-type]  # None finds nothing
    if found is None or namespace is not getattr(sys.modules.get(module), "__dict__", None):  # type: ignore[arg-type]
        return None
    return found
