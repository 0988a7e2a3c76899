"""Pages that compare language models."""
