"""Name the kind of fact that no text states: an entailment model's judgement of an answer."""

# The slot of what an entailment model says of a whole answer.
MEANING = "meaning"
