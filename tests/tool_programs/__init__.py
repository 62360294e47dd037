"""Programs that use the tools of the standard library on themselves, in tables by subject.

Each defines `main()`, and what that gives or raises is compared; see `tests/test_tools.py`.
"""
