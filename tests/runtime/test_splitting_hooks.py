"""A splitting hook gets what `split` makes of the callee, and then the arguments of the call."""

import functools
import os
import re

import pytest

from cassette_import.interpreter.callables import split
from cassette_import.runtime.dispatch.bound_hooks import splitting


class Instance:
    def __call__(self, *arguments, **keywords):
        pass

    def method(self):
        pass

    @classmethod
    def of_class(cls):
        pass


class Metaclass(type):
    pass


class WithMetaclass(metaclass=Metaclass):
    pass


CALLEES = {
    "method_of_a_list": [].append,
    "method_of_a_string": "a,b".split,
    "method_of_a_module_in_c": re.compile("a").sub,
    "class_method_in_c": dict.fromkeys,
    "method_wrapper": [].__len__,
    "function_in_c": len,
    "function_of_a_module": os.fspath,
    "python_function": os.path.join,
    "class": int,
    "class_with_a_metaclass": WithMetaclass,
    "instance": Instance(),
    "bound_method": Instance().method,
    "class_method": Instance.of_class,
    "method_of_a_builtin": functools.partial(map).func,
    "partial": functools.partial(len, [1]),
    "partial_of_a_method": functools.partial([].append, 1),
    "partial_with_keywords": functools.partial(sorted, [1], reverse=True),
    "static_method": staticmethod(len),
}
ARGUMENTS = {
    "none": ((), {}),
    "two": ((1, 2), {}),
    "many": (tuple(range(12)), {}),
    "keywords": ((1,), {"key": 2}),
}


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("callee", CALLEES)
@pytest.mark.parametrize("leading", [("context",), ("context", "result")], ids=["prehook", "posthook"])
def test_the_hook_gets_the_function_and_what_the_callee_carries(leading, callee, arguments):
    function = CALLEES[callee]
    positional, keywords = ARGUMENTS[arguments]
    got = []

    def hook(*arguments, **keywords):
        got.append((arguments, keywords))

    count = len(leading) + 1 + len(positional)
    forms = [splitting(hook, len(leading)), *([splitting(hook, len(leading), count)] if not keywords else [])]
    for form in forms * 2:  # `split` looks up a method of a C type once
        assert form(*leading, function, *positional, **keywords) == split(function)[0]
    carried = function.keywords if isinstance(function, functools.partial) else {}
    expected = (*leading, *split(function), *positional), {**carried, **keywords}
    assert got == [expected] * 2 * len(forms)
