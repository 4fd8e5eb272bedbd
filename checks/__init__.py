"""The commands: doctor and smoke say whether it is so; provision and its like make it so."""
