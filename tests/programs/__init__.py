"""Programs that know nothing of contexts, and tests that run them plain and overdubbed."""
