"""A flow that grows point by point, and what is made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from cassette_import.contexts.graph.errors import NotRepresentable
from cassette_import.contexts.graph.flow.recording import Effort, Flow
from cassette_import.contexts.graph.tracing import Trace

__all__ = ["GrowingFlow"]

Made = TypeVar("Made")


class GrowingFlow(Generic[Made]):
    """The flow of some points.

    Parameters
    ----------
    f, args:
        The function, and its arguments, of which the unknown ones are marked.
    first:
        The trace of the first point.
    functions:
        The functions of numbers that the code may call.
    make:
        What makes code of a flow.
    arrays:
        Whether arrays of NumPy may be unknown.
    most_operations:
        How many operations may be recorded, in all runs of all points.

    Attributes
    ----------
    flow, made:
        The flow, and what is made of it.

    Raises
    ------
    NotRepresentable
        If the flow of the first point cannot be recorded.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        first: Trace,
        functions: frozenset[Any],
        make: Callable[[Flow], Made],
        arrays: bool = False,
        most_operations: float = math.inf,
    ) -> None:
        effort = Effort(most_operations)
        self._new: Callable[[bool], Flow] = lambda keeps_loops: Flow(f, args, functions, keeps_loops, arrays, effort)
        self._make = make
        try:
            self.flow, self.made = self._recorded([first], keeps_loops=True)
        except NotRepresentable:
            self.flow, self.made = self._recorded([first], keeps_loops=False)

    def _recorded(self, points: Iterable[Trace], keeps_loops: bool) -> tuple[Flow, Made]:
        flow = self._new(keeps_loops)
        for one in points:
            flow.add(one)
        return flow, self._make(flow)

    def add(self, trace: Trace) -> None:
        """Add a point. Loops that need not be code are unrolled if the points do not go together otherwise.

        Raises
        ------
        NotRepresentable
            If the point does not go with the others. The flow stays as it is.
        """
        flow = self.flow.copy()
        try:
            flow.add(trace)
            self.flow, self.made = flow, self._make(flow)
        except NotRepresentable:
            if not self.flow.has_staying_loops:
                raise
            self.flow, self.made = self._recorded([*self.flow.points, trace], keeps_loops=False)
