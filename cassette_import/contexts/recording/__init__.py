"""The contexts `Record` and `Replay`, and the file between them.

Knows external calls, their results, and threads and tasks; must not know programs, pytest or the command line.
"""
