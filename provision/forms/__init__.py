"""What a target is made by, in the forms of other tools: texts, written without a look at this
machine, so that the same stack gives the same bytes everywhere."""
