"""Answers and history of language models as plain records."""
