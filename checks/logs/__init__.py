"""Reading logs: the catalogue of known failures, and the search for them in files of any size."""
