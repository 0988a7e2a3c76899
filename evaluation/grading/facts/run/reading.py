"""Facts read by a chat model: it names kinds of facts for a question, then reads each answer.

One conversation a question proposes the slots, one an answer returns slot, value and a quote as
JSON. A quote that does not stand in the answer letter by letter is refused with its fact; a reply
that is no such JSON is asked for once more. The vote on what was read is that of all facts. Nearest
in the literature: atomic self-consistency (Thirukovalluru et al., EMNLP 2024); FActScore (Min et
al., EMNLP 2023) decomposes alike but verifies against sources.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote as quoted

from annotations.exchange.records import AnswerStatus
from evaluation.flow.asking.plan import Item
from evaluation.flow.asking.reading import AnswerColumns, Ask, PromptWithReminder, read_replies
from evaluation.flow.fact_slots import MEANING
from evaluation.grading.facts.texts import Reader, Stated
from evaluation.grading.summary import ReadByModel
from evaluation.texts.matching import normalised, spaced

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
class Quoted:
    """A fact as a model gave it, whose quote stands in the answer from `start` on."""

    slot: str
    value: str
    quote: str
    start: int


@dataclass
class ModelReader:
    """What a model read in the answers to questions; called by `crowd_facts` for each question.

    Attributes
    ----------
    found : by question and text of an answer. about : what is said of the reading.
    """

    found: Mapping[tuple[Hashable, str], Sequence[Quoted]]
    about: ReadByModel

    def __call__(self, question: Any, texts: Sequence[str]) -> list[list[Stated]]:
        """Return the facts of each text; a slot is one of numbers where every value of it is."""
        each = [self.found.get((question, text), ()) for text in texts]
        numeric = _numeric([one for facts in each for one in facts])
        return [_distinct([_stated(one, numeric) for one in facts]) for facts in each]


@dataclass
class _Tally:
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, name: str, n: int = 1) -> None:
        self.counts[name] += n


def read_by_model(answers: AnswerColumns, ask: Ask, model: str = "") -> ModelReader:
    """Ask a model for the facts of answers with a text. What `ask` raises is let out.

    `ask` gets "slots" and "facts" as names of steps, and each once more with " again".
    """
    rows_of: dict[Any, list[int]] = defaultdict(list)
    for row, question in enumerate(answers.questions):
        rows_of[question].append(row)
    items = [_slots_item(answers, question, rows) for question, rows in rows_of.items()]
    named, again = read_replies(ask, "slots", SLOTS, items, slots_in, EMPTY)
    slots = {
        question: named[item.id, 0][0] or [] for question, item in zip(rows_of, items, strict=True)
    }
    wanted = [row for row, question in enumerate(answers.questions) if slots[question]]
    asked = [_facts_item(answers, row, slots[answers.questions[row]]) for row in wanted]
    read, more = read_replies(ask, "facts", FACTS, asked, facts_in, EMPTY)
    tally = _Tally()
    found: dict[tuple[Hashable, str], Sequence[Quoted]] = {}
    for row, item in zip(wanted, asked, strict=True):
        facts, why = read[item.id, 0]
        if facts is None:
            tally.add("errors" if why == AnswerStatus.ERROR.value else "unread")
            continue
        question, text = answers.questions[row], answers.texts[row]
        kept = _kept(facts, slots[question], text, tally)
        found[question, text] = kept
        tally.add("facts", len(kept))
    about = ReadByModel(
        model=model,
        prompts=PROMPTS,
        questions=len(rows_of),
        slots=sum(map(len, slots.values())),
        without_slots=sum(not one for one in slots.values()),
        answers=len(wanted),
        asked_again=again + more,
        **tally.counts,
    )
    return ModelReader(found, about)


def slots_in(reply: str) -> tuple[list[str] | None, str | None]:
    """Return the kinds of facts that a reply names, at most 5, or why there are none."""
    said, why = _listed(reply, "slots")
    if said is None:
        return None, why
    names = [spaced(one)[:SLOT_LETTERS].strip() for one in said if isinstance(one, str)]
    found = list(dict.fromkeys(one for one in names if one and one != MEANING))[:MOST_SLOTS]
    return (found, None) if found or not said else (None, NO_LIST)


def facts_in(reply: str) -> tuple[list[Mapping[str, str]] | None, str | None]:
    """Return the facts in a reply as they stand there, or why there are none; [] is said, too.

    A number as value is taken as its digits; an entry of another form makes the reply unreadable.
    """
    said, why = _listed(reply, "facts")
    if said is None:
        return None, why
    found: list[Mapping[str, str]] = []
    for one in said:
        if not isinstance(one, dict):
            return None, NO_LIST
        cells = {name: _text(one.get(name)) for name in ("slot", "value", "quote")}
        if not all(cells.values()):
            return None, NO_LIST
        found.append(cells)
    return found, None


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)


def _listed(reply: str, name: str) -> tuple[list[Any] | None, str | None]:
    """Return the list of that name in the first JSON object of a reply, or why there is none."""
    begin = reply.find("{")
    if begin < 0:
        return None, NO_JSON
    try:
        said, _ = json.JSONDecoder().raw_decode(reply[begin:])
    except (ValueError, RecursionError):
        return None, NO_JSON
    listed = said.get(name)
    return (listed, None) if isinstance(listed, list) else (None, NO_LIST)


def _kept(
    facts: Sequence[Mapping[str, str]], slots: Sequence[str], text: str, tally: _Tally
) -> list[Quoted]:
    """Return the facts of slots that were asked for whose quotes stand in the text."""
    kept = []
    for one in facts:
        slot = spaced(one["slot"])[:SLOT_LETTERS].strip()
        start = text.find(one["quote"]) if one["quote"].strip() else -1
        if slot not in slots:
            tally.add("other_slot")
        elif start < 0:
            tally.add("not_in_text")
        else:
            value = " ".join(one["value"].split())[:VALUE_LETTERS]
            kept.append(Quoted(slot, value, one["quote"], start))
    return kept


def _number_in(quote: str) -> Stated | None:
    """Return the one number, year or measure that a quote states; None for none or several."""
    found = Reader([]).read("", [quote])[0]
    return found[0] if len(found) == 1 else None


def _numeric(facts: Sequence[Quoted]) -> dict[str, dict[str, Stated]]:
    """Return, for slots whose quotes all state one number of one kind, these by quote."""
    by_slot: dict[str, dict[str, Stated | None]] = defaultdict(dict)
    for one in facts:
        by_slot[one.slot].setdefault(one.quote, _number_in(one.quote))
    found: dict[str, dict[str, Stated]] = {}
    for slot, told in by_slot.items():
        numbers = {quote: number for quote, number in told.items() if number is not None}
        if len(numbers) == len(told) and len({one.slot for one in numbers.values()}) == 1:
            found[slot] = numbers
    return found


def _stated(one: Quoted, numeric: Mapping[str, Mapping[str, Stated]]) -> Stated:
    """Return a fact to vote on: a number is what the quote says, whatever the model made of it."""
    spans = ((one.start, one.start + len(one.quote)),)
    number = numeric.get(one.slot, {}).get(one.quote)
    if number is None:
        return Stated(one.slot, 0.0, 0.0, one.value, spans, key=normalised(one.value))
    return Stated(one.slot, number.low, number.high, number.shown, spans, number.bound)


def _distinct(facts: Sequence[Stated]) -> list[Stated]:
    kept: list[Stated] = []
    for one in facts:
        if not any(one.fits(other) for other in kept):
            kept.append(one)
    return kept


def _slots_item(answers: AnswerColumns, question: Any, rows: Sequence[int]) -> Item:
    people = [row for row in rows if answers.people[row]] or rows
    texts = list(dict.fromkeys(" ".join(answers.texts[row].split()) for row in people))[:SHOWN]
    shown = "\n".join(f"- {text[:SHOWN_LETTERS]}" for text in texts)
    fields = {"question": answers.fields(rows[0])["question"], "answers": shown}
    return Item(f"slots/{quoted(str(question), ' ')}", SLOTS.messages(fields))


def _facts_item(answers: AnswerColumns, row: int, slots: Sequence[str]) -> Item:
    fields = {
        "question": answers.fields(row)["question"],
        "answer": answers.texts[row],
        "slots": ", ".join(slots),
    }
    return Item(f"facts/{answers.name(row)}", FACTS.messages(fields))
