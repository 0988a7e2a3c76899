"""Facts that a text states: numbers with their units, years, rates, names.

A fact has a slot, which says what it is about as far as it can be told without understanding the
sentence ("year", "length", "people"), and a value. English words, and figures in any language; what
is said in other words is not read.
"""

from evaluation.grading.facts.texts.reading import Reader
from evaluation.grading.facts.texts.slots import NUMBER, Asked
from evaluation.grading.facts.texts.stated import NAME, Stated

__all__ = ["NAME", "NUMBER", "Asked", "Reader", "Stated"]
