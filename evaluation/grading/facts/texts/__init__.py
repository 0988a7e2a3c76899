"""Extraction of facts from a text: numbers with their units, years, rates, names.

A fact has a slot, which names its subject as far as its words show ("year", "length",
"people"), and a value. English words, and figures in any language; other words are not read.
"""

from evaluation.grading.facts.texts.reading import (
    NAME,
    NUMBER,
    FactReader,
    QuestionRequest,
    TextFact,
)

__all__ = ["NAME", "NUMBER", "FactReader", "QuestionRequest", "TextFact"]
