"""Small programs whose `main()` returns what it observes.

Each file has a table from a sentence about the observed behaviour to the source text of a program. `main()`
returns a value whose `repr` is complete and has no addresses, or raises.
Those in `tools_*.py` use tools of the standard library on themselves; `tests/programs/test_tools.py` runs them.
"""
