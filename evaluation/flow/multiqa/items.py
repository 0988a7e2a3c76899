"""Items of a question-answering benchmark, and by which rule replies to them are judged."""

from __future__ import annotations

from dataclasses import dataclass

EXTRACTIVE, CHOICE, FREE = "extractive", "choice", "free"
KINDS = (EXTRACTIVE, CHOICE, FREE)

EXACT, LEVENSHTEIN, COSINE = "exact", "levenshtein", "cosine"
MATCHERS = (CHOICE, EXACT, LEVENSHTEIN, COSINE)
DEFAULT_MATCHERS = {EXTRACTIVE: EXACT, CHOICE: CHOICE, FREE: COSINE}


@dataclass(frozen=True, slots=True)
class MultiqaItem:
    """A question with its accepted answers.

    Attributes
    ----------
    item : its id. dataset : where it comes from, "" where nobody said.
    kind : extractive (the answer stands in `context`), choice or free.
    choices : of the kind choice. answers : accepted ones; of choices their texts or letters, and
        several mean that a reply has to name them all. Without any the item cannot be evaluated.
    matcher : one of `MATCHERS`.
    """

    item: str
    kind: str
    dataset: str
    context: str
    question: str
    choices: tuple[str, ...]
    answers: tuple[str, ...]
    matcher: str
