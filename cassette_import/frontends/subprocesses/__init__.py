"""The child processes of `run --subprocesses`: how they join the run, and how their results reach the first process.

Knows how Python starts processes, and results; must not know the command line.
"""
