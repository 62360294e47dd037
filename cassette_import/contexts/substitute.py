"""`Substitute`: replaces functions, as a mock does, wherever overdubbed code calls them.

It does not matter how the calling code refers to a function: by `import`, by `from … import`, as a default argument,
as an attribute. Nothing is patched, so all other code calls the function itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.kits.interception import TargetedContext
from cassette_import.kits.reporting import Writer
from cassette_import.kits.targets import (
    ResolvedTarget,
    Target,
    constructor_hint,
    import_path,
    never_called,
    resolve_target,
)
from cassette_import.kits.text import plural, text_writer

__all__ = ["Substitute"]


class Substitute(TargetedContext):
    """Replaces calls of chosen functions by calls of others.

    Parameters
    ----------
    replacements:
        The replacement of each target. Both are callables, or text: ``"package.module.function"``.
        A replacement gets the arguments of the target. For a method, such as `Session.send`, the first argument is the
        receiver. For a bound method, such as `random.random` or `datetime.now`, the receiver is left out, and calls
        with other receivers stay as they are, also those of a class method on subclasses.

    Raises
    ------
    ValueError
        If a text names nothing, or an object that is not callable. The message is one line.

    On the command line, ``-c substitute:time.time=fakes.noon,random.random=fakes.half``.

    A replacement runs with the substitution suspended: if it calls the target, it calls the function itself.

    Example
    -------
    >>> import colorsys
    >>> from cassette_import import overdub
    >>> with_greys = Substitute({colorsys.hsv_to_rgb: lambda h, s, v: (v, v, v)})
    >>> overdub(with_greys, colorsys.hsv_to_rgb, 0.1, 0.2, 0.3)
    (0.3, 0.3, 0.3)
    >>> print(with_greys.summary())
    substitute: colorsys.hsv_to_rgb: 1 call
    """

    def __new__(cls, replacements: Mapping[Any, Target]) -> Substitute:
        """Make an instance of the type that overloads these targets."""
        return cls.for_targets(resolve_target(target) for target in _checked(replacements))

    def __init__(self, replacements: Mapping[Any, Target]) -> None:
        super().__init__()
        self.calls: dict[str, int] = {target.name: 0 for target in self._targets}
        """How often each target was called, by its name."""
        found = zip(self._targets, replacements.values(), strict=True)
        self._replacements = {id(target): _replacement(target, given) for target, given in found}
        calls = self.calls
        self.report_unmatched(lambda: [name for name, count in calls.items() if not count])

    @classmethod
    def from_options(cls, **replacements: Any) -> Substitute:
        """What the command line makes of ``target=replacement,…``.

        Parameters
        ----------
        replacements:
            The replacement of each target, ``time.time=fakes.noon``: both are dotted names of functions or methods.
        """
        return cls(replacements)

    @hidden
    def intercept(self, function: Any, /, *arguments: Any, **keywords: Any) -> Any:
        """Call the replacement."""
        target = self.target_of(function, arguments)
        if target is None:
            return self.proceed(function, arguments, keywords)
        with self._lock:
            self.calls[target.name] += 1
        return self._replacements[id(target)](*(arguments[1:] if target.is_bound else arguments), **keywords)

    def forked(self) -> None:
        """Start with no calls in a forked process."""
        super().forked()
        self.calls.update(dict.fromkeys(self.calls, 0))

    def target_of(self, function: Any, arguments: tuple[Any, ...]) -> ResolvedTarget | None:
        """The target that a call matches, or None; a class method of a class does not match calls on its subclasses.

        The replacement does not get the class, so it could not make an object of the subclass.
        """
        for target in self._by_function.get(id(function), ()):
            if not target.is_bound or (arguments and arguments[0] is target.receiver):
                return target
        return None

    def summary(self) -> str:
        """The number of calls of each target."""
        lines = [_line(name, count) for name, count in self.calls.items()]
        return ("substitute: " if len(lines) == 1 else "substitute:\n  ") + "\n  ".join(lines)

    @property
    def formats(self) -> Mapping[str, Writer]:
        """`.txt` for the counts."""
        return {".txt": text_writer(self.summary)}


def _checked(replacements: Any) -> Mapping[Any, Target]:
    if not isinstance(replacements, Mapping):
        raise TypeError(f"Substitute takes a mapping of targets to replacements, not {type(replacements).__name__}")
    if not replacements:
        raise ValueError("nothing to substitute: give target=replacement, both as module.function")
    return replacements


def _replacement(target: ResolvedTarget, given: Any) -> Any:
    found = import_path(given) if isinstance(given, str) else given
    if not callable(found):
        name = given if isinstance(given, str) else repr(given)
        raise ValueError(f"{name}, given for {target.name}, is not callable; give a function or module.function")
    return found


def _line(name: str, count: int) -> str:
    return f"{name}: {plural(count, 'call')}{constructor_hint(name)}" if count else never_called(name)
