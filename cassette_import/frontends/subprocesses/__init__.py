"""The child processes of `run --subprocesses`: how they join the run, and how their results reach the first process."""
