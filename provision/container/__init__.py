"""The place "container": one container for each target, made by the engine that is here."""
