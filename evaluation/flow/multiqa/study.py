"""The study told once, over files and over the database: which wordings are asked, and of whom.

An adapter gives the items and lets models be asked; what it keeps of replies is its own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from annotations.exchange.records import AnswerStatus
from evaluation.flow.asking.plan import Item
from evaluation.flow.metrics import Exclusions
from evaluation.flow.multiqa import rewording
from evaluation.flow.multiqa.answering import messages
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.rewording import Checker, Rewording

FEWER = "fewer_rewordings"
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
    for attempt in range(1, rewording.MOST_TRIES + 1):
        waiting = checker.lacking()
        if not waiting or not checker.count:
            break
        names = {f"{ids[one]}|reword|{attempt}": one for one in waiting}
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


def _known(found: Sequence[Rewording], item: int) -> list[str]:
    """Return what the rewriter said of an item already."""
    return list(dict.fromkeys(one.text for one in found if one.item == item))


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
