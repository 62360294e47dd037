"""This project's workloads: small programs, each in another style.

Each module has `main()`: a few hundredths of a second of work with a deterministic result.
"""
