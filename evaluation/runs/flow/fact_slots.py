"""Define the names of facts that no text states."""

# The slot of what an entailment model says of a whole answer.
MEANING = "meaning"
