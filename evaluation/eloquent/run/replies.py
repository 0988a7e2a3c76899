"""Replies to prompts: match replies in files to prompts, and hold conversations with models.

Replies that match no prompt are left out and counted. Each wording has its own conversation, with
follow-up questions after its reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.exchange.reading.answers import normalise_text
from annotations.exchange.reading.changed_prompts import ChangedPrompt
from annotations.exchange.reading.prompt_replies import NO_ANSWER, ConversationTurn, PromptReply
from annotations.exchange.reading.prompts import PromptItem, PromptVariant
from annotations.exchange.records import AnswerStatus
from evaluation.core.backends.chat.contract import Message
from evaluation.runs.flow.asking.plan import Item
from evaluation.runs.flow.metrics import Exclusions

UNKNOWN_ITEM = "unknown_item"
UNKNOWN_LANGUAGE = "unknown_language"
UNKNOWN_VARIANT = "unknown_variant"
LANGUAGE_MISSING = "language_missing"
REPEATED = "repeated"


@dataclass(frozen=True, slots=True)
class Reply:
    """A system's reply to one wording of an item.

    Attributes
    ----------
    place : number of the wording within its item, from 0.
    prompt : the text sent to the system.
    text : the answers of all turns, joined; "" without an answer.
    turns : all turns; the first one has `prompt` as question.
    changed : whether `prompt` differs from the file's; `note` is the reason, if known.
    """

    system: str
    item: str
    language: str
    place: int
    prompt: str
    text: str
    status: AnswerStatus
    turns: tuple[ConversationTurn, ...]
    changed: bool = False
    note: str = ""

    @property
    def answered(self) -> bool:
        """Whether the reply has a text; False for empty, refused and failed replies."""
        return self.status is AnswerStatus.TEXT


class VariantNumbering:
    """How a table numbers wordings: from 0 or 1, within a language or within an item.

    The numbers begin at 0 if any row has 0, else at 1. They count within a language unless more
    rows match a wording of their language when counted within the item.
    """

    def __init__(self, items: dict[str, PromptItem], replies: Sequence[PromptReply]) -> None:
        numbered = [row for row in replies if not row.turns and row.variant.isdecimal()]
        self.first = 0 if any(int(row.variant) == 0 for row in numbered) else 1
        known = [row for row in numbered if row.item in items]
        fits = {
            whole: sum(
                self._find_variant_by_number(items[row.item], row, whole) is not None
                for row in known
            )
            for whole in (False, True)
        }
        # For items in one language both fit alike.
        self.whole_item = fits[True] > fits[False]

    def find_variant(self, item: PromptItem, reply: PromptReply) -> PromptVariant | None:
        """Return the wording that a row's number and language denote; None if there is none."""
        return self._find_variant_by_number(item, reply, self.whole_item)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbering as an entry of summary.json."""
        return {"from": self.first, "within": "item" if self.whole_item else "language"}

    def _find_variant_by_number(
        self, item: PromptItem, reply: PromptReply, whole: bool
    ) -> PromptVariant | None:
        """Return the wording with a row's number; None if there is none.

        `whole` numbers the wordings within the item, not within their language.
        """
        if not reply.variant.isdecimal():
            return None
        index = int(reply.variant) - self.first
        language = reply.language or _find_only_language(item)
        variants = item.variants if whole else item.list_variants_in(language)
        if not 0 <= index < len(variants) or (language and variants[index].language != language):
            return None
        return variants[index]


@dataclass(frozen=True)
class MatchedReplies:
    """Replies that match prompts, and the wording numbering (None for submission files)."""

    replies: list[Reply]
    numbering: VariantNumbering | None


def match_replies(
    items: Iterable[PromptItem], prompt_replies: Sequence[PromptReply], exclusions: Exclusions
) -> MatchedReplies:
    """Return the replies in files matched to the prompts; count the others in `exclusions`.

    In a submission, each turn whose question is a prompt of the item begins a reply to that prompt.
    White space and case are ignored. One entry may hold all wordings of an item. Other turns are
    follow-ups of the turn before. If the first question is no prompt, it counts as a changed
    prompt: of the first wording in the submission's language without a reply of the system.

    Left out and counted in `exclusions`: unknown_item, unknown_language (the item has no prompt in
    it), language_missing (the item has several), unknown_variant, and repeated (a second reply of
    a system to a wording).
    """
    by_id = {item.id: item for item in items}
    table_rows = [row for row in prompt_replies if not row.turns]
    numbering = VariantNumbering(by_id, table_rows) if table_rows else None
    replies: dict[tuple[str, str, int], Reply] = {}
    changed: list[tuple[PromptReply, PromptItem]] = []
    for prompt_reply in prompt_replies:
        item = _find_item(by_id, prompt_reply)
        if item is None:
            exclusions.add(UNKNOWN_ITEM, _describe_reply(prompt_reply))
            continue
        if prompt_reply.turns:
            for reply in _split_conversations(item, prompt_reply):
                if reply is None:
                    changed.append((prompt_reply, item))
                else:
                    _add_reply(replies, reply, prompt_reply, exclusions)
            continue
        assert numbering is not None
        variant = numbering.find_variant(item, prompt_reply)
        if variant is None:
            exclusions.add(_explain_mismatch(item, prompt_reply), _describe_reply(prompt_reply))
            continue
        _add_reply(
            replies, _build_table_reply(item, variant, prompt_reply), prompt_reply, exclusions
        )
    # After all others, so that a changed prompt gets a wording that has no reply.
    for prompt_reply, item in changed:
        _add_changed_reply(replies, prompt_reply, item, exclusions)
    return MatchedReplies(list(replies.values()), numbering)


def _find_item(items: dict[str, PromptItem], prompt_reply: PromptReply) -> PromptItem | None:
    """Return the item of a reply; the JSON number 12 also matches an id such as "012"."""
    if prompt_reply.item in items or not prompt_reply.number:
        return items.get(prompt_reply.item)
    matches = [name for name in items if name.isdecimal() and int(name) == int(prompt_reply.item)]
    return items[matches[0]] if len(matches) == 1 else None


def _find_only_language(item: PromptItem) -> str:
    """Return the item's language; "" if it has several."""
    return item.languages[0] if len(item.languages) == 1 else ""


def _explain_mismatch(item: PromptItem, prompt_reply: PromptReply) -> str:
    """Return the reason code why a table row matches no wording of its item."""
    if not prompt_reply.language:
        return UNKNOWN_VARIANT if _find_only_language(item) else LANGUAGE_MISSING
    return UNKNOWN_VARIANT if prompt_reply.language in item.languages else UNKNOWN_LANGUAGE


def _build_table_reply(
    item: PromptItem, variant: PromptVariant, prompt_reply: PromptReply
) -> Reply:
    """Return the reply of a table's row to one wording; it has a single turn."""
    return Reply(
        prompt_reply.system,
        item.id,
        variant.language,
        variant.place,
        variant.prompt,
        prompt_reply.text,
        prompt_reply.status,
        (ConversationTurn(variant.prompt, prompt_reply.text),),
    )


def _split_conversations(item: PromptItem, prompt_reply: PromptReply) -> Iterator[Reply | None]:
    """Yield each reply in a submission entry, one per wording; None for an unknown prompt."""
    starts = [
        index
        for index, turn in enumerate(prompt_reply.turns)
        if _find_variant_by_question(item, prompt_reply, turn) is not None
    ]
    if not starts or starts[0] != 0:
        yield None
        if not starts:
            return
    for start, end in zip(starts, [*starts[1:], len(prompt_reply.turns)], strict=True):
        turns = prompt_reply.turns[start:end]
        variant = _find_variant_by_question(item, prompt_reply, turns[0])
        assert variant is not None
        yield _build_conversation_reply(item, variant, prompt_reply, turns, changed=False)


def _find_variant_by_question(
    item: PromptItem, prompt_reply: PromptReply, turn: ConversationTurn
) -> PromptVariant | None:
    """Return the wording equal to a turn's question, ignoring case and spaces; None without one."""
    exact, folded = normalise_text(turn.question), _fold_text(turn.question)
    matches = [variant for variant in item.variants if _fold_text(variant.prompt) == folded]
    # Wordings may differ in case or white space alone, and languages may share a wording.
    matches.sort(
        key=lambda v: (normalise_text(v.prompt) != exact, v.language != prompt_reply.language)
    )
    return matches[0] if matches else None


def _build_conversation_reply(
    item: PromptItem,
    variant: PromptVariant,
    prompt_reply: PromptReply,
    turns: Sequence[ConversationTurn],
    *,
    changed: bool,
) -> Reply:
    """Return the reply to one wording that the turns of a submission entry hold."""
    answers = [turn.answer for turn in turns if turn.answer]
    return Reply(
        prompt_reply.system,
        item.id,
        variant.language,
        variant.place,
        turns[0].question,
        "\n\n".join(answers),
        AnswerStatus.TEXT if answers else AnswerStatus.EMPTY,
        tuple(turns),
        changed,
    )


def _add_reply(
    replies: dict[tuple[str, str, int], Reply],
    reply: Reply,
    prompt_reply: PromptReply,
    exclusions: Exclusions,
) -> None:
    """Add a reply to `replies`; count it as repeated if its wording has one already."""
    # The first reply to a wording counts.
    key = (reply.system, reply.item, reply.place)
    if replies.setdefault(key, reply) is not reply:
        exclusions.add(REPEATED, _describe_reply(prompt_reply))


def _add_changed_reply(
    replies: dict[tuple[str, str, int], Reply],
    prompt_reply: PromptReply,
    item: PromptItem,
    exclusions: Exclusions,
) -> None:
    """Add a reply to a changed prompt to the first wording without a reply, or exclude it."""
    language = prompt_reply.language or _find_only_language(item)
    if language not in item.languages:
        exclusions.add(
            UNKNOWN_LANGUAGE if language else LANGUAGE_MISSING, _describe_reply(prompt_reply)
        )
        return
    free = (
        variant
        for variant in item.list_variants_in(language)
        if (prompt_reply.system, item.id, variant.place) not in replies
    )
    variant = next(free, None)
    if variant is None:
        exclusions.add(UNKNOWN_VARIANT, _describe_reply(prompt_reply))
        return
    # Later turns that repeat a known prompt are replies of their own already.
    until = next(
        (
            index
            for index, turn in enumerate(prompt_reply.turns)
            if _find_variant_by_question(item, prompt_reply, turn) is not None
        ),
        len(prompt_reply.turns),
    )
    reply = _build_conversation_reply(
        item, variant, prompt_reply, prompt_reply.turns[:until], changed=True
    )
    _add_reply(replies, reply, prompt_reply, exclusions)


def _describe_reply(prompt_reply: PromptReply) -> dict[str, Any]:
    """Return a reply's line, system, item, language and variant, as details of an exclusion."""
    return {
        "line": prompt_reply.line,
        "system": prompt_reply.system,
        "item": prompt_reply.item,
        "language": prompt_reply.language,
        "variant": prompt_reply.variant,
    }


def _fold_text(text: str) -> str:
    """Return the text without differences of case, white space and Unicode form."""
    return " ".join(normalise_text(text).casefold().split())


ReplyText = tuple[str, AnswerStatus]
"""Text and status of a reply."""


class Conversations:
    """Conversations with one system, one per wording, advanced question by question.

    Parameters
    ----------
    changed : changed prompts by item and number of the wording.
    message : system prompt of all conversations; "" for none.

    Attributes
    ----------
    wordings : item and variant by id of the conversation, such as 001/en/2: item, language and
        number within the language.
    prompts : text of the first question by id of the conversation.
    """

    def __init__(
        self,
        items: Sequence[PromptItem],
        changed: Mapping[tuple[str, int], ChangedPrompt] | None = None,
        message: str = "",
    ) -> None:
        self.changed = changed or {}
        self.wordings = {
            f"{item.id}/{variant.language}/{_number_within_language(item, variant)}": (
                item,
                variant,
            )
            for item in items
            for variant in item.variants
        }
        self.prompts = {
            name: self._find_prompt(*wording) for name, wording in self.wordings.items()
        }
        self._first: tuple[Message, ...] = (
            ({"role": "system", "content": message},) if message else ()
        )
        self._turns: dict[str, list[ConversationTurn]] = {name: [] for name in self.wordings}
        self._status: dict[str, AnswerStatus] = {}

    def build_first_requests(self) -> list[Item]:
        """Return the first request (the prompt) of each conversation."""
        return [
            Item(name, (*self._first, _build_user_message(prompt)))
            for name, prompt in self.prompts.items()
        ]

    def build_follow_up_requests(self, question: str) -> list[Item]:
        """Return a request with the follow-up question for each answered conversation."""
        return [
            Item(name, (*self._first, *self._build_messages(name), _build_user_message(question)))
            for name, status in self._status.items()
            if status is AnswerStatus.TEXT
        ]

    def add_replies(self, replies: Mapping[str, ReplyText], question: str = "") -> None:
        """Add a system's replies to its conversations; `question` is the follow-up or "".

        A refused or failed follow-up does not change the status of an answered conversation.
        """
        for name, (text, status) in replies.items():
            self._turns[name].append(ConversationTurn(question or self.prompts[name], text))
            if status is AnswerStatus.TEXT or name not in self._status:
                self._status[name] = status

    def build_replies(self, system: str) -> list[Reply]:
        """Return the system's replies to all wordings, in order."""
        return [
            self._build_reply(system, name, *wording) for name, wording in self.wordings.items()
        ]

    def _find_prompt(self, item: PromptItem, variant: PromptVariant) -> str:
        """Return the text to send for a wording: the changed prompt if there is one."""
        other = self.changed.get((item.id, variant.place))
        return variant.prompt if other is None else other.prompt

    def _build_messages(self, name: str) -> list[Message]:
        """Return the messages of a conversation so far, without the system message."""
        messages: list[Message] = []
        for turn in self._turns[name]:
            messages += [
                _build_user_message(turn.question),
                {"role": "assistant", "content": turn.answer or NO_ANSWER},
            ]
        return messages

    def _build_reply(
        self, system: str, name: str, item: PromptItem, variant: PromptVariant
    ) -> Reply:
        """Return the system's reply to one wording: all turns of its conversation."""
        turns = self._turns[name]
        other = self.changed.get((item.id, variant.place))
        return Reply(
            system,
            item.id,
            variant.language,
            variant.place,
            self.prompts[name],
            "\n\n".join(turn.answer for turn in turns if turn.answer),
            self._status[name],
            tuple(turns),
            other is not None,
            "" if other is None else other.reason,
        )


def _number_within_language(item: PromptItem, variant: PromptVariant) -> int:
    """Return the number of a wording within its language, from 1."""
    return item.list_variants_in(variant.language).index(variant) + 1


def _build_user_message(content: str) -> Message:
    """Return a chat message of the user with this content."""
    return {"role": "user", "content": content}
