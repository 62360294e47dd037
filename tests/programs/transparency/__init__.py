"""Small programs whose `main()` tells what it observes.

Each file has a table from a sentence that says what is observed to the source text of a program. `main()`
gives something with a `repr` that says it all (no addresses), or raises.
Those in `tools_*.py` use tools of the standard library on themselves; `tests/programs/test_tools.py` runs them.
"""
