"""What is asked about a machine: one question a file, in the order of `registry`."""
