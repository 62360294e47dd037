"""What several ready-made contexts need: options, targets, names of functions, reports and text."""
