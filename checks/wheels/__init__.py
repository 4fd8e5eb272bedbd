"""The audit of a wheel: what it is, whether it fits, and whether Paddle takes it."""
