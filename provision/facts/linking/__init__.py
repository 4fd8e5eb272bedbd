"""How a shared library would link here: its ELF file, the loader's search, symbols and versions."""
