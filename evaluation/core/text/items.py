"""Define questions of question-answering benchmarks, and the rules that judge replies."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.core.text.choices import Choices

EXTRACTIVE, CHOICE, FREE = "extractive", "choice", "free"
KINDS = (EXTRACTIVE, CHOICE, FREE)

EXACT, LEVENSHTEIN, COSINE = "exact", "levenshtein", "cosine"
MATCHERS = (CHOICE, EXACT, LEVENSHTEIN, COSINE)
DEFAULT_MATCHERS = {EXTRACTIVE: EXACT, CHOICE: CHOICE, FREE: COSINE}


@dataclass(frozen=True, slots=True)
class MultiqaItem:
    """A benchmark question with its accepted answers, choices, and rule to judge replies.

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


def find_accepted_choices(item: MultiqaItem, reader: Choices) -> frozenset[int]:
    """Return the indices of an item's accepted choices, given as texts or as letters.

    Raises
    ------
    ValueError : an accepted answer is none of the choices; the message is for people.
    """
    accepted: set[int] = set()
    for answer in item.answers:
        parsed = reader.read(answer)
        if parsed.fault is not None:
            raise ValueError(f"the accepted answer {answer[:60]!r} is none of the choices")
        accepted |= parsed.choices
    return frozenset(accepted)
