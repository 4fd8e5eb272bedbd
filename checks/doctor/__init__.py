"""`doctor`: asks all questions about a machine, and tells, saves, compares and mends."""
