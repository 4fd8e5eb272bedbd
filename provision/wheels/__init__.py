"""Wheels of device plugins from their own sources, each by a recipe in `images/recipes/`."""
