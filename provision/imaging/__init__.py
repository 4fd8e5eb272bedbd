"""Builds the image of a target with the container engine that is there."""
