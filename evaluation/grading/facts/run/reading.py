"""Records of facts and verdicts, and facts that a chat model extracts.

Ids are those of the input: names of a file, or primary keys.

Extract facts by a chat model: it names a question's kinds of facts, then reads answers.

One request a question proposes the slots; one an answer returns slot, value and a quote as JSON. A
fact is refused if its quote is not in the answer, letter by letter; a reply that is no such JSON is
requested once more. The vote is that of all facts. Nearest in the literature: atomic
self-consistency (Thirukovalluru et al., EMNLP 2024); FActScore (Min et al., EMNLP 2023) decomposes
alike but verifies against sources.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote as quoted

from annotations.exchange.records import AnswerStatus
from evaluation.core.text.matching import fold_spaces, normalise
from evaluation.grading.facts.methods import Agreement, State, Verdict, compute_agreement
from evaluation.grading.facts.texts import Reader, Stated
from evaluation.grading.summary import FactTotals, MeaningCounts, ReadByModel
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.asking.reading import (
    AnswerColumns,
    Ask,
    PromptWithReminder,
    ask_and_parse_replies,
)
from evaluation.runs.flow.stored import MEANING

WORKER, MODEL = "worker", "model"
NO_SHARED_SLOT, LONG_ANSWERS = "no_shared_slot", "long_answers"


@dataclass(frozen=True, slots=True)
class CrowdFact:
    """A row of facts.csv: a value that workers state on a question, and the number who do.

    Attributes
    ----------
    slot, value : in words for readers, such as "duration" and "12 h 25 min".
    mentions : workers who state a fitting value, out of the `of` who state the slot.
    """

    question: Any
    slot: str
    value: str
    mentions: int
    of: int
    state: State


@dataclass(frozen=True, slots=True)
class AnswerFact:
    """A row of answer_facts.csv: a value that an answer states or lacks, with the verdict.

    Attributes
    ----------
    kind : worker or model. name : id of the answer's author.
    value : the answer's value; for a missing value the crowd's.
    of : number of other workers who state the slot.
    key : key of the answer, as in `Answers` and `ModelAnswers`.
    mentions : number of these who state a fitting value.
    crowd, n_crowd : the agreed value that the answer agrees with, contradicts or lacks, and how
        many of the others state it; "" and 0 without one.
    spans : (start, end) positions of the value in the answer, in order; () for a missing value.
    """

    kind: str
    name: Any
    question: Any
    slot: str
    value: str
    verdict: Verdict
    of: int
    key: Any = None
    mentions: int = 0
    crowd: str = ""
    n_crowd: int = 0
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class CrowdFacts:
    """All facts of a run: the values that workers state, and verdicts on every answer.

    Attributes
    ----------
    crowd : stated values by question and slot, the most frequent first.
    answers : by question, then workers before models, in the order of their answers.
    questions : questions with facts, in the order of their first answer.
    silent : the other questions with a reason code: no_shared_slot (fewer than 60% of the answers
        state the same slot) or long_answers (the median answer has more than 20 words: for
        explanations the rules are not reliable).
    meaning : counts of an entailment model's verdicts, whose rows have the slot "meaning", on all
        questions; None without such a model.
    read_by : counts of a chat model's extraction; None if the rules extracted the facts.
    """

    crowd: Sequence[CrowdFact]
    answers: Sequence[AnswerFact]
    questions: Sequence[Any]
    silent: Mapping[Any, str]
    meaning: MeaningCounts | None = None
    read_by: ReadByModel | None = None

    @cached_property
    def agreements(self) -> Mapping[tuple[str, Any], Agreement]:
        """Share of facts that agree with the crowd, by (kind, name) of worker or model."""
        return compute_agreements(
            (answer.kind, answer.name, answer.verdict) for answer in self.answers
        )

    def agreement(self, kind: str, name: Any) -> Agreement:
        """Return a worker's or model's agreement with the crowd; 0 facts if none were judged."""
        return self.agreements.get((kind, name), compute_agreement(0, 0))


def compute_agreements(
    verdicts: Iterable[tuple[str, Any, str]],
) -> dict[tuple[str, Any], Agreement]:
    """Return the share of agreeing facts of each worker and model, by (kind, name)."""
    counts = Counter(verdicts)
    authors = dict.fromkeys((kind, name) for kind, name, _ in counts)
    return {
        (kind, name): compute_agreement(
            counts[kind, name, Verdict.AGREES], counts[kind, name, Verdict.CONTRADICTS]
        )
        for kind, name in authors
    }


def count_facts(facts: CrowdFacts) -> FactTotals:
    """Return the numbers of agreed and contested values, and of questions with facts."""
    states = Counter(fact.state for fact in facts.crowd if fact.slot != MEANING)
    return FactTotals(
        questions=len(facts.questions) + len(facts.silent),
        spoken=len(facts.questions),
        agreed=states[State.AGREED],
        contested=states[State.CONTESTED],
        silent=dict(Counter(facts.silent.values())),
        meaning=facts.meaning,
        read_by=facts.read_by,
    )


# Kinds of facts of a question, and answers that are shown to name them.
MOST_SLOTS, SHOWN = 5, 12
# Characters of an answer that is shown, of a slot's name, and of a value.
SHOWN_LETTERS, SLOT_LETTERS, VALUE_LETTERS = 300, 40, 200
NO_JSON, NO_LIST, EMPTY = "no_json", "no_list", "empty"

SLOTS = PromptWithReminder(
    "Answers to a question are to be compared fact by fact.\n\n"
    "Question: {question}\n\nSome of the answers:\n{answers}\n\n"
    "Which kinds of facts do most of these answers state? Name at most 5 kinds, each in one or two "
    "words, such as year, place or cause. Leave out what the question itself says. Reply with JSON "
    'and nothing else: {{"slots": ["..."]}}',
    'Reply with JSON and nothing else: {"slots": ["..."]}',
    ("question", "answers"),
)
FACTS = PromptWithReminder(
    "An answer to a question is read fact by fact.\n\n"
    "Question: {question}\n\nAnswer: {answer}\n\nKinds of facts: {slots}\n\n"
    "For each of these kinds that the answer states, give its value in a short standard form, and "
    "as a quote the words of the answer that say it, copied letter by letter. Leave out what the "
    "answer does not say. Reply with JSON and nothing else: "
    '{{"facts": [{{"slot": "...", "value": "...", "quote": "..."}}]}}',
    'Reply with JSON and nothing else: {"facts": [{"slot": "...", "value": "...", '
    '"quote": "..."}]}',
    ("question", "answer", "slots"),
)
PROMPTS = f"{SLOTS.hash[:12]}+{FACTS.hash[:12]}"


@dataclass(frozen=True)
class QuotedFact:
    """A fact that a chat model returned, with its quote and the quote's start in the answer."""

    slot: str
    value: str
    quote: str
    start: int


@dataclass
class ModelReader:
    """Facts that a chat model extracted, to pass to `find_crowd_facts` as `read_by`.

    Attributes
    ----------
    found : facts by (question, text of an answer). about : counts for the run's summary.
    """

    found: Mapping[tuple[Hashable, str], Sequence[QuotedFact]]
    about: ReadByModel

    def __call__(self, question: Any, texts: Sequence[str]) -> list[list[Stated]]:
        """Return the extracted facts of each of the answers `texts` to a question.

        A kind of fact whose quotes are all numbers becomes numeric.
        """
        each = [self.found.get((question, text), ()) for text in texts]
        numeric = _find_numeric_slots([fact for facts in each for fact in facts])
        return [_drop_repeated([_build_fact(fact, numeric) for fact in facts]) for facts in each]


@dataclass
class _Tally:
    """Counters by name, such as facts, errors and unread replies."""

    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, name: str, n: int = 1) -> None:
        """Add n to the counter `name`."""
        self.counts[name] += n


def extract_facts_by_model(answers: AnswerColumns, ask: Ask, model: str = "") -> ModelReader:
    """Return the facts of all answers, extracted by a chat model; raise what `ask` raises.

    `ask` gets "slots" and "facts" as names of steps, and each once more with " again".
    """
    rows_of: dict[Any, list[int]] = defaultdict(list)
    for row, question in enumerate(answers.questions):
        rows_of[question].append(row)
    items = [_build_slots_item(answers, question, rows) for question, rows in rows_of.items()]
    slot_replies, n_asked_again = ask_and_parse_replies(
        ask, "slots", SLOTS, items, parse_slots, EMPTY
    )
    slots = {
        question: slot_replies[item.id, 0][0] or []
        for question, item in zip(rows_of, items, strict=True)
    }
    rows_with_slots = [row for row, question in enumerate(answers.questions) if slots[question]]
    fact_items = [
        _build_facts_item(answers, row, slots[answers.questions[row]]) for row in rows_with_slots
    ]
    fact_replies, n_facts_asked_again = ask_and_parse_replies(
        ask, "facts", FACTS, fact_items, parse_facts, EMPTY
    )
    tally = _Tally()
    quoted_of: dict[tuple[Hashable, str], Sequence[QuotedFact]] = {}
    for row, item in zip(rows_with_slots, fact_items, strict=True):
        facts, why = fact_replies[item.id, 0]
        if facts is None:
            tally.add("errors" if why == AnswerStatus.ERROR.value else "unread")
            continue
        question, text = answers.questions[row], answers.texts[row]
        quoted_facts = _select_quoted_facts(facts, slots[question], text, tally)
        quoted_of[question, text] = quoted_facts
        tally.add("facts", len(quoted_facts))
    about = ReadByModel(
        model=model,
        prompts=PROMPTS,
        questions=len(rows_of),
        slots=sum(map(len, slots.values())),
        without_slots=sum(not slot for slot in slots.values()),
        answers=len(rows_with_slots),
        asked_again=n_asked_again + n_facts_asked_again,
        **tally.counts,
    )
    return ModelReader(quoted_of, about)


def parse_slots(reply: str) -> tuple[list[str] | None, str | None]:
    """Return the kinds of facts listed in a model's reply, or None and a reason code."""
    listed, why = _parse_list(reply, "slots")
    if listed is None:
        return None, why
    names = [fold_spaces(name)[:SLOT_LETTERS].strip() for name in listed if isinstance(name, str)]
    slots = list(dict.fromkeys(name for name in names if name and name != MEANING))[:MOST_SLOTS]
    return (slots, None) if slots or not listed else (None, NO_LIST)


def parse_facts(reply: str) -> tuple[list[Mapping[str, str]] | None, str | None]:
    """Return the facts listed in a model's reply, or None and a reason code.

    A number as value is taken as its digits; an entry of another form makes the reply unreadable.
    """
    listed, why = _parse_list(reply, "facts")
    if listed is None:
        return None, why
    facts: list[Mapping[str, str]] = []
    for one in listed:
        if not isinstance(one, dict):
            return None, NO_LIST
        cells = {name: _convert_to_text(one.get(name)) for name in ("slot", "value", "quote")}
        if not all(cells.values()):
            return None, NO_LIST
        facts.append(cells)
    return facts, None


def _convert_to_text(value: object) -> str:
    """Return a JSON string or number as text; "" for any other value."""
    # A bool is an int in Python, but true is no value of a fact.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)


def _parse_list(reply: str, name: str) -> tuple[list[Any] | None, str | None]:
    """Return the list `name` in the first JSON object of a reply, or None and a reason code."""
    begin = reply.find("{")
    if begin < 0:
        return None, NO_JSON
    try:
        # Models write words around the JSON: decoding stops at the brace that closes the first one.
        document, _ = json.JSONDecoder().raw_decode(reply[begin:])
    # Brackets nested without end exhaust the decoder's stack.
    except (ValueError, RecursionError):
        return None, NO_JSON
    listed = document.get(name)
    return (listed, None) if isinstance(listed, list) else (None, NO_LIST)


def _select_quoted_facts(
    facts: Sequence[Mapping[str, str]], slots: Sequence[str], text: str, tally: _Tally
) -> list[QuotedFact]:
    """Return the facts of the requested kinds whose quotes occur in the answer.

    The other facts are counted in `tally`.
    """
    quoted_facts = []
    for fact in facts:
        slot = fold_spaces(fact["slot"])[:SLOT_LETTERS].strip()
        start = text.find(fact["quote"]) if fact["quote"].strip() else -1
        if slot not in slots:
            tally.add("other_slot")
        elif start < 0:
            tally.add("not_in_text")
        else:
            value = " ".join(fact["value"].split())[:VALUE_LETTERS]
            quoted_facts.append(QuotedFact(slot, value, fact["quote"], start))
    return quoted_facts


def _read_number(quote: str) -> Stated | None:
    """Return the number, year or measure in a quote; None without exactly one."""
    facts = Reader([]).read("", [quote])[0]
    return facts[0] if len(facts) == 1 else None


def _find_numeric_slots(facts: Sequence[QuotedFact]) -> dict[str, dict[str, Stated]]:
    """Return, for kinds of facts whose quotes are all numbers, the number of each quote."""
    by_slot: dict[str, dict[str, Stated | None]] = defaultdict(dict)
    for fact in facts:
        by_slot[fact.slot].setdefault(fact.quote, _read_number(fact.quote))
    numbers_of_slot: dict[str, dict[str, Stated]] = {}
    for slot, numbers_of_quote in by_slot.items():
        numbers = {
            quote: number for quote, number in numbers_of_quote.items() if number is not None
        }
        if (
            len(numbers) == len(numbers_of_quote)
            and len({number.slot for number in numbers.values()}) == 1
        ):
            numbers_of_slot[slot] = numbers
    return numbers_of_slot


def _build_fact(quoted_fact: QuotedFact, numeric: Mapping[str, Mapping[str, Stated]]) -> Stated:
    """Return the fact to vote on; a number is taken from the quote, not from the model's value."""
    spans = ((quoted_fact.start, quoted_fact.start + len(quoted_fact.quote)),)
    number = numeric.get(quoted_fact.slot, {}).get(quoted_fact.quote)
    if number is None:
        return Stated(
            quoted_fact.slot, 0.0, 0.0, quoted_fact.value, spans, key=normalise(quoted_fact.value)
        )
    return Stated(quoted_fact.slot, number.low, number.high, number.shown, spans, number.bound)


def _drop_repeated(facts: Sequence[Stated]) -> list[Stated]:
    """Return the facts without those that are compatible with an earlier one."""
    distinct_facts: list[Stated] = []
    for fact in facts:
        if not any(fact.is_compatible(other) for other in distinct_facts):
            distinct_facts.append(fact)
    return distinct_facts


def _build_slots_item(answers: AnswerColumns, question: Any, rows: Sequence[int]) -> Item:
    """Return the request to a model for the kinds of facts of a question (up to 12 answers)."""
    people = [row for row in rows if answers.people[row]] or rows
    texts = list(dict.fromkeys(" ".join(answers.texts[row].split()) for row in people))[:SHOWN]
    excerpts = "\n".join(f"- {text[:SHOWN_LETTERS]}" for text in texts)
    fields = {"question": answers.build_prompt_fields(rows[0])["question"], "answers": excerpts}
    return Item(f"slots/{quoted(str(question), ' ')}", SLOTS.build_messages(fields))


def _build_facts_item(answers: AnswerColumns, row: int, slots: Sequence[str]) -> Item:
    """Return the request to a model for the facts of one answer, limited to given kinds."""
    fields = {
        "question": answers.build_prompt_fields(row)["question"],
        "answer": answers.texts[row],
        "slots": ", ".join(slots),
    }
    return Item(f"facts/{answers.build_answer_name(row)}", FACTS.build_messages(fields))
