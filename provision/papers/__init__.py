"""What goes with a wheel: how it was made, and what is in it."""
