"""Encoded calls: comparing them, and their text in messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

__all__ = ["comparable", "described_call", "is_same_call", "object_numbers", "shown_call"]

_LONGEST_SHOWN: Final = 200


def is_same_call(what: list[Any], arguments: Any, other_what: list[Any], other_arguments: Any) -> bool:
    """Whether two encoded calls are the same: the same function, and equal arguments."""
    return what == other_what and (arguments == other_arguments or comparable(arguments) == comparable(other_arguments))


def comparable(encoded: Any) -> Any:
    """Encoded arguments without the numbers of the program's own objects, which may differ from run to run."""
    if isinstance(encoded, list):
        return [comparable(item) for item in encoded]
    if isinstance(encoded, dict):
        own = encoded.get("own")
        if isinstance(own, list) and len(own) == 2:
            return {"own": own[1]}
        return {key: comparable(item) for key, item in encoded.items()}
    return encoded


def object_numbers(encoded: Any) -> list[int]:
    """The numbers of the program's own objects in encoded arguments, in their order."""
    if isinstance(encoded, list):
        return [number for item in encoded for number in object_numbers(item)]
    if isinstance(encoded, dict):
        own = encoded.get("own")
        if own is not None:
            return [own[0]]
        return [number for item in encoded.values() for number in object_numbers(item)]
    return []


def described_call(what: list[Any], arguments: Any) -> str:
    """A call as the message of a replay mismatch shows it, with the number of the proxy that it uses."""
    proxy = f" of object {what[2]}" if len(what) > 2 else ""
    return shown_call(what, arguments) + proxy


def shown_call(what: list[Any], arguments: list[Any]) -> str:
    """A call as people read it.

    >>> shown_call(["call", "time.sleep"], [[2], [["unit", "s"]]])
    "time.sleep(2, unit='s')"
    """
    positional, keywords = arguments
    words = [_shown(item) for item in positional]
    kind, name = map(str, what[:2])
    if kind == "get":
        return name
    if kind == "set":
        return f"{name} = {words[0]}"
    if kind == "delete":
        return f"del {name}"
    return f"{name}({', '.join([*words, *(f'{key}={_shown(value)}' for key, value in keywords)])})"


def _shown(encoded: Any) -> str:
    if isinstance(encoded, list):
        return f"[{', '.join(map(_shown, encoded))}]"
    if not isinstance(encoded, dict):
        text = repr(encoded)
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:180]}… ({len(encoded)} characters)"
    try:
        [(tag, content)] = encoded.items()
        show = _SHOWN_BY_TAG.get(tag)
        return f"{tag} {json.dumps(content)[:100]}" if show is None else show(content)
    except (TypeError, ValueError, LookupError, AttributeError):  # an edited recording can contain anything
        return json.dumps(encoded)[:100]


def _shown_tuple(content: Any) -> str:
    return f"({', '.join(map(_shown, content))}{',' * (len(content) == 1)})"


def _shown_dict(content: Any) -> str:
    return f"{{{', '.join(f'{_shown(key)}: {_shown(value)}' for key, value in content)}}}"


def _shown_reference(content: Any) -> str:
    return f"<{str(content[-1] if isinstance(content, list) else content).replace(':', '.')}>"


_SHOWN_BY_TAG: Final[dict[str, Callable[[Any], str]]] = {
    "bytes": lambda content: "b" + repr(content),
    "tuple": _shown_tuple,
    "dict": _shown_dict,
    "own": _shown_reference,
    "handle": _shown_reference,
    "type": _shown_reference,
    "function": _shown_reference,
    "buffer": lambda content: f"<buffer of {content} bytes>",
    "long": lambda content: f"{content[1]!r}… ({content[0]} characters)",
    "made": lambda content: f"{content[0].partition(':')[2]}({', '.join(map(_shown, content[2]))})",
}
