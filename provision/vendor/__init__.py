"""Packages that a vendor hands out: what they are called, where they lie, what shows them."""
