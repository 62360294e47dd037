"""Quick forms of the overload `differentiate`: the derivatives of functions of one or two real numbers, as code.

Each function that is made here does for floats and integers whose only metadata is a derivative, or a node on the
tape, what `differentiate` does: the same operations in the same order, with no step between. It passes other arguments
to the overload.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any, Final

from cassette_import.contexts.autodiff.modes import Forward, Node, Reverse, differentiate
from cassette_import.contexts.autodiff.structures import is_number
from cassette_import.interpreter.hidden_frames import hidden, hide
from cassette_import.kits.events import ACTIVE, QuickSite, quick_form
from cassette_import.kits.numbers.overloads import NUMBERS
from cassette_import.kits.numbers.partials import sign_of_real
from cassette_import.kits.numbers.row import formula_of
from cassette_import.kits.numbers.table import row_of
from cassette_import.kits.tagging import Tagged, refresh_sometimes, token_of_module

__all__ = ["quick_derivative"]

_FLOATS: Final = SimpleNamespace(
    **{name: getattr(math, name) for name in ("sqrt", "exp", "exp2", "sin", "cos", "tan", "sinh", "cosh", "log")},
    sign=sign_of_real,
    unit=functools.partial(math.copysign, 1.0),
    scale=functools.partial(math.ldexp, 1.0),
    trunc=math.trunc,
    floor_quotient=operator.floordiv,
    power=operator.pow,
    log_of_base=lambda x, power: math.log(x),
)
"""The arithmetic of real numbers without metadata, in which partial derivatives are computed."""

_SYMBOLS: Final = {
    "add": "x + y", "sub": "x - y", "mul": "x * y", "truediv": "x / y", "mod": "x % y", "neg": "-x", "pos": "+x",
}  # fmt: skip
"""The expression of operators, by the name of their row."""


class _Mode:
    """One mode of differentiation, as text of code.

    The statements assign the metadata of a result to the name `made`; a pair consists of the expression of a partial
    derivative and the name of the metadata of an argument.
    """

    def __init__(self, kind: type, statements: str, pair: str, join: str) -> None:
        self.kind = kind
        """The type of the metadata of an argument."""
        self._statements = statements
        self._pair = pair
        self._join = join

    def statements(self, *pairs: tuple[str, str]) -> str:
        """The statements for an argument, or for two."""
        return self._statements.format(self._join.join(self._pair.format(*pair) for pair in pairs))


_FORWARD: Final = _Mode(float, "made = {}", "({}) * {}", " + ")
_REVERSE: Final = _Mode(
    Node,
    "pairs = [{}]; context = activation.contexts[level]; made = new(Node); made.number = next(context._numbers); "
    "made.pairs = pairs; context.tape.append(made)",
    "({}, {})",
    ", ",
)


@quick_form(differentiate)
def quick_derivative(site: QuickSite) -> Callable[..., Any] | None:
    """The quick form for one function; None for functions of complex numbers, or of any number of arguments."""
    row, kind = row_of(site.target), site.context_type
    if row is None or type(row.partials) is not tuple:
        return None
    partials = row.partials[:1] if getattr(row.partials[0], "__defaults__", None) else row.partials
    if len(partials) not in _TEMPLATES:
        return None
    if issubclass(kind, Forward) and kind.combine is Forward.combine:
        mode = _FORWARD
    elif issubclass(kind, Reverse) and kind.combine is Reverse.combine:
        mode = _REVERSE
    else:
        return None
    formulas = tuple(map(formula_of, partials))
    make, code = _compiled(mode, row.name, formulas, site.is_call)
    made: FunctionType = make(
        site.target, site.level, site.general, site.beside, _FLOATS, partials, mode.kind, kind.arrays
    )
    made.__code__ = code
    return made


_UNARY: Final = """
def make(function, level, general, beside, on, partials, kind, arrays):
    dx, = partials
    def quick({parameters}):
        {first}
        if type(given_x) is Tagged:
            x, metas = given_x._tagged_value, given_x._tagged_metas
            if len(metas) == 1 and (type(x) is float or type(x) is int):
                activation = get()
                own = activation.tags[level] if activation.tags else None
                of_x = metas.get(own)
                if type(of_x) is kind:
                    v = {value}
                    try:
                        {with_x}
                    except Exception:
                        return general({arguments})
                    {wrapped}
        elif type(given_x) is float or type(given_x) is int:
            {refresh}
            x = given_x
            return {value}
        return beside({arguments}) if concerns_others(arrays, given_x) else general({arguments})
    return quick
"""

_BINARY: Final = """
def make(function, level, general, beside, on, partials, kind, arrays):
    dx, dy = partials
    def quick({parameters}):
        {first}
        if type(given_x) is Tagged:
            x, metas = given_x._tagged_value, given_x._tagged_metas
            if len(metas) == 1 and (type(x) is float or type(x) is int):
                activation = get()
                own = activation.tags[level] if activation.tags else None
                of_x = metas.get(own)
                if type(of_x) is kind:
                    if type(given_y) is Tagged:
                        y, metas = given_y._tagged_value, given_y._tagged_metas
                        if len(metas) == 1 and (type(y) is float or type(y) is int):
                            of_y = metas.get(own)
                            if type(of_y) is kind:
                                v = {value}
                                {checked}
                                try:
                                    {with_both}
                                except Exception:
                                    return general({arguments})
                                {wrapped}
                    elif type(given_y) is float or type(given_y) is int:
                        y = given_y
                        v = {value}
                        {checked}
                        try:
                            {with_x}
                        except Exception:
                            return general({arguments})
                        {wrapped}
        elif type(given_x) is float or type(given_x) is int:
            if type(given_y) is Tagged:
                y, metas = given_y._tagged_value, given_y._tagged_metas
                if len(metas) == 1 and (type(y) is float or type(y) is int):
                    activation = get()
                    own = activation.tags[level] if activation.tags else None
                    of_y = metas.get(own)
                    if type(of_y) is kind:
                        x = given_x
                        v = {value}
                        {checked}
                        try:
                            {with_y}
                        except Exception:
                            return general({arguments})
                        {wrapped}
            elif type(given_y) is float or type(given_y) is int:
                {refresh}
                x, y = given_x, given_y
                return {value}
        return beside({arguments}) if concerns_others(arrays, given_x) else general({arguments})
    return quick
"""
"""Quick forms of functions of two arguments. All is in one function, because each call costs as much as the arithmetic.

A wrapper has metadata of one context alone if its dict has one item. It is made without `__init__`: where one of the
arguments is wrapped, it is known already that there is metadata. Where a partial derivative raises, the overload says
what it is."""

_TEMPLATES: Final = {1: _UNARY, 2: _BINARY}


@hidden
def _concerns_others(arrays: tuple[type, ...], *operands: Any) -> bool:
    """Whether an operand is an object of the program, for example, and neither a number nor an array."""
    found = False
    for operand in operands:
        bare = operand._tagged_value if type(operand) is Tagged else operand
        if issubclass(type(bare), arrays):
            return False
        found = found or (id(type(bare)) not in NUMBERS and not is_number(bare))
    return found


_NAMESPACE: Final[dict[str, Any]] = {
    "__name__": __name__, "Tagged": Tagged, "TOKEN": token_of_module(), "Node": Node, "new": object.__new__,
    "get": ACTIVE.get, "refresh_sometimes": refresh_sometimes, "missing": object(), "concerns_others": _concerns_others,
}  # fmt: skip
_WRAPPED: Final = (
    "result = new(Tagged); result._tagged_token = TOKEN; result._tagged_value = v; "
    "result._tagged_metas = {own: made}; return result"
)


@cache
def _compiled(
    mode: _Mode, name: str, formulas: tuple[str | None, ...], is_call: bool
) -> tuple[Callable[..., Any], CodeType]:
    """What makes a quick form, and the hidden code of what it makes."""
    names = "xy"[: len(formulas)]
    listed = ", ".join(names)
    slopes = [
        (formula or f"d{one}(on, v, {listed})", f"of_{one}") for one, formula in zip(names, formulas, strict=True)
    ]
    given = [f"given_{one}" for one in names]
    arguments = ", ".join(given)
    parameters = f"{arguments}, /"
    if is_call:
        arguments = f"*[one for one in ({arguments},) if one is not missing], *rest, **keywords"
        parameters = f"{', '.join(f'{one}=missing' for one in given)}, /, *rest, **keywords"
    source = _TEMPLATES[len(names)].format(
        parameters=parameters,
        arguments=arguments,
        first=f"if rest or keywords: return general({arguments})" if is_call else "",
        value=_SYMBOLS.get(name, f"function({listed})"),
        checked=f"if type(v) is complex: return general({arguments})" if name == "pow" else "",
        with_both=mode.statements(*slopes),
        with_x=mode.statements(slopes[0]),
        with_y=mode.statements(slopes[-1]),
        wrapped=_WRAPPED,
        refresh="refresh_sometimes()",
    )
    defined: dict[str, Any] = {}  # not the globals, which other threads use as well
    exec(compile(source, __file__, "exec"), _NAMESPACE, defined)
    make = defined["make"]
    (code,) = (const for const in make.__code__.co_consts if isinstance(const, CodeType))
    return make, hide(code)
