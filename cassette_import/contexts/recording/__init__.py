"""`Record` and `Replay`."""
