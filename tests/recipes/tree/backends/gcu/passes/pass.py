"""A pass."""
