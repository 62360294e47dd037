"""What several tests need: processes, contexts that count, comparisons."""
