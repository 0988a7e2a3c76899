"""REST parts that features share: finished runs, sentences of messages, conflicts, notes."""
