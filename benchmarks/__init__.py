"""What a running program costs, in every state it can be in: see `compare.py`."""
