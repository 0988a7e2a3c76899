"""The consensus of people, of language models and of both together, compared."""
