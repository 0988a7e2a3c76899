"""All facts that the answers to a question state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evaluation.grading.facts.texts.names import Lexicon
from evaluation.grading.facts.texts.numbers import WORDS
from evaluation.grading.facts.texts.quantities import Dated, Quantity, quantities
from evaluation.grading.facts.texts.slots import Asked, main_unit, stated
from evaluation.grading.facts.texts.stated import NAME, Stated
from evaluation.grading.facts.texts.tokens import Token, tokens_of
from evaluation.grading.facts.texts.years import MONTHS

# A text without any of these has neither a number nor a date: it is not looked at for them.
_NUMERIC = re.compile(
    r"[\d½¼¾⅓⅔⅛]|\b(?:"
    + "|".join((*WORDS, "half", "quarter", "centur", *(month[:3] for month in MONTHS)))
    + ")",
    re.IGNORECASE,
)


class Reader:
    """Reads the facts that answers state; it learns names from all texts of a run.

    Parameters
    ----------
    texts : all answers of the run.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.names = Lexicon(map(tokens_of, texts))

    def read(self, question: str, texts: Sequence[str]) -> list[list[Stated]]:
        """Return the facts that each answer to a question states, without what it states itself.

        Parameters
        ----------
        question : its text, "" where nobody knows. texts : the answers.
        """
        asked = Asked.of(question)
        given, *answers = [tokens_of(text) for text in (question, *texts)]
        told, *found = [
            _told(text, tokens, asked)
            for text, tokens in zip((question, *texts), (given, *answers), strict=True)
        ]
        unit = main_unit(asked, (one for each in found for one in each))
        known = [*stated(given, told, unit), *self._named(given)]
        return [
            [
                one
                for one in (*stated(tokens, each, unit), *self._named(tokens))
                if not any(one.fits(other) for other in known)
            ]
            for tokens, each in zip(answers, found, strict=True)
        ]

    def _named(self, tokens: Sequence[Token]) -> list[Stated]:
        """Return the names of a text, each once, with all its places."""
        places: dict[str, list[Token]] = {}
        for at, key in self.names.read(tokens):
            places.setdefault(key, []).append(tokens[at])
        return [
            Stated(
                NAME,
                0.0,
                0.0,
                found[0].text,
                tuple((token.start, token.end) for token in found),
                key=key,
            )
            for key, found in places.items()
        ]


def _told(text: str, tokens: Sequence[Token], asked: Asked) -> list[Quantity | Dated]:
    if not _NUMERIC.search(text):
        return []
    return list(quantities(tokens, asked.counts))
