"""Says whether it is so: doctor and the smoke tests."""
