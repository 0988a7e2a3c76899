"""Extract all facts from the answers to a question.

Record of one fact that a text states, such as a year, a length or a name. Build facts from
quantities: the kind of fact ("slot") and its value in base units.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from evaluation.grading.facts.texts.names import Lexicon, WordCounts
from evaluation.grading.facts.texts.numbers import (
    MONTHS,
    WORDS,
    Token,
    collect_stems,
    find_clause,
    tokenise,
)
from evaluation.grading.facts.texts.quantities import DateInText, Quantity, parse_quantities
from evaluation.grading.facts.texts.units import BY_WORD, DURATION, EXACT, Unit, find_rate

NAME = "name"


@dataclass(frozen=True, slots=True)
class TextFact:
    """A fact that a text states: its kind ("slot"), its value or range, and its positions.

    Attributes
    ----------
    slot : kind of fact: "year", "length", "number", "dollars per duration", "name".
    low, high : ends of the value's interval in the slot's base unit, both included; 0 for a name,
        which `key` identifies.
    shown : the value as text for readers. spans : (start, end) positions in the text.
    bound : 1 for "at least", -1 for "at most", else 0.
    key : key of a name, "" for a number. context : word stems of the clause around the value.
    """

    slot: str
    low: float
    high: float
    shown: str
    spans: tuple[tuple[int, int], ...]
    bound: int = 0
    key: str = ""
    context: frozenset[str] = frozenset()

    def is_compatible(self, other: TextFact) -> bool:
        """Return whether two facts may be the same value of the same kind."""
        return (
            self.slot == other.slot
            and self.key == other.key
            and self.low <= other.high
            and other.low <= self.high
        )


# There is no slot for negation: on real students such flags were no better than chance.
NUMBER, YEAR = "number", "year"
# Part of its value by which two tellings of a measure may differ.
MEASURE = 0.005
_HOW_MANY = re.compile(
    r"\bhow (?:many|much|long|far|old|tall|high|deep|wide|big|large|heavy|fast|hot|cold|often)\b"
    r"|\b(?:number|percentage|percent|proportion|population|amount|quantity|cost|price) of\b",
    re.IGNORECASE,
)
_WHEN = re.compile(r"\b(?:when|what year|which year|what date|in what year)\b", re.IGNORECASE)
_WHO = re.compile(r"\b(?:who|whom|whose|where|which)\b", re.IGNORECASE)
_NAMED_UNIT = re.compile(r"\b(?:how many|in|number of|how much) (\w+)", re.IGNORECASE)
_SHARE = re.compile(r"\b(?:percent|percentage|proportion|per cent)\b", re.IGNORECASE)


@dataclass(frozen=True)
class QuestionRequest:
    """The kind of answer that a question's wording asks for: a number, a name or a unit.

    Attributes
    ----------
    counts : whether it asks for a number, so that 1500 is no year. names : whether it asks who,
        where or which.
    unit : the unit that it asks for; None if it names none.
    """

    counts: bool
    names: bool
    unit: Unit | None

    @classmethod
    def from_question(cls, question: str) -> QuestionRequest:
        """Return the kind of answer that a question's wording asks for; none for an empty text."""
        counts = bool(_HOW_MANY.search(question)) and not _WHEN.search(question)
        unit = BY_WORD["percent"] if _SHARE.search(question) else None
        for match in _NAMED_UNIT.finditer(question) if unit is None else ():
            unit = unit or BY_WORD.get(match[1].lower())
        if unit is not None and unit.dimension == DURATION and not counts:
            unit = None  # "in seconds" may be asked for; "in years past" is not
        return cls(counts, bool(_WHO.search(question)), unit)


def choose_main_unit(
    request: QuestionRequest, quantities: Iterable[Quantity | DateInText]
) -> Unit | None:
    """Return the unit of numbers without one: the question's, or the answers' most frequent one.

    The most frequent unit of the answers counts only if it is more frequent than numbers without a
    unit; otherwise None.
    """
    if request.unit is not None:
        return request.unit
    units: Counter[Unit | None] = Counter(
        quantity.unit
        for quantity in quantities
        if isinstance(quantity, Quantity) and quantity.rate is None
    )
    n_without_unit = units.pop(None, 0)
    if not units:
        return None
    unit, count = units.most_common(1)[0]
    return unit if count > n_without_unit else None


def build_facts(
    tokens: Sequence[Token], quantities: Sequence[Quantity | DateInText], unit: Unit | None
) -> list[TextFact]:
    """Return the facts in the quantities of a text, each once.

    Parameters
    ----------
    quantities : quantities in the text. unit : unit to assume for numbers that have neither a unit
        nor a counted noun; None to assume none.
    """
    facts: list[TextFact] = []
    for quantity in quantities:
        fact = (
            _build_date_fact(tokens, quantity)
            if isinstance(quantity, DateInText)
            else _build_measured_fact(tokens, quantity, unit)
        )
        if not any(fact.is_compatible(other) for other in facts):
            facts.append(fact)
    return facts


def _build_date_fact(tokens: Sequence[Token], dated: DateInText) -> TextFact:
    """Return a year, a range of years or a month as a fact."""
    low, high = float(dated.low), float(dated.high)
    text = f"about {dated.shown}" if dated.about else dated.shown
    if dated.about and low == high and dated.slot == YEAR:
        reach = 5.0 if dated.low % 10 == 0 else 1.0
        low, high = low - reach, high + reach
    return TextFact(
        dated.slot,
        low,
        high,
        _add_bound(text, dated.bound),
        _find_span(tokens, dated),
        dated.bound,
        context=_collect_context(tokens, dated),
    )


def _build_measured_fact(
    tokens: Sequence[Token], quantity: Quantity, main: Unit | None
) -> TextFact:
    """Return a measure or count as a fact, with its value in base units."""
    unit, text = quantity.unit, quantity.shown
    if unit is None and main is not None and not quantity.noun and quantity.rate is None:
        unit, text = main, f"{text} {main.symbol}"
    rate = quantity.rate
    begin, end = find_clause(tokens, quantity.begin)
    if rate is None:
        rate = find_rate(tokens, begin, quantity.begin) or find_rate(tokens, quantity.end, end)
        if rate is not None:
            text = f"{text} per {rate.unit.singular}"
    low, high = quantity.low, quantity.high
    if quantity.about:
        low, high = low - quantity.place / 2, high + quantity.place / 2
        text = f"about {text}"
    slot = NUMBER
    if unit is not None:
        low, high = low - abs(low) * MEASURE / 2, high + abs(high) * MEASURE / 2
        low, high, slot = unit.convert_to_base(low), unit.convert_to_base(high), unit.dimension
    if rate is not None:
        low, high = low / rate.unit.factor, high / rate.unit.factor
        slot = f"{slot} per {rate.unit.dimension}"
    return TextFact(
        slot,
        low,
        high,
        _add_bound(text, quantity.bound),
        _find_span(tokens, quantity),
        quantity.bound,
        # Cut to the 5 letters of a stem, as the rest of the context is.
        context=collect_stems(tokens, begin, end)
        | ({quantity.noun[:5]} if quantity.noun else set()),
    )


def _add_bound(text: str, bound: int) -> str:
    """Return a value as text, preceded by "at least" or "at most" if it is a bound."""
    return text if bound == EXACT else f"{'at least' if bound > 0 else 'at most'} {text}"


def _find_span(
    tokens: Sequence[Token], quantity: Quantity | DateInText
) -> tuple[tuple[int, int], ...]:
    """Return the position of a quantity in the text, as one pair (start, end) of characters."""
    return ((tokens[quantity.begin].start, tokens[quantity.end - 1].end),)


def _collect_context(tokens: Sequence[Token], dated: DateInText) -> frozenset[str]:
    """Return the stems of the words in the clause around a date."""
    return collect_stems(tokens, *find_clause(tokens, dated.begin))


# A text without any of these has neither a number nor a date: it is not looked at for them.
_NUMERIC = re.compile(
    r"[\d½¼¾⅓⅔⅛]|\b(?:"
    + "|".join((*WORDS, "half", "quarter", "centur", *(month[:3] for month in MONTHS)))
    + ")",
    re.IGNORECASE,
)


class FactReader:
    """Extracts facts from answers by rules; it learns names from all texts of a run.

    Parameters
    ----------
    texts : all answers of the run. known : counts of the words of further answers.
    """

    def __init__(self, texts: Iterable[str], known: WordCounts | None = None) -> None:
        self.names = Lexicon(map(tokenise, texts), known)

    def read_facts(
        self, question: str, texts: Sequence[str], unit: Unit | None = None
    ) -> list[list[TextFact]]:
        """Return the facts of each answer to a question, except facts that the question states.

        Parameters
        ----------
        question : its text, "" if unknown. texts : the answers.
        unit : of numbers without a unit; None to choose it by these answers.
        """
        request = QuestionRequest.from_question(question)
        question_tokens, *answers = [tokenise(text) for text in (question, *texts)]
        question_quantities, *answer_quantities = [
            _parse_text(text, tokens, request)
            for text, tokens in zip((question, *texts), (question_tokens, *answers), strict=True)
        ]
        unit = unit or choose_main_unit(request, chain.from_iterable(answer_quantities))
        question_facts = [
            *build_facts(question_tokens, question_quantities, unit),
            *self._find_names(question_tokens),
        ]
        return [
            [
                stated
                for stated in (
                    *build_facts(tokens, quantities_of_answer, unit),
                    *self._find_names(tokens),
                )
                if not any(stated.is_compatible(other) for other in question_facts)
            ]
            for tokens, quantities_of_answer in zip(answers, answer_quantities, strict=True)
        ]

    @staticmethod
    def find_default_unit(question: str, texts: Sequence[str]) -> Unit | None:
        """Return the unit of numbers without one, in answers to a question; None for none."""
        request = QuestionRequest.from_question(question)
        quantities = (_parse_text(text, tokenise(text), request) for text in texts)
        return choose_main_unit(request, chain.from_iterable(quantities))

    def _find_names(self, tokens: Sequence[Token]) -> list[TextFact]:
        """Return the names in a text as facts, each once, with all its positions."""
        places: dict[str, list[Token]] = {}
        for position, key in self.names.iterate_names(tokens):
            places.setdefault(key, []).append(tokens[position])
        return [
            TextFact(
                NAME,
                0.0,
                0.0,
                found[0].text,
                tuple((token.start, token.end) for token in found),
                key=key,
            )
            for key, found in places.items()
        ]


def _parse_text(
    text: str, tokens: Sequence[Token], question: QuestionRequest
) -> list[Quantity | DateInText]:
    """Return the quantities and dates in a text, read as answers to the question's request."""
    if not _NUMERIC.search(text):
        return []
    return list(parse_quantities(tokens, question.counts))
