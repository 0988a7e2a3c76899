"""Extract all facts (numbers, dates, names) from the answers to a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evaluation.grading.facts.texts.names import Lexicon
from evaluation.grading.facts.texts.numbers import WORDS
from evaluation.grading.facts.texts.quantities import Dated, Quantity, parse_quantities
from evaluation.grading.facts.texts.slots import Asked, build_facts, choose_main_unit
from evaluation.grading.facts.texts.stated import NAME, Stated
from evaluation.grading.facts.texts.tokens import Token, tokenise
from evaluation.grading.facts.texts.years import MONTHS

# A text without any of these has neither a number nor a date: it is not looked at for them.
_NUMERIC = re.compile(
    r"[\d½¼¾⅓⅔⅛]|\b(?:"
    + "|".join((*WORDS, "half", "quarter", "centur", *(month[:3] for month in MONTHS)))
    + ")",
    re.IGNORECASE,
)


class Reader:
    """Extracts facts from answers by rules; it learns names from all texts of a run.

    Parameters
    ----------
    texts : all answers of the run.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.names = Lexicon(map(tokenise, texts))

    def read(self, question: str, texts: Sequence[str]) -> list[list[Stated]]:
        """Return the facts of each answer to a question, without those the question states.

        Parameters
        ----------
        question : its text, "" where nobody knows. texts : the answers.
        """
        asked = Asked.from_question(question)
        question_tokens, *answers = [tokenise(text) for text in (question, *texts)]
        question_quantities, *answer_quantities = [
            _parse_text(text, tokens, asked)
            for text, tokens in zip((question, *texts), (question_tokens, *answers), strict=True)
        ]
        unit = choose_main_unit(
            asked,
            (one for quantities_of_answer in answer_quantities for one in quantities_of_answer),
        )
        question_facts = [
            *build_facts(question_tokens, question_quantities, unit),
            *self._find_names(question_tokens),
        ]
        return [
            [
                one
                for one in (
                    *build_facts(tokens, quantities_of_answer, unit),
                    *self._find_names(tokens),
                )
                if not any(one.fits(other) for other in question_facts)
            ]
            for tokens, quantities_of_answer in zip(answers, answer_quantities, strict=True)
        ]

    def _find_names(self, tokens: Sequence[Token]) -> list[Stated]:
        """Return the names in a text as facts, each once, with all its positions."""
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


def _parse_text(text: str, tokens: Sequence[Token], question: Asked) -> list[Quantity | Dated]:
    """Return the quantities and dates in a text; `question` says whether it asks for a number."""
    if not _NUMERIC.search(text):
        return []
    return list(parse_quantities(tokens, question.counts))
