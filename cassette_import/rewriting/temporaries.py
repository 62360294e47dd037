"""The names of temporaries: variables that rewriting adds to a function.

Like the names of `symbols` they start with ``@``. The number in a name is the depth of the event: how deeply events
nest in its operands. Two events of the same depth are never evaluated within each other, so they share temporaries.
"""

from __future__ import annotations

from typing import Final

ACTIVATION: Final = "@a"
FAMILY: Final = "@v"
PENDING: Final = "@p"
"""Kind and operands of the pending event of this frame, if there are errorhooks."""
EXCEPTION: Final = "@x"
CAUSE: Final = "@x"
VALUE: Final = "@v"
OWNER: Final = "@t"
INDEX: Final = "@i"
BODY: Final = "@s"
"""The run of a body whose steps a context follows (`forms.followed_bodies`)."""
GUARDED_CALLEE: Final = "@g"
GUARDED_RECEIVER: Final = "@o"

SPLIT_CALLEE: Final = "*"
"""In the note of a pending event, in the place of an attribute: the function of the callee, and what it carries."""
FUNCTION_OF_CALLEE: Final = "*function"
"""The same for the function alone."""

LOCALS_READERS: Final = frozenset({"locals", "vars", "dir", "eval", "exec"})
"""Builtins that read the variables of the function that calls them, where temporaries must not be."""


IF_CONTEXT: Final = "@if_context"
"""The active context, in a function whose branches are converted (`passes.if_conversion`)."""


def converted(number: int) -> str:
    """A value or a decision, in a function whose branches are converted."""
    return f"@if_{number}"


def context(level: int) -> str:
    """The context at a level of the stack."""
    return f"@c{level}"


def callee(depth: int) -> str:
    """The callee of a call. `depth` is how deeply events nest in its operands, here and below."""
    return f"@f{depth}"


def kind_of_callee(depth: int) -> str:
    """The type of the callee of a call, and then whether it is of the usual kinds (see `forms.inlined`)."""
    return f"@k{depth}"


def function_of_callee(depth: int) -> str:
    """The function of a callee that is of another kind."""
    return f"@q{depth}"


def is_bound(depth: int) -> str:
    """Whether the callee of a call is a bound method."""
    return f"@m{depth}"


def arguments(depth: int) -> str:
    """The arguments of a call; `part` names each of them."""
    return f"@a{depth}"


def operands(depth: int, suffix: str) -> str:
    """The operands of an operation; `part` names each of them."""
    return f"@o{depth}{suffix}"


def part(name: str, number: int) -> str:
    """One of several temporaries."""
    return f"{name}_{number}"


def result(depth: int, suffix: str = "") -> str:
    """The result of an event."""
    return f"@r{depth}{suffix}"


def middle(depth: int, number: int) -> str:
    """An operand in the middle of a chain of comparisons."""
    return f"@m{depth}_{number}"


def deciding(depth: int) -> str:
    """The operand that decides over an ``and`` or ``or``."""
    return f"@b{depth}"


EPOCH: Final = "@d"
"""The epoch in which this frame has carried out an event (see `forms.untagged`)."""
STEP: Final = "@e"


def deep(depth: int) -> str:
    """A part of an expression that nests too deeply for the compiler."""
    return f"@x{depth}"


def step(number: int) -> str:
    """The value of a step of a statement."""
    return f"{STEP}{number}"


RETURNED_VALUE: Final = "@q"
"""What is returned, until the code has run that runs after `return` (see `forms.tagged`)."""
UNPACKED: Final = "@u"
"""What an assignment is about to unpack, or the item of a loop that it unpacks."""


def iterator(line: int, column: int) -> str:
    """The iterator of the loop at a place: loops nest, and one may run in the block of another."""
    return f"@l{line}_{column}"


def unpacked(depth: int, number: int) -> str:
    """A part of what is unpacked, until it is stored."""
    return f"@u{depth}_{number}"


def slot(level: int) -> str:
    """The context that replaces `contextslot()`, in a function that can be suspended."""
    return f"@slot{level}"


def is_numbered_temporary(name: str) -> bool:
    """Whether a name is that of a temporary with a number; names that the runtime provides have none there."""
    return name[2:3].isdigit()
