"""The pass `if_conversion`: every place at which the values of lanes may decide differently calls the active context.

The converted function calls these methods of the context, and of the objects that they return:

- `choice(test, *variables)`, for the test of an `if`, a conditional expression, `and` and `or`. The result has `one()`,
  `two()` and `both`: whether the first or second side runs, or both, one after the other; `swap(*variables)` between
  them, `join(*variables)` after them, and `value(one, other)` for an expression.
- `unless(test)`, for the test of an `if` whose body raises; `raises()` before any other `raise` statement.
- `loop()`, which has `more()`, `goes(test, *variables)`, `items(iterable)`, `turn(*variables)`, `ends(*variables)`;
  `breaks`, `continues`, `again`, `ended`, `otherwise` and `over` for `break`, `continue`, the end of a turn, the `else`
  clause and the end; `alone()` before a jump out of a `try` or `with` statement.
- `frame()`, for a function with several `return` statements: `returns(value)`, `value`, `result()`, `alone()`.
- `alive()`: whether what follows a jump runs.
- `call(f, *arguments)`, `item(x, key)`, `text(*parts)`, `mod(x, y)`, `matmul(x, y)`, for calls, `x[key]`, f-strings,
  `x % y` and `x @ y`.
- `is_`, `is_not`, `contains`, `lacks`, `not_`, `subject`, for `is`, `in`, `not` and the subject of `match`.
- `none_class`, `true_class`, `false_class`: classes whose one instance is that object, and `lane_class`, the class of
  what stands for objects that differ between lanes, with the property `agreed`: patterns of `match` name them.
- `store_attribute`, `store_item`, `delete_attribute`, `delete_item`, `stores_global`, `augmented`, for stores.
- `stores_nonlocal(reader)` before a name of an enclosing function is bound; `caught()` and `leaving()` at the start of
  handlers and of `finally` clauses; `here()` and `still(here)` around `with` statements; `refuses(what)`.
- `special(value)` for what special methods return whose result C code checks; `imports(name, names, level)` first.
- `made(display)`, `bound(value, name)`, `unbound_mark()`; `iterated(iterable)` for what is unpacked, and for the
  iterables of comprehensions and of loops in generators.

The pass `loop_conversion` does the same, gives `loop` the iterable of a `for` loop, and calls `enters(*variables)`
before a loop and `again` after each turn. `choice` and `loop` get the names of the variables that `join` and `enters`
return, as `names`; the last one of a loop is its target, or empty.

`ConvertedCode` has all these methods, with the meaning that Python gives them: a context derives from it.
"""

from cassette_import.passes.if_conversion.conversion import if_conversion, loop_conversion
from cassette_import.passes.if_conversion.converted_code import ConvertedCode

__all__ = ["ConvertedCode", "if_conversion", "loop_conversion"]
