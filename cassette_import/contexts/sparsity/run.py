"""One run of a function: how dependences are written down, and which executions the code that runs now stands for.

A dependence is an integer, a set of bits, so that `|` joins dependences, in arrays of objects too. Bit 0 says that the
value may change with the inputs at all. The next bits are the inputs on which it depends with a derivative that may be
different from zero. Further bits are pairs of sets of inputs, whose second derivative may be different from zero.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from cassette_import.contexts.sparsity.errors import SparsityError, place

__all__ = ["VARIES", "Executions", "Run", "joined"]

VARIES: Final = 1
"""The dependence of a value that changes in steps: it has derivative zero, but other inputs may give another one."""


class Executions:
    """The executions for which code runs: those that have taken the same sides of all branches.

    Attributes
    ----------
    live:
        Whether the execution for the given inputs is among them.
    share:
        Their share of all executions, where each side of a branch has half.
    """

    __slots__ = ("live", "share")

    def __init__(self, live: bool, share: Fraction) -> None:
        self.live = live
        self.share = share


class Run:
    """One run.

    Parameters
    ----------
    inputs:
        How many inputs there are.
    local:
        Whether the pattern is for the given inputs only, so that each branch is decided by the values.
    second:
        Whether pairs of inputs are noted.
    """

    def __init__(self, inputs: int, local: bool, second: bool) -> None:
        self.local = local
        self.second = second
        self.failure: SparsityError | None = None
        self.leaf: str | None = None
        """The name of the function without a rule that is called."""
        self.whole = self.active = Executions(True, Fraction(1))
        self._dropped = Fraction(0)
        """The executions that have ended by an exception since the last union."""
        self.aliased: dict[int, Any] = {}
        """Objects of which one or another is a variable's value, depending on a branch: they must not change."""
        self.stores = 0
        """How often the program has stored something."""
        self._inputs = inputs
        self._mask = ((1 << inputs) - 1) << 1
        self._pairs: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int], int] = {}

    # ---- dependences

    def input(self, number: int) -> int:
        """The dependence of an input."""
        return 1 << (number + 1) | VARIES

    def step(self, dependence: int) -> int:
        """The dependence of a value that changes in steps with others."""
        return VARIES if dependence and not self.local else 0

    def cross(self, one: int, other: int) -> int:
        """The bits for the second derivatives with respect to an input of each of two sets."""
        one, other = one & self._mask, other & self._mask
        if not self.second or not one or not other:
            return 0
        if other < one:
            one, other = other, one
        number = self._known.get((one, other))
        if number is None:
            number = self._known[one, other] = len(self._pairs)
            self._pairs.append((one, other))
        return 1 << (self._inputs + 1 + number)

    def curved(self, dependence: int) -> int:
        """A dependence with all second derivatives."""
        return dependence | self.cross(dependence, dependence)

    def inputs_of(self, dependence: int) -> list[int]:
        """The numbers of the inputs in a dependence."""
        return _members((dependence & self._mask) >> 1)

    def pairs_of(self, dependence: int) -> list[tuple[list[int], list[int]]]:
        """The pairs of sets of inputs whose second derivatives a dependence has."""
        found = _members(dependence >> (self._inputs + 1))
        # For the type checker: a pair has two members.
        return [tuple(_members(one >> 1) for one in self._pairs[number]) for number in found]  # type: ignore[misc]

    # ---- executions

    @property
    def is_split(self) -> bool:
        """Whether the active code does not run for all executions."""
        return self.active.share != 1

    def halves(self, live: bool) -> tuple[Executions, Executions]:
        """The active executions on both sides of a branch, of which the given inputs take the first one if `live`."""
        active = self.active
        half = active.share / 2
        return Executions(active.live and live, half), Executions(active.live and not live, half)

    def empty(self) -> Executions:
        """No executions."""
        return Executions(False, Fraction(0))

    def union(self, parts: list[Executions], parent: Executions) -> Executions:
        """The union of disjoint executions; the parent itself if nothing is missing."""
        share = sum((part.share for part in parts), Fraction(0))
        if share + self._dropped == parent.share and (share or not self._dropped):
            self._dropped = Fraction(0)
            return parent
        return Executions(any(part.live for part in parts), share)

    def drop(self) -> None:
        """End the active executions by an exception."""
        self._dropped += self.active.share
        self.active = self.empty()

    def refuse(self, what: str, advice: str = "") -> SparsityError:
        """Keep an error, which is raised again if the program catches it."""
        if not advice:
            advice = "compute the same with functions that have a rule, or, if it is Python, install its package"
        error = SparsityError(f"{what}, at {place()}\n{advice[0].upper()}{advice[1:]}")
        if self.failure is None:
            self.failure = error
        return self.failure

    def refuse_branch(self, what: str) -> SparsityError:
        """The error for a decision that cannot be joined."""
        return self.refuse(what, "give local=True for the pattern of these inputs alone")


def _members(bits: int) -> list[int]:
    """The numbers of the bits of an integer."""
    if bits.bit_count() > 16:
        import numpy as np

        packed: Any = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), np.uint8)
        return np.flatnonzero(np.unpackbits(packed, bitorder="little")).tolist()
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def joined(dependences: Any) -> int:
    """The union of dependences."""
    found: int = 0
    for one in dependences:
        found |= one
    return found
