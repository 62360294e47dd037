"""Calls of `logging` that write nothing, because the logger ignores the level."""

from __future__ import annotations

import sys
from typing import Any, Final

__all__ = ["is_silent"]

_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40, "exception": 40, "critical": 50}


def is_silent(f: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether a call finds a logger, asks for its level, or is ignored by it.

    >>> import logging
    >>> is_silent(logging.getLogger("quiet").debug, ("x",)), is_silent(logging.Logger.error, (logging.root, "x"))
    (True, False)
    """
    logging = sys.modules.get("logging")
    if logging is None or getattr(f, "__module__", None) != "logging":
        return False
    if f is logging.getLogger:
        return True
    logger = getattr(f, "__self__", None)
    if logger is None and arguments:
        logger, *arguments = arguments  # type: ignore[assignment]  # a sequence is enough
    if not isinstance(logger, logging.Logger):
        return False
    if f.__name__ in ("isEnabledFor", "getEffectiveLevel"):
        return True
    level = arguments[0] if f.__name__ == "log" and arguments else _LEVELS.get(f.__name__)
    return type(level) is int and not logger.isEnabledFor(level)
