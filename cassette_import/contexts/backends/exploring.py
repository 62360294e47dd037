"""Which points a flow still lacks: its kernel, run by Python, comes to a side of a branch that no point has taken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from cassette_import.contexts.backends.flow_kernel import FlowKernel
from cassette_import.contexts.backends.kernel import KERNEL, MISSING
from cassette_import.contexts.backends.operations import FUNCTIONS
from cassette_import.contexts.graph import NotRepresentable, Residual
from cassette_import.contexts.graph.flow import Flow
from cassette_import.contexts.graph.flow.growing import GrowingFlow

__all__ = ["Explorer"]

_MOST_REFUSED: Final = 10
_MOST_POINTS: Final = 200


class Explorer:
    """Adds points to the flow of a program.

    Parameters
    ----------
    program:
        The residual program, which traces points.
    make:
        What makes a kernel of a flow.
    arrays:
        Whether kernels can have arrays.

    Raises
    ------
    NotRepresentable
        If the flow of the program's first point cannot be recorded.
    """

    def __init__(self, program: Residual, make: Callable[[Flow], FlowKernel], arrays: bool = False) -> None:
        self._program = program
        self._refused = 0
        self.is_hopeless = False
        """Whether the first two ways differ in more than numbers, so that each path has to be compiled by itself."""
        self._steps: Callable[..., Any] | None = None
        self._growing = GrowingFlow(program.original, program.arguments, program.traces[0], FUNCTIONS, make, arrays)

    @property
    def flow(self) -> Flow:
        """The flow of the points."""
        return self._growing.flow

    @property
    def kernel(self) -> FlowKernel:
        """The kernel of the flow."""
        return self._growing.made

    def explore(self, points: Iterable[tuple[Sequence[Any], tuple[Any, ...]]]) -> bool:
        """Add the points that take new sides.

        Parameters
        ----------
        points:
            The numbers of each point, and its arguments.

        Returns
        -------
        Whether the kernel is another one now.
        """
        before = self.kernel
        for numbers, values in points:
            if self._refused < _MOST_REFUSED and len(self.flow.points) < _MOST_POINTS and self._is_new(numbers):
                self._add(values)
        return self.kernel is not before

    def _is_new(self, point: Sequence[Any]) -> bool:
        if self._steps is None:
            names: dict[str, Any] = dict(self.kernel.arrays)
            exec(compile(self.kernel.in_python, "<kernel>", "exec"), names)
            self._steps = names[KERNEL]
        try:
            return bool(self._steps(*point)[0] == MISSING)
        except (ArithmeticError, ValueError, TypeError):
            return False  # Python raises here, and machine code does not

    def _add(self, point: tuple[Any, ...]) -> None:
        try:
            trace = self._program.traced(point)
        except NotRepresentable:
            self._refused += 1
            return
        except Exception:
            return  # the function raises it, and does so when it is called
        try:
            self._growing.add(trace)
        except NotRepresentable:
            self._refused += 1
            self.is_hopeless |= len(self.flow.points) == 1
            return
        self._steps = None
