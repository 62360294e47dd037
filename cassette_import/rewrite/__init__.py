"""AST to AST. Pure: no state, no imports from the floors above; can be understood, tested and fuzzed alone."""
