"""What the symbols of rewritten code mean: constants, and cells.

No namespace shows a symbol. A value that never changes is a constant of the code. The others are attributes of
*cells*, which are constants themselves: one cell has the flags, and each variant has one. Cells are modules, because
the interpreter reads attributes of modules fastest; no import finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CodeType, ModuleType
from typing import Any, Final

from cassette_import.interpreter.hidden_frames import hidden
from cassette_import.rewriting import symbols, variant_names

LATE: Final[dict[str, Callable[[], None]]] = {}
"""For symbols of modules that few processes need: functions that bind all symbols of the module."""


class _Constants(dict[str, Any]):
    """Binds symbols of late modules when they are needed."""

    def __missing__(self, symbol: str) -> Any:
        if symbol not in LATE:
            raise KeyError(symbol)
        LATE[symbol]()
        return self[symbol]


OBJECTS: Final[dict[str, Any]] = _Constants()
"""The constants of rewritten code, by their symbols; cells included."""

SYMBOLS: Final[dict[int, str]] = {}
"""The symbols of the constants, by their identities. All constants live as long as the process."""


@hidden
def _constant(symbol: str, value: Any) -> None:
    OBJECTS[symbol] = value
    SYMBOLS.setdefault(id(value), symbol)  # the first one: the module that defines another one may not be imported


def make_cell(symbol: str) -> dict[str, Any]:
    """Make the cell with a symbol; return its attributes. Copying or pickling it makes a reference to it."""
    cell = ModuleType(f"{__name__}:{symbol}")
    attributes = vars(cell)
    reference = _cell, (symbol,)
    attributes["__reduce_ex__"] = lambda _protocol: reference
    attributes["__deepcopy__"] = lambda _memo: cell
    _constant(symbol, cell)
    return attributes


def cell_attributes(cell: str) -> dict[str, Any]:
    """The attributes of the cell with a symbol."""
    found: dict[str, Any] = vars(OBJECTS[cell])
    return found


def _cell(symbol: str) -> ModuleType:
    """The cell with a symbol: what pickle calls for it."""
    if symbol not in OBJECTS:
        make_cell(symbol)  # of another process: it has no attributes
    cell: ModuleType = OBJECTS[symbol]
    return cell


FLAGS: Final = make_cell(variant_names.FLAGS)
"""What is true of the whole process at the moment, by symbol."""
FLAGS.update(
    {
        symbols.IS_ANY_ACTIVE: False,
        symbols.ONLY_ARGUMENT_FREE: True,
        symbols.METADATA_EXISTS: False,
        symbols.EPOCH: None,
    }
)


@hidden
def is_rewritten(code: CodeType) -> bool:
    """Whether code that may run has events, functions in it left out."""
    return not SYMBOLS.keys().isdisjoint(map(id, code.co_consts))


class Names:
    """The values of all symbols, as rewritten code finds them."""

    __slots__ = ()

    @hidden
    def __getitem__(self, symbol: str) -> Any:
        place = variant_names.place_of(symbol)
        return OBJECTS[symbol] if place is None else vars(OBJECTS[place[0]])[place[1]]

    @hidden
    def __setitem__(self, symbol: str, value: Any) -> None:
        place = variant_names.place_of(symbol)
        if place is None:
            _constant(symbol, value)
        else:
            vars(OBJECTS[place[0]])[place[1]] = value

    def __contains__(self, symbol: str) -> bool:
        place = variant_names.place_of(symbol)
        return symbol in OBJECTS or symbol in LATE if place is None else place[1] in vars(OBJECTS[place[0]])

    def update(self, values: Mapping[str, Any]) -> None:
        """Bind several symbols."""
        for symbol, value in values.items():
            self[symbol] = value


NAMES: Final = Names()
"""The values of all symbols. `state`, `bindings` (for `runtime.syntax`), the modules of `tagging` and `specialization`
that define symbols add them when they are imported."""
