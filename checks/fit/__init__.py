"""`fit`: whether a model fits into the memory of a target's cards, and what would make it fit."""
