"""Which prompt each reply of a file belongs to; what belongs to none is left out and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.exchange.reading.answers import cleaned
from annotations.exchange.reading.prompt_replies import GivenReply, Turn
from annotations.exchange.reading.prompts import PromptItem, PromptVariant
from annotations.exchange.records import AnswerStatus
from evaluation.flow.metrics import Exclusions

UNKNOWN_ITEM = "unknown_item"
UNKNOWN_LANGUAGE = "unknown_language"
UNKNOWN_VARIANT = "unknown_variant"
LANGUAGE_MISSING = "language_missing"
REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a system replied to one wording of an item.

    Attributes
    ----------
    place : of the wording among those of its item, from 0.
    prompt : as it was put to the system; `changed` says that this is not the file's, `note` why,
        where somebody said.
    text : the reply; of several turns the answers one after the other. "" without an answer.
    turns : all of them, the first one with `prompt`.
    """

    system: str
    item: str
    language: str
    place: int
    prompt: str
    text: str
    status: AnswerStatus
    turns: tuple[Turn, ...]
    changed: bool = False
    note: str = ""

    @property
    def answered(self) -> bool:
        """Whether there is an answer; an ERROR is neither an answer nor none."""
        return self.status is AnswerStatus.TEXT


class Numbering:
    """How a table counts the wordings of an item: from 0 or 1, within a language or in all.

    From 0 where any row says 0, else from 1. Within a language where every row fits, else over
    the languages of the item where more rows fit; a row fits where a wording of its language has
    its number.
    """

    def __init__(self, items: dict[str, PromptItem], replies: Sequence[GivenReply]) -> None:
        numbered = [one for one in replies if not one.turns and one.variant.isdecimal()]
        self.first = 0 if any(int(one.variant) == 0 for one in numbered) else 1
        known = [one for one in numbered if one.item in items]
        fits = {
            whole: sum(self._place(items[one.item], one, whole) is not None for one in known)
            for whole in (False, True)
        }
        self.whole_item = fits[True] > fits[False]

    def variant(self, item: PromptItem, reply: GivenReply) -> PromptVariant | None:
        """Return the wording that a row of a table means."""
        return self._place(item, reply, self.whole_item)

    def as_dict(self) -> dict[str, Any]:
        """Return what was found, for a summary."""
        return {"from": self.first, "within": "item" if self.whole_item else "language"}

    def _place(self, item: PromptItem, reply: GivenReply, whole: bool) -> PromptVariant | None:
        if not reply.variant.isdecimal():
            return None
        at = int(reply.variant) - self.first
        language = reply.language or _only_language(item)
        among = item.variants if whole else item.variants_in(language)
        if not 0 <= at < len(among) or (language and among[at].language != language):
            return None
        return among[at]


@dataclass(frozen=True)
class Matched:
    """The replies that belong to prompts, and how a table numbered them (None for a submission)."""

    replies: list[Reply]
    numbering: Numbering | None


def matched(
    items: Iterable[PromptItem], given: Sequence[GivenReply], exclusions: Exclusions
) -> Matched:
    """Find the prompt of each reply.

    In a submission a first turn whose question is a prompt of its item, blanks and case aside, is
    the reply to it; so is each later turn whose question is another prompt of the item, for the
    wordings of an item may stand in one list. Any other later turn goes on with the conversation.
    A first question that is no prompt was changed: it stands for the first wording, in the
    language of the submission, that nobody else replied to.

    Left out and counted: unknown_item, unknown_language (the item has no prompt in it),
    language_missing (it has several), unknown_variant, and repeated (the wording has a reply by
    this system already; the first one counts).
    """
    by_id = {item.id: item for item in items}
    tabled = [one for one in given if not one.turns]
    numbering = Numbering(by_id, tabled) if tabled else None
    found: dict[tuple[str, str, int], Reply] = {}
    changed: list[tuple[GivenReply, PromptItem]] = []
    for one in given:
        item = _item_of(by_id, one)
        if item is None:
            exclusions.add(UNKNOWN_ITEM, _named(one))
            continue
        if one.turns:
            for reply in _conversations(item, one):
                if reply is None:
                    changed.append((one, item))
                else:
                    _take(found, reply, one, exclusions)
            continue
        assert numbering is not None
        variant = numbering.variant(item, one)
        if variant is None:
            exclusions.add(_why(item, one), _named(one))
            continue
        _take(found, _tabled(item, variant, one), one, exclusions)
    for one, item in changed:
        _take_changed(found, one, item, exclusions)
    return Matched(list(found.values()), numbering)


def _item_of(items: dict[str, PromptItem], one: GivenReply) -> PromptItem | None:
    """Return the item; a JSON number means the only id of that number, "012" for 12."""
    if one.item in items or not one.number:
        return items.get(one.item)
    alike = [name for name in items if name.isdecimal() and int(name) == int(one.item)]
    return items[alike[0]] if len(alike) == 1 else None


def _only_language(item: PromptItem) -> str:
    return item.languages[0] if len(item.languages) == 1 else ""


def _why(item: PromptItem, one: GivenReply) -> str:
    if not one.language:
        return UNKNOWN_VARIANT if _only_language(item) else LANGUAGE_MISSING
    return UNKNOWN_VARIANT if one.language in item.languages else UNKNOWN_LANGUAGE


def _tabled(item: PromptItem, variant: PromptVariant, one: GivenReply) -> Reply:
    return Reply(
        one.system,
        item.id,
        variant.language,
        variant.place,
        variant.prompt,
        one.text,
        one.status,
        (Turn(variant.prompt, one.text),),
    )


def _conversations(item: PromptItem, one: GivenReply) -> Iterator[Reply | None]:
    """Yield the replies of an entry of a submission; None where its first question is no prompt."""
    starts = [at for at, turn in enumerate(one.turns) if _variant_of(item, one, turn) is not None]
    if not starts or starts[0] != 0:
        yield None
        if not starts:
            return
    for start, end in zip(starts, [*starts[1:], len(one.turns)], strict=True):
        turns = one.turns[start:end]
        variant = _variant_of(item, one, turns[0])
        assert variant is not None
        yield _conversation(item, variant, one, turns, changed=False)


def _variant_of(item: PromptItem, one: GivenReply, turn: Turn) -> PromptVariant | None:
    """Return the prompt that a turn puts.

    The very same text goes before one of other case and blanks, for wordings may differ in these
    alone, and one in the submission's language before another.
    """
    exact, folded = cleaned(turn.question), _folded(turn.question)
    alike = [variant for variant in item.variants if _folded(variant.prompt) == folded]
    alike.sort(key=lambda v: (cleaned(v.prompt) != exact, v.language != one.language))
    return alike[0] if alike else None


def _conversation(
    item: PromptItem,
    variant: PromptVariant,
    one: GivenReply,
    turns: Sequence[Turn],
    *,
    changed: bool,
) -> Reply:
    answers = [turn.answer for turn in turns if turn.answer]
    return Reply(
        one.system,
        item.id,
        variant.language,
        variant.place,
        turns[0].question,
        "\n\n".join(answers),
        AnswerStatus.TEXT if answers else AnswerStatus.EMPTY,
        tuple(turns),
        changed,
    )


def _take(
    found: dict[tuple[str, str, int], Reply], reply: Reply, one: GivenReply, exclusions: Exclusions
) -> None:
    key = (reply.system, reply.item, reply.place)
    if found.setdefault(key, reply) is not reply:
        exclusions.add(REPEATED, _named(one))


def _take_changed(
    found: dict[tuple[str, str, int], Reply],
    one: GivenReply,
    item: PromptItem,
    exclusions: Exclusions,
) -> None:
    language = one.language or _only_language(item)
    if language not in item.languages:
        exclusions.add(UNKNOWN_LANGUAGE if language else LANGUAGE_MISSING, _named(one))
        return
    free = (
        variant
        for variant in item.variants_in(language)
        if (one.system, item.id, variant.place) not in found
    )
    variant = next(free, None)
    if variant is None:
        exclusions.add(UNKNOWN_VARIANT, _named(one))
        return
    until = next(
        (at for at, turn in enumerate(one.turns) if _variant_of(item, one, turn) is not None),
        len(one.turns),
    )
    reply = _conversation(item, variant, one, one.turns[:until], changed=True)
    _take(found, reply, one, exclusions)


def _named(one: GivenReply) -> dict[str, Any]:
    return {
        "line": one.line,
        "system": one.system,
        "item": one.item,
        "language": one.language,
        "variant": one.variant,
    }


def _folded(text: str) -> str:
    return " ".join(cleaned(text).casefold().split())
