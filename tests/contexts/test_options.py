"""Options of all ready-made contexts: a number that makes no sense is refused in one line that names the option."""

from __future__ import annotations

import importlib
import inspect

import pytest

from cassette_import.contexts.lookup import READY_MADE

_OTHERS = ("seed", "nth", "every")
"""Options of `faults`, which has its own tests: any number is a seed."""


def numeric_options():
    for name, place in sorted(READY_MADE.items()):
        module, _, kind = place.partition(":")
        if name == "call-types":  # it takes any integer
            continue
        try:
            context_type = getattr(importlib.import_module(module), kind)
        except ModuleNotFoundError:  # without its extra
            continue
        for option in inspect.signature(context_type).parameters.values():
            if str(option.annotation) in ("int", "int | None") and option.name not in _OTHERS:
                yield pytest.param(context_type, option.name, id=f"{name}-{option.name}")


@pytest.mark.parametrize("value", ["x", -1, True, 2.5])
@pytest.mark.parametrize(("context_type", "option"), [*numeric_options()])
def test_what_is_no_number_for_an_option_is_refused(context_type, option, value):
    required = {
        each.name: ["math.floor"]
        for each in inspect.signature(context_type).parameters.values()
        if each.default is each.empty and each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)
    }
    with pytest.raises(ValueError, match=rf"^{option} (is a number|must not be less than 0)[^\n]*$"):
        context_type(**required, **{option: value})
