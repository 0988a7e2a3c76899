"""The study told once, over files and over the database: which wordings are asked, and of whom.

An adapter gives the items and lets models be asked; what it keeps of replies is its own affair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol

from annotations.exchange.records import AnswerStatus
from evaluation.flow.asking.plan import Item
from evaluation.flow.metrics import Exclusions
from evaluation.flow.multiqa import rewording
from evaluation.flow.multiqa.answering import messages
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.rewording import Checker, Rewording

FEWER = "fewer_rewordings"
ATTEMPTS = range(1, rewording.MOST_TRIES + 1)
# Rejected rewordings that are shown where none is kept.
SHOWN = 3
LONGEST_SHOWN = 160
NO_REWRITER_REPLY = "no_reply_of_the_rewriter"


class Said(Protocol):
    """A reply."""

    @property
    def answer(self) -> str:
        """Its text."""

    @property
    def status(self) -> AnswerStatus:
        """What came of asking."""


Ask = Callable[[Sequence[Item]], Mapping[tuple[str, int], Said]]


class Wording(NamedTuple):
    """A wording that is asked: the number of its item, 0 for the original, and the text."""

    item: int
    variant: int
    text: str

    def name(self, items: Sequence[MultiqaItem]) -> str:
        """Return the id of its conversation."""
        return f"{items[self.item].item}|{self.variant}"


def reworded(
    checker: Checker, ids: Sequence[str], ask: Ask, left_out: Exclusions
) -> list[Rewording]:
    """Ask the rewriter, one call an item, and twice more for those of which too few are kept.

    `ids` are those of the checker's questions. What `ask` raises is let out.
    """
    found: list[Rewording] = []
    for attempt in ATTEMPTS:
        waiting = checker.lacking()
        if not waiting or not checker.count:
            break
        names = {attempt_name(ids[one], attempt): one for one in waiting}
        conversations = [
            Item(
                name,
                rewording.messages(
                    checker.questions[one],
                    checker.count - len(checker.kept[one]),
                    _known(found, one),
                ),
            )
            for name, one in names.items()
        ]
        texts: list[tuple[int, str]] = []
        for (name, _), reply in ask(conversations).items():
            if reply.status is not AnswerStatus.TEXT:
                item = ids[names[name]]
                named = {"item": item, "attempt": attempt, "status": reply.status.value}
                left_out.add(NO_REWRITER_REPLY, named)
                continue
            texts += [(names[name], text) for text in rewording.parsed(reply.answer)]
        found += checker.check(texts, attempt)
    return found


def attempt_name(item: str, attempt: int) -> str:
    """Return the id of the conversation that asks for rewordings of an item."""
    return f"{item}|reword|{attempt}"


def _known(found: Sequence[Rewording], item: int) -> list[str]:
    """Return what the rewriter said of an item already."""
    return list(dict.fromkeys(one.text for one in found if one.item == item))


def is_unusable(found: Sequence[Rewording], left_out: Exclusions) -> bool:
    """Whether the rewriter was asked and none of its rewordings is kept."""
    asked = bool(found) or left_out.count(NO_REWRITER_REPLY) > 0
    return asked and not any(one.variant for one in found)


def rejected(
    found: Sequence[Rewording], ids: Sequence[str], left_out: Exclusions
) -> dict[str, Any]:
    """Return what was rejected, as the values of `run.no_usable_rewording`.

    `rewordings` in all, how many by `reasons`, replies without a text by status (`silent`), and
    three `examples`, of different reasons where there are so many.
    """
    by_reason: dict[str, list[Rewording]] = {}
    for one in found:
        by_reason.setdefault(one.reason or "", []).append(one)
    turns = zip_longest(*by_reason.values())
    examples = [one for turn in turns for one in turn if one is not None][:SHOWN]
    _, silent = left_out.found.get(NO_REWRITER_REPLY, (0, []))
    return {
        "rewordings": len(found),
        "reasons": {reason: len(many) for reason, many in by_reason.items()},
        "silent": dict(Counter(one["status"] for one in silent)),
        "examples": [
            {"question": ids[one.item], "text": one.text[:LONGEST_SHOWN], "reason": one.reason}
            for one in examples
        ],
    }


def fruitless(found: Sequence[Rewording], ids: Sequence[str]) -> set[str]:
    """Return the ids of the items of which no rewording is kept."""
    return set(ids) - {ids[one.item] for one in found if one.variant is not None}


def note_fewer(
    found: Sequence[Rewording], ids: Sequence[str], wanted: int, left_out: Exclusions
) -> None:
    """Note the items that have fewer rewordings than were asked for."""
    kept = [0] * len(ids)
    for one in found:
        kept[one.item] += one.variant is not None
    named = [
        {"item": name, "rewordings": count}
        for name, count in zip(ids, kept, strict=True)
        if count < wanted
    ]
    if named:
        left_out.add_all(FEWER, named)


def wordings_of(
    items: Sequence[MultiqaItem], asked: Sequence[int], found: Sequence[Rewording]
) -> list[Wording]:
    """Return all that is asked, the originals of all items first.

    `asked` are numbers of items; rewordings count within these.
    """
    originals = [Wording(number, 0, items[number].question) for number in asked]
    kept = sorted((one.item, one.variant, one.text) for one in found if one.variant is not None)
    return [*originals, *(Wording(asked[at], variant, text) for at, variant, text in kept)]


def conversations_of(items: Sequence[MultiqaItem], wordings: Sequence[Wording]) -> list[Item]:
    """Return a fresh conversation for each wording."""
    return [Item(one.name(items), messages(items[one.item], one.text)) for one in wordings]
