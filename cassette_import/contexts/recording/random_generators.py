"""Which generators of random numbers are deterministic: those with a seed. Their calls are not external."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from cassette_import.contexts.recording.external_functions import GENERATOR, NUMPY_GENERATORS, NUMPY_RANDOM

__all__ = ["RandomGenerators"]


class RandomGenerators:
    """The generators that one run has seeded or not."""

    def __init__(self) -> None:
        self._seeded: weakref.WeakSet[Any] = weakref.WeakSet()
        self._unseeded_of_numpy: dict[int, Any] = {}
        """By identity: there are no weak references to NumPy's generators."""
        self._is_numpy_seeded = False

    def makes_generator(self, name: str) -> bool:
        """Whether a function of the boundary makes a generator. Its calls are not external."""
        return name == GENERATOR or name in _MAKERS

    def made(self, name: str, generator: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        """Note that the program has made a generator, with a seed, or with another generator."""
        given = [one for one in (*arguments, *keywords.values()) if one is not None]
        if name == GENERATOR:
            if given:
                self._seeded.add(generator)
        elif all(id(one) in self._unseeded_of_numpy for one in given):
            self._unseeded_of_numpy[id(generator)] = generator

    def is_deterministic(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
        """Whether a call of a method of a generator is deterministic.

        A call of `seed` sets or removes the seed first.
        """
        if name.startswith(GENERATOR):
            if name == f"{GENERATOR}.seed":
                seed = (*arguments[1:2], keywords.get("a"))[0]
                (self._seeded.discard if seed is None else self._seeded.add)(arguments[0])
            return arguments[0] in self._seeded
        return name.startswith(NUMPY_RANDOM) and self._is_deterministic_in_numpy(name, arguments, keywords)

    def _is_deterministic_in_numpy(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bool:
        numpy: Any = sys.modules["numpy.random"]
        if name in _SEEDS:
            receiver = arguments[0] if name in _METHODS else numpy.mtrand._rand
            seed = next((one for one in (*arguments[name in _METHODS :], *keywords.values()) if one is not None), None)
            if receiver is numpy.mtrand._rand:
                self._is_numpy_seeded = seed is not None
            elif seed is None:
                self._unseeded_of_numpy[id(receiver)] = receiver
            else:
                self._unseeded_of_numpy.pop(id(receiver), None)
            return True
        if arguments and arguments[0] is numpy.mtrand._rand:
            return self._is_numpy_seeded
        return not arguments or id(arguments[0]) not in self._unseeded_of_numpy


_MAKERS = frozenset(NUMPY_RANDOM + name for name in NUMPY_GENERATORS)
_METHODS = frozenset({f"{NUMPY_RANDOM}RandomState.seed", f"{NUMPY_RANDOM}RandomState.set_state"})
_SEEDS = frozenset({*_METHODS, f"{NUMPY_RANDOM}seed", f"{NUMPY_RANDOM}set_state"})
