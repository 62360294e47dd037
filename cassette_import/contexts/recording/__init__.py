"""The contexts `Record` and `Replay`, and the file between them."""
