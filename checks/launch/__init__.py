"""Starts the programs that verify a target with a model, as `images/TARGET/levels.toml` says."""
