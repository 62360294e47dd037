"""Rules for classes that are not overdubbed: dataclasses, named tuples, namespaces; and for `dataclasses.replace`.

Knows how these classes assign the fields of their instances; must not know how a call got here.
"""

from __future__ import annotations

import copy
import dataclasses
from types import MemberDescriptorType, SimpleNamespace
from typing import Any

from cassette_import.interpreter.callables import lookup
from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.interpreter.namespaces import is_a
from cassette_import.runtime.tagging.leaf_call import LeafCall, without_rule
from cassette_import.runtime.tagging.rule_table import rule
from cassette_import.runtime.tagging.wrappers import Tagged, plain


@hidden
def construct(call: LeafCall) -> Any:
    """The rule function of all classes that have no rule: attributes keep the metadata of the arguments."""
    names = _parameters(call.function)
    if names is None:
        return without_rule(call)
    made = call.native_then_drop_stale()
    if names and is_a(made, tuple):
        call.store.bind_items(made, [*call.given, *(call.keywords.get(name) for name in names[len(call.given) :])])
        return made
    given = dict(call.keywords)
    given.update(zip(names, call.given, strict=False))
    for name, value in given.items():
        if type(value) is Tagged and read_attribute(made, name) is plain(value):
            call.store.store_part(call.store.attributes, made, name, value)
    return made


def _parameters(kind: Any) -> list[str] | None:
    """The attributes that the arguments of a class go to, in order; None if that is not known."""
    if issubclass(kind, tuple):
        return list(getattr(kind, "_fields", ()))
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if field.init]
    return [] if issubclass(kind, SimpleNamespace) else None


@hidden
def read_attribute(owner: Any, name: str) -> Any:
    """An attribute; None if code of the program would run for it."""
    own = getattr(owner, "__dict__", {})
    if name in own:
        return own[name]
    return getattr(owner, name) if is_a(lookup(type(owner), name), MemberDescriptorType) else None


@rule(dataclasses.replace, getattr(copy, "replace", dataclasses.replace))
@hidden
def replace(call: LeafCall) -> Any:
    made = call.native()
    source = plain(call.arguments[0])
    for name in _parameters(type(made)) or ():
        value = call.keywords.get(name)
        if name not in call.keywords:
            value = call.store.load_part(call.store.attributes, source, name, read_attribute(source, name))
        if type(value) is Tagged and read_attribute(made, name) is plain(value):
            call.store.store_part(call.store.attributes, made, name, value)
    return made
