"""Makes a machine what a stack says: stack -> lock -> facts -> plan -> run."""
