"""What ready-made contexts are made of: numbers, calls, targets, options, reports and text."""
