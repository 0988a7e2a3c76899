"""MAQA: sets of answers against sets of right ones, and how sure the model was of each."""
