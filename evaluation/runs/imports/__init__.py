"""Import model answers that were collected elsewhere, from files into the database.

The manner is that of `annotations.exchange.importing`, whose stages are used: one transaction,
all or nothing, nothing overwritten, the same file again changes nothing.
"""

from evaluation.runs.imports.model_answers import import_model_answers

__all__ = ["import_model_answers"]
