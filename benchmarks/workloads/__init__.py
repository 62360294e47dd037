"""Small programs of our own, each in another style.

Each module has `main()`: a few hundredths of a second of work, whose result is the same each time.
"""
