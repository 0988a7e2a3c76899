"""Questions with several right answers, made of yes/no questions and of lists that are there.

A composed question shows some yes/no questions (or statements) under letters, and asks which of
them are to be answered with yes (are true); its right answers are their letters. So commonsense
has questions with any number of right answers, one among them as the control.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

MOST_OPTIONS = len(ascii_uppercase)
ASKED = "To which of these questions is the answer yes? Reply with their letters."
STATED = "Which of these statements are true? Reply with their letters."
# So many right answers and more are many.
MANY = 8
SINGLE_ANSWER, FEW_ANSWERS, MANY_ANSWERS = "single", "few", "many"


@dataclass(frozen=True)
class YesNo:
    """A yes/no question and its answer; `statement` says the same as a sentence, "" without one."""

    question: str
    yes: bool
    statement: str = ""


@dataclass(frozen=True)
class Composed:
    """A composed question and its right answers, letters in order."""

    text: str
    answers: tuple[str, ...]


def compose(
    questions: Sequence[YesNo], options: int, fewest: int = 1, most: int = 0, seed: int = 0
) -> Iterator[Composed]:
    """Yield composed questions until what is left does not suffice for one more.

    Each yes/no question is in one of them at most. How many are true is drawn evenly from
    `fewest` to `most`, as far as there are enough true and false ones left; so are the order and
    which they are.

    Parameters
    ----------
    options : questions under letters, 2 to 26. fewest, most : true ones of a composed question, 1
        to `options`; `most` 0 for `options` - 1, so that one is false at least.

    Raises
    ------
    ValueError : bounds that do not fit each other.
    """
    most = most or max(1, options - 1)
    if not 2 <= options <= MOST_OPTIONS or not 1 <= fewest <= most <= options:
        raise ValueError("2 to 26 options, and 1 <= fewest <= most <= options")
    rng = random.Random(seed)  # noqa: S311
    piles = {truth: [one for one in questions if one.yes is truth] for truth in (True, False)}
    for pile in piles.values():
        rng.shuffle(pile)
    stated = all(one.statement for one in questions)
    while True:
        possible = [
            n
            for n in range(fewest, most + 1)
            if n <= len(piles[True]) and options - n <= len(piles[False])
        ]
        if not possible:
            return
        n_true = rng.choice(possible)
        chosen = [piles[True].pop() for _ in range(n_true)]
        chosen += [piles[False].pop() for _ in range(options - n_true)]
        rng.shuffle(chosen)
        lines = [
            f"{letter}) {one.statement if stated else one.question}"
            for letter, one in zip(ascii_uppercase, chosen, strict=False)
        ]
        right = [letter for letter, one in zip(ascii_uppercase, chosen, strict=False) if one.yes]
        yield Composed("\n".join([STATED if stated else ASKED, *lines]), tuple(right))


def size_of(n_answers: int) -> str:
    """Return whether a question has a single right answer, few, or many; "" for none."""
    if not n_answers:
        return ""
    if n_answers == 1:
        return SINGLE_ANSWER
    return FEW_ANSWERS if n_answers < MANY else MANY_ANSWERS
