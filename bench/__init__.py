"""Measures speed and memory against what a user would pick instead, side by side in one run."""
