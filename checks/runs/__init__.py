"""What the smoke tests found from run to run: kept, listed, compared."""
