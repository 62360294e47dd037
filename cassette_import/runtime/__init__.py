"""What rewritten code calls while it runs: events, the meaning of rewritten syntax, tags, and what is active."""
