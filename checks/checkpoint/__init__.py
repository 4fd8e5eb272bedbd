"""`checkpoint`: whether a model's files are whole, told from their sizes; nothing is loaded."""
