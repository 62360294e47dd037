"""How the untagged form asks whether events have to be carried out, and how it carries them out.

`EventsHere` is for bodies in which one variant is active from their entry to their end. `EventsAnywhere` is for bodies
that another context may resume: each event that is carried out looks up the active context, and results are claimed
only where a context that tags values is active.
"""

from __future__ import annotations

import ast

from cassette_import.rewriting import symbols
from cassette_import.rewriting.events import Events
from cassette_import.rewriting.trees.node_builder import At
from cassette_import.rewriting.variant_names import VariantNames


class EventsHere:
    """The events of one variant.

    Parameters
    ----------
    names:
        The names of the variant.
    """

    begins_epoch = symbols.BEGIN_EPOCH

    def __init__(self, names: VariantNames) -> None:
        self.names = names
        self.begun, self.plain = names.begun, names.plain

    def asked(self, at: At) -> ast.expr:
        """The test whether events have to be carried out."""
        return at.symbol(self.names.is_dispatched)

    def asked_of_metadata(self, at: At) -> ast.expr:
        """The test whether a value may have a wrapper to be taken off."""
        return self.asked(at)

    def over(self, at: At, kind: Events, callee: ast.expr) -> ast.expr:
        """What an event calls in place of its callee."""
        return at.call(at.symbol(self.names.overload(kind)), [callee])

    def claimed(self, at: At, name: str, claim: ast.expr) -> ast.expr:
        """What a variable holds when it is claimed."""
        return claim


class EventsAnywhere(EventsHere):
    """The events of whichever variant is active."""

    begins_epoch = symbols.EPOCH_ANYWHERE

    def __init__(self, names: VariantNames) -> None:
        super().__init__(names)
        self.begun, self.plain = names.resumed, names.plain_anywhere

    def asked(self, at: At) -> ast.expr:
        """The test whether events have to be carried out."""
        return at.put(ast.BoolOp(ast.And(), [self.asked_of_metadata(at), at.symbol(symbols.IS_ANY_ACTIVE)]))

    def asked_of_metadata(self, at: At) -> ast.expr:
        """The test whether a value may have a wrapper to be taken off, which it has outside of the context too."""
        return at.symbol(self.names.is_asked)

    def over(self, at: At, kind: Events, callee: ast.expr) -> ast.expr:
        """What an event calls in place of its callee."""
        return at.call(at.symbol(symbols.pick_anywhere(kind)), [callee])

    def claimed(self, at: At, name: str, claim: ast.expr) -> ast.expr:
        """What a variable holds when it is claimed."""
        return at.either(at.call(at.symbol(symbols.TAGS_HERE), []), claim, at.load(name))
