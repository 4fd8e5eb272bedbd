"""Reading the machine: pure parsers (text -> value) and small collectors with a time limit."""
